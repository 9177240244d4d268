#!/bin/bash
# The record of a link: the same bytes from two directories, which members of archives were taken, and
# links that go on whatever becomes of the record.
#
# timeout: 600
set -eu
shopt -s inherit_errexit

build=$(realpath "${INQUEST_BUILD:?the build directory}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
unset CFLAGS LDFLAGS
cc=$build/bin/inquest-cc
inquest=$build/bin/inquest
cd "$work"

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
say() { echo "== $*"; }
have() { command -v "$1" >/dev/null; }
linkers() { for linker in bfd gold lld; do have ld.$linker && echo $linker; done; }
record() { "$inquest" dump --link "$1"; }

say "two directories give the same bytes"
mkdir src
cat >src/main.c <<'END'
#include <assert.h>
#include <stdio.h>
#include "header.h"
int util(int), plain(int), assembled(int), shared(int);
int main(int argc, char **argv)
{
    (void)argv;
    assert(argc < 100);
    printf("%s %d\n", __FILE__, util(argc) + plain(argc) + assembled(argc) + shared(argc) + header(argc));
    return 0;
}
END
echo 'static inline int header(int x) { return x > 2 ? x : 2 * x; }' >src/header.h
echo 'int util(int x) { return x + 1; }' >src/util.c
echo 'int unused(int x) { return x - 1; }' >src/unused.c
echo 'int plain(int x) { return x * 3; }' >src/plain.c
echo 'int shared(int x) { return x * 7; }' >src/shared.c
printf ' .globl assembled\nassembled: lea 5(%%rdi), %%eax\n ret\n .section .note.GNU-stack,"",@progbits\n' >src/assembled.S
echo '{ global: shared; local: *; };' >src/shared.map
cat >project.sh <<'END'
set -eu
cc=$1 sources=$2
shift 2
flags="-O2 -Wno-unused-command-line-argument $* -Wl,--build-id=sha1"
cp -r ../../src .
mkdir lib
for name in main util unused; do $cc $flags -I "$sources" -c "$sources/$name.c" -o $name.o; done
clang-19 -O2 -ffile-prefix-map="$PWD"=. -fPIC -c "$sources/plain.c" -o plain.o
ar rcD lib/libutil.a util.o unused.o plain.o >/dev/null 2>&1 # of bitcode it knows nothing
$cc $flags -shared -fPIC -Wl,-soname,libshared.so.1 -Wl,--version-script="$PWD/src/shared.map" "$sources/shared.c" \
    -o lib/libshared.so.1
ln -s libshared.so.1 lib/libshared.so
echo "-L$PWD/lib -lutil -lshared -Wl,-rpath,\\\$ORIGIN/lib" >link.rsp
$cc $flags main.o "$sources/assembled.S" @link.rsp -o prog
$cc $flags -I "$sources" "$sources/main.c" "$sources/assembled.S" "$PWD/lib/libutil.a" lib/libshared.so -o all
./prog >/dev/null
END
# project DIRECTORY KIND-OF-PATHS OPTIONS...; in OPTIONS, HERE stands for the directory.
project() {
    local directory=$work/$1 sources=src
    mkdir -p "$directory"
    [ "$2" = relative ] || sources=$directory/src
    shift 2
    (cd "$directory" && TMPDIR=$directory bash "$work/project.sh" "$cc" "$sources" "${@//HERE/$directory}") ||
        fail "the project cannot be built: $*"
}
# twice NAME KIND FILES OPTIONS...
twice() {
    local name=$1 kind=$2 files=$3 file
    shift 3
    rm -rf one two
    project one/deeper "$kind" "$@"
    project two/x "$kind" "$@"
    for file in $files; do
        cmp "one/deeper/$file" "two/x/$file" || fail "$name, $kind: $file differs"
        ! grep -q "$work" "one/deeper/$file" || fail "$name, $kind: the directory is in $file"
    done
    echo "  $name, $kind"
}
# link.rsp names the directory, the executable's RUNPATH does not
programs="prog all lib/libshared.so.1"
objects="main.o util.o lib/libutil.a"
for kind in relative absolute; do
    for linker in $(linkers); do
        twice "$linker" $kind "$objects $programs" -fuse-ld=$linker -ffile-prefix-map=HERE=.
    done
    twice embedded $kind "$objects $programs" -finquest-embed-objects -ffile-prefix-map=HERE=.
    twice debug $kind "$objects" -DNDEBUG -D__FILE__=0 -Wno-builtin-macro-redefined -fdebug-prefix-map=HERE=/build
    twice sampling $kind "$objects $programs" -finquest=paths,suspects -ffile-prefix-map=HERE=/build
    twice full $kind "$objects $programs" -finquest=full -g -ffile-prefix-map=/none=x -ffile-prefix-map=HERE=/b
done
twice lto relative "$objects $programs" -flto -fuse-ld=lld -ffile-prefix-map=HERE=.
twice lto absolute "$programs" -flto -fuse-ld=lld -ffile-prefix-map=HERE=. # clang's own bitcode differs
twice directory relative "$programs" -fdebug-prefix-map=HERE=. -ffile-compilation-dir=/anywhere
record two/x/prog | grep -qx $'directory\t/anywhere' || fail "-ffile-compilation-dir"

say "the last map that fits counts, and the maps themselves are not named"
mkdir -p maps/inner
cp src/plain.c maps/inner/main.c
echo 'int main(void) { return 0; }' >>maps/inner/main.c
(cd maps/inner && "$cc" -ffile-prefix-map="$work"=/a -fdebug-prefix-map="$work/maps/in"=/b main.c -o prog)
record maps/inner/prog | grep -qx $'directory\t/bner' || fail "$(record maps/inner/prog | sed -n 2p)"
record maps/inner/prog | grep -qx $'command\tinquest-cc main.c -o prog' || fail "the command"
(cd maps/inner && "$cc" -fdebug-prefix-map="$work/maps/in"=/b -ffile-prefix-map="$work"=/a main.c -o prog)
record maps/inner/prog | grep -qx $'directory\t/a/maps/inner' || fail "$(record maps/inner/prog | sed -n 2p)"

say "nothing but sections of ours is added, and pages of coverage where there is any"
mkdir added
cd added
cp -r ../src .
for name in main util unused plain shared; do "$cc" -O2 -fPIC -c ../src/$name.c -o $name.o; done
clang-19 -c ../src/assembled.S -o assembled.o
ar rcD libutil.a util.o unused.o plain.o shared.o
printf '%s\n' '.section inquest_cov,"awR",@progbits' '.balign 4096' '.section inquest_flags,"awR",@progbits' '.balign 4096' \
    '.section .note.GNU-stack,"",@progbits' >pages.s
clang-19 -c pages.s
objcopy -R .text pages.o # empty, but aligned
mkdir plain ours # the name of the output is in some of them
# same_loaded NAME INPUT...: of inquest-cc with these and clang with the first one besides, empty or not
same_loaded() {
    local name=$1 first=$2 made
    shift 2
    # shellcheck disable=SC2086
    (cd plain && clang-19 -Wl,--build-id=none $first "$@" -o out)
    (cd ours && "$cc" -Wl,--build-id=none "$@" -o out)
    for made in plain ours; do objcopy -O binary $made/out $made/loaded; done
    cmp plain/loaded ours/loaded || fail "$name: what is loaded differs"
    cmp <(nm plain/out | sort) <(nm ours/out | sort) || fail "$name: symbols differ"
}
for linker in $(linkers); do
    for options in "" -static "-Wl,--gc-sections" "-shared -Wl,--whole-archive" "-no-pie"; do
        # shellcheck disable=SC2086
        same_loaded "$linker $options" ../pages.o -fuse-ld=$linker ../main.o ../assembled.o $options ../libutil.a \
            -Wl,--no-whole-archive
    done
    clang-19 -O2 -fPIC -c ../src/plain.c -o without.o
    same_loaded "$linker without a model" "" -fuse-ld=$linker -shared ../without.o
done
cd ..

say "which members of archives were taken"
mkdir taken
cd taken
for name in one two three four five six; do echo "int $name(void) { return 0; }" >$name.c; done
echo 'int six(void); int five(void) { return six(); }' >five.c
echo 'int one(void), three(void), five(void); int main(void) { return one() + three() + five(); }' >main.c
"$cc" -c main.c one.c two.c five.c
gcc -c three.c four.c six.c
cp six.o 'with blank.o'
ar rcD libmany.a two.o one.o three.o four.o five.o
ar rcD libmore.a six.o
ar rcDT thin.a two.o one.o three.o four.o five.o 'with blank.o'
# members FILE: MARK NAME of each that is listed
members() { record "$1" | awk -F'\t' '/^input/ { user = $3 == "user" } /^member/ && user { print $3 $5 }' | xargs; }
# maps in another language say the same
for locale in C de_DE.UTF-8; do
    for linker in $(linkers); do
        LC_ALL=$locale "$cc" -fuse-ld=$linker main.o libmany.a -L. -lmore -o prog
        [ "$(members prog)" = "+one.o +three.o +five.o +six.o" ] || fail "$linker: $(members prog)"
    done
done
if have ld.lld; then
    "$cc" -fuse-ld=lld main.o libmany.a libmore.a -Wl,--why-extract=given.why -o prog
    grep -q 'libmany.a(one.o)' given.why || fail "lld: the user's --why-extract"
    [ "$(members prog)" = "+one.o +three.o +five.o +six.o" ] || fail "lld, --why-extract: $(members prog)"
fi
for linker in $(linkers); do
    "$cc" -fuse-ld=$linker main.o libmany.a libmore.a -Wl,-Map=given.map -o prog
    grep -q 'libmany.a(one.o)' given.map || fail "$linker: the user's map"
    [ "$(members prog)" = "+one.o +three.o +five.o +six.o" ] || fail "$linker, a map: $(members prog)"
    "$cc" -fuse-ld=$linker main.o -Wl,--whole-archive libmany.a -Wl,--no-whole-archive libmore.a -o prog
    [ "$(members prog)" = "+two.o +one.o +three.o +four.o +five.o +six.o" ] || fail "$linker, whole: $(members prog)"
    "$cc" -fuse-ld=$linker main.o -Wl,--start-group libmore.a libmany.a -Wl,--end-group -o prog
    [ "$(members prog)" = "+six.o +one.o +three.o +five.o" ] || fail "$linker, group: $(members prog)"
    # named by nobody but an option, and what a definition elsewhere makes needless
    "$cc" -fuse-ld=$linker main.o five.o six.o -Wl,-u,four libmany.a libmore.a -o prog
    [ "$(members prog)" = "+one.o +three.o +four.o -five.o -six.o" ] || fail "$linker, -u: $(members prog)"
    "$cc" -fuse-ld=$linker main.o thin.a -o prog
    case "$(members prog)" in "+one.o +three.o +five.o "?"with blank.o") ;; *) fail "$linker, thin: $(members prog)" ;; esac
    "$cc" -fuse-ld=$linker main.o libmany.a libmore.a -Wl,--print-map -o prog >printed.map
    grep -q 'libmany.a(one.o)' printed.map || fail "$linker: the user's map on standard output"
    case $linker:$(members prog) in
    lld:"+one.o +three.o +five.o +six.o" | *:"?one.o ?three.o ?five.o ?six.o") ;;
    *) fail "$linker, a map for the user: $(members prog)" ;;
    esac
    "$cc" -fuse-ld=$linker -Wl,--gc-sections -ffunction-sections main.o libmany.a libmore.a -Wl,-u,four -o prog
    [ "$(members prog)" = "+one.o +three.o +four.o +five.o +six.o" ] || fail "$linker, collected: $(members prog)"
    "$cc" -fuse-ld=$linker main.o libmany.a libmore.a -o /dev/null || fail "$linker: /dev/null"
    "$inquest" dump prog >/dev/null || fail "$linker: the model cannot be read"
done
cd ..

say "code without a model that something merged with code that has one"
mkdir merged
cd merged
echo 'void callback(int x) { (void)x; }' >callback.c
echo 'void callback(int); void library(int x) { callback(x); }' >library.c
echo 'void library(int); int main(void) { library(1); return 0; }' >main.c
"$cc" -c callback.c main.c
gcc -c library.c
for linker in $(linkers); do
    "ld.$linker" -r callback.o library.o -o merged.o
    "$cc" main.o merged.o -o prog
    "$inquest" dump prog | grep -q '^root .* modelless .*# callback$' || fail "$linker -r: callback is no root"
    ar rcD libmerged.a merged.o
    "$cc" main.o libmerged.a -o prog
    "$inquest" dump prog | grep -q '^root .* modelless .*# callback$' || fail "$linker -r, archive: callback is no root"
    rm libmerged.a
done
"$cc" -r -nostdlib callback.o library.o -o merged.o
"$cc" main.o merged.o -o prog
"$inquest" dump prog | grep -q '^root .* modelless .*# callback$' || fail "our own -r: callback is no root"
gcc main.o merged.o -o prog # nothing is known of this link, but of a part of it
"$inquest" dump prog | grep -q '^root .* modelless .*# library$\|^root .* modelless .*# callback$' || fail "a foreign link"
! "$inquest" dump --link prog 2>errors || fail "a foreign link has a record"
grep -q 'no record of the link' errors || fail "$(cat errors)"
"$cc" -c -o callback.o callback.c
"$cc" main.o callback.o -o prog 2>/dev/null || true
cd ..

say "names that would be lines"
mkdir hostile
cd hostile
name=$(printf 'a\tb\nargument\tforged \\ \303\244 \377.o')
echo 'int other(void) { return 0; }' >other.c
gcc -c other.c -o "$name"
echo 'int main(void) { return 0; }' >main.c
"$cc" main.c "$name" -o prog
[ "$(record prog | grep -c $'^argument\tforged')" = 0 ] || fail "a name forges a line"
record prog | grep -qF 'a\tb\nargument\tforged \\ ä \xff.o' || fail "$(record prog)"
"$inquest" dump --link --json prog >out
python3 - "$PWD" <<'END'
import json, sys
link = json.load(open("out"))["links"][0]
paths = [i["path"] for i in link["inputs"]]
assert any(p.startswith("a\tb\nargument\tforged \\ ä ") for p in paths), paths
assert link["directory"] == sys.argv[1] and not link["relocatable"]
assert link["linker"]["version"] and len(link["linker"]["build_id"]) == 40
main = [i for i in link["inputs"] if i["kind"] == "source"][0]
assert len(main["models"]) == 1 and main["path"] == "main.c" and not main["hash"]
END
cd ..

say "links go on without a record"
mkdir odd
cd odd
cp ../hostile/main.c .
echo '{ global: main; local: *; };' >versions
"$cc" main.c -Wl,--version-script=<(cat versions) -o prog # a pipe can be read once
nm prog >/dev/null
record prog | grep -q $'^input\tunread\tuser\t/dev/fd/' || fail "a pipe: $(record prog)"
tree=$PWD/tree
mkdir -p tree/bin tree/lib/inquest
cp "$build/bin/inquest-cc" tree/bin/
cp "$build/lib/inquest/inquest-plugin.so" tree/lib/inquest/
tree/bin/inquest-cc main.c -o prog 2>errors || fail "no link without a stand-in"
[ "$(grep -c 'warning: linking without a record' errors)" = 1 ] || fail "$(cat errors)"
./prog
tree/bin/inquest-cc -w main.c -o prog 2>errors
[ ! -s errors ] || fail "-w does not silence"
ln -s ../../bin/inquest-cc tree/lib/inquest/ld
status=0
env -u INQUEST_LINK tree/lib/inquest/ld -o x y 2>errors || status=$?
[ $status = 1 ] && grep -q 'not a linker' errors || fail "as a linker, by itself: $(cat errors)"
status=0
"$cc" main.c -Wl,--no-such-option -o prog 2>errors || status=$?
[ $status = 1 ] || fail "a link that fails ends with $status"
(ulimit -n 24 && "$cc" main.c -o prog) || fail "few descriptors"

say "objects of another version"
"$cc" -c main.c -o main.o
python3 - <<'END'
data = bytearray(open("main.o", "rb").read())
at = data.index(b"INQUEST\n")
data[at + 8] = 1
open("main.o", "wb").write(data)
END
"$cc" main.o -o prog 2>errors
grep -q "^inquest-cc: warning: compiled by another version of inquest-cc.*'main.o'" errors || fail "$(cat errors)"
status=0
"$inquest" dump prog 2>errors || status=$?
[ $status = 2 ] && grep -q 'model of version 1.*build the program again' errors || fail "$(cat errors)"
cd ..

echo "all passed"
