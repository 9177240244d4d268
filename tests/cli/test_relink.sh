#!/bin/bash
# Programs linked again from what they carry (tests/cli/relink.py), in another directory, and run: one
# case for each way in which a program can be put together. With the files of the link still there, and
# with all of them gone where objects were embedded.
#
# timeout: 900
set -eu
shopt -s inherit_errexit

build=$(realpath "${INQUEST_BUILD:?the build directory}")
source=$(realpath "${INQUEST_SRC:?the source directory}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
unset CFLAGS LDFLAGS
cc=$build/bin/inquest-cc
cxx=$build/bin/inquest-c++
inquest=$build/bin/inquest
cd "$work"

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
have() { command -v "$1" >/dev/null; }

# The project. Every function adds a digit of its own, so that a wrong one shows.
mkdir src
cat >src/main.c <<'END'
#include <stdio.h>
int archived(int), plain(int), assembled(int);
#ifdef SHARED
int shared(int);
#else
#define shared(x) (x)
#endif
int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", archived(argc) + plain(argc) + assembled(argc) + shared(argc));
    return 3;
}
END
echo 'int helper(int); int archived(int x) { return helper(x) * 10; }' >src/archived.c
echo 'int helper(int x) { return x + 1; }' >src/helper.c
echo 'int unused(int x) { return x; }' >src/unused.c
echo 'int archived(int); int plain(int x) { return x * 100 + archived(0); }' >src/plain.c
echo 'int inner(int x) { return x * 1000; } int shared(int x) { return inner(x); }' >src/shared.c
printf ' .globl assembled\nassembled: lea 4(%%rdi), %%eax\n ret\n .section .note.GNU-stack,"",@progbits\n' >src/assembled.S
echo '{ global: shared; local: *; };' >src/shared.map

# objects: what every case starts from, in the current directory.
objects() {
    local name
    cp -r ../src .
    for name in main archived helper unused; do
        "$cc" $flags -c src/$name.c -o $name.o
    done
    gcc -O1 -fPIC -c src/plain.c -o plain.o
    ar rcD libmixed.a archived.o unused.o helper.o plain.o
}

# relink NAME PROGRAM ARGUMENTS...: the program again, from directory NAME, where it has been linked. It
# must do as it did.
relink() {
    local name=$1 program=$2 want got again
    shift 2
    want=$("$@" "$name/$program" || echo "status $?")
    cp "$name/$program" "carried.$name"
    if [ "$embed" ]; then
        strip "carried.$name"
        mkdir kept
        find "$name" -name '*.so*' -exec cp -P {} kept/ \;
        rm -rf "$name"
        mkdir "$name"
        cp -P kept/* "$name/" 2>/dev/null || true
        rm -rf kept
    fi
    "$inquest" doctor --quiet "carried.$name" >doctor.out || true
    ! grep 'link input' doctor.out || fail "$name: 'inquest doctor' does not find all"
    mkdir again
    again=$("$source/tests/cli/relink.py" --inquest "$inquest" "carried.$name" again) || fail "$name: cannot be linked again"
    got=$("$@" "$again" || echo "status $?")
    [ "$got" = "$want" ] || fail "$name: the new program gives '$got', the old one '$want'"
    rm -rf again "carried.$name" "$name"
}

# case NAME COMMAND...: builds below directory NAME with each linker, then links again.
flags=
embed=
run_case() {
    local name=$1
    mkdir "$name"
    (cd "$name" && objects && "build_$name")
    relink "$name" prog env LD_LIBRARY_PATH="$work/$name:$work/$name/lib"
    echo "  $name $flags${embed:+ embedded}"
}

build_plain() { "$cc" $flags $embed main.o archived.o helper.o plain.o src/assembled.S -o prog; }
build_sources() { "$cc" $flags $embed src/main.c src/archived.c src/helper.c src/plain.c src/assembled.S -o prog; }
build_archive() { "$cc" $flags $embed main.o src/assembled.S -L. -lmixed -o prog; }
build_whole() { "$cc" $flags $embed main.o src/assembled.S -Wl,--whole-archive libmixed.a -Wl,--no-whole-archive -o prog; }
build_thin() {
    ar rcDT libthin.a archived.o unused.o helper.o plain.o
    "$cc" $flags $embed main.o src/assembled.S libthin.a -o prog
}
build_response() {
    echo '-L. -lmixed "-o" prog' >link.rsp
    "$cc" $flags $embed main.o src/assembled.S @link.rsp
}
build_script() {
    echo 'INPUT(archived.o -lmixed) /* GROUP(none.o) */' >libscript.a
    "$cc" $flags $embed main.o src/assembled.S -L. -lscript -o prog
}
build_layout() { # a whole script of the linker's, that wants one more member
    ld --verbose | sed '1,/^=====/d; /^=====/,$d' >layout.ld
    echo 'EXTERN(unused)' >>layout.ld
    mkdir lib
    mv libmixed.a lib/
    mv layout.ld lib/
    "$cc" $flags $embed main.o src/assembled.S -Llib -Wl,-T,layout.ld -lmixed -o prog
    "$inquest" dump --link prog | grep -q $'^member\t1\t+\tobject\tunused.o' || fail "EXTERN"
}
build_shared() {
    "$cc" $flags $embed -fPIC -shared -Wl,-soname,libshared.so.1 -Wl,--version-script=src/shared.map src/shared.c \
        -o libshared.so.1
    ln -s libshared.so.1 libshared.so
    "$cc" $flags $embed -DSHARED -c src/main.c -o main.o
    "$cc" $flags $embed main.o src/assembled.S -L. -lmixed -lshared -Wl,-rpath,'$ORIGIN' -o prog
}
build_nopie() {
    "$cc" $flags -fno-pie -c src/main.c -o main.o
    "$cc" $flags $embed -no-pie main.o src/assembled.S libmixed.a -o prog
}
build_static() { "$cc" $flags $embed -static main.o src/assembled.S libmixed.a -o prog; }
build_collected() { # what is not used refers to what is nowhere
    echo 'int nowhere(void); int dead(void) { return nowhere(); } int alive(int x) { return x; }' >dead.c
    "$cc" $flags -ffunction-sections -c dead.c -o dead.o
    "$cc" $flags $embed -Wl,--gc-sections main.o dead.o src/assembled.S libmixed.a -o prog
}
build_wrapped() {
    echo 'int __real_archived(int); int __wrap_archived(int x) { return __real_archived(x) + 7; }' >wrap.c
    "$cc" $flags -c wrap.c -o wrap.o
    "$cc" $flags $embed -Wl,--wrap=archived main.o wrap.o src/assembled.S libmixed.a -o prog
}
build_defined() { # a name that only the linker gives
    echo 'extern int other(int); int helper(int x) { return other(x); } int own(int x) { return x + 5; }' >other.c
    "$cc" $flags -c other.c -o other.o
    "$cc" $flags $embed -Wl,--defsym=other=own main.o archived.o other.o plain.o src/assembled.S -o prog
}
build_startfiles() {
    cat >start.c <<'END'
int archived(int), plain(int), assembled(int);
void finish(long status) __attribute__((__noreturn__));
void _start(void) { finish(archived(1) + plain(0) - assembled(1)); }
END
    printf ' .globl finish\nfinish: mov $60, %%eax\n syscall\n .section .note.GNU-stack,"",@progbits\n' >finish.s
    "$cc" $flags -O1 -c start.c -o start.o
    "$cc" $flags $embed -nostartfiles -nostdlib -static start.o finish.s src/assembled.S libmixed.a -o prog
}
build_partial() {
    "$cc" $flags $embed -r -nostdlib archived.o helper.o plain.o -o merged.o
    "$cc" $flags $embed main.o merged.o src/assembled.S -o prog
}
build_foreign() { # merged by something else, with code that has a model and code that has none
    ld -r archived.o helper.o plain.o -o merged.o
    "$cc" $flags $embed main.o merged.o src/assembled.S -o prog
}
build_renamed() { # what was compiled is not what is linked
    echo 'int first(int x) { return x + 9; }' >first.c
    "$cc" $flags -c first.c -o first.o
    objcopy --redefine-sym first=helper first.o
    "$cc" $flags $embed main.o archived.o first.o plain.o src/assembled.S -o prog
}
build_binary() {
    mkdir data
    printf '\052' >data/number
    echo 'extern char _binary_data_number_start[]; int helper(int x) { return x + *_binary_data_number_start; }' >number.c
    "$cc" $flags -c number.c -o number.o
    "$cc" $flags $embed main.o archived.o number.o plain.o src/assembled.S -Wl,--format=binary data/number \
        -Wl,--format=default -Wl,-z,noexecstack -o prog
}
build_cxx() {
    cat >cxx.cc <<'END'
#include <string>
extern "C" int helper(int x) { try { throw std::string(static_cast<size_t>(x), 'x'); } catch (std::string &s) { return (int)s.size() + 2; } }
END
    "$cxx" $flags -O1 -c cxx.cc -o cxx.o
    "$cxx" $flags $embed main.o archived.o cxx.o plain.o src/assembled.S -o prog
}
build_lto() {
    for name in main archived helper unused; do
        "$cc" $flags -flto -O2 -c src/$name.c -o $name.o
    done
    ar rcD liblto.a archived.o unused.o helper.o
    "$cc" $flags $embed -flto -O2 main.o liblto.a plain.o src/assembled.S -o prog
}
build_twice() { # members of one name, of which one is wanted
    mkdir other
    echo 'int nobody(int x) { return x; }' >other/helper.c
    "$cc" $flags -c other/helper.c -o other/helper.o
    ar qcD libtwice.a other/helper.o helper.o archived.o
    "$cc" $flags $embed main.o plain.o src/assembled.S libtwice.a -o prog
}
build_sampled() {
    "$cc" $flags -finquest=paths,suspects -c src/main.c -o main.o
    "$cc" $flags $embed -finquest=paths,suspects main.o src/assembled.S libmixed.a -o prog
}

all="plain sources archive whole thin response script layout shared nopie static collected wrapped defined startfiles \
    partial foreign renamed binary cxx lto twice sampled"
for embed in '' -finquest-embed-objects; do
    for name in $all; do
        case $name in lto) flags="-fuse-ld=lld -Wno-unused-command-line-argument" ;; *) flags= ;; esac
        run_case "$name"
    done
done
embed=
for linker in gold lld; do
    have ld.$linker || continue
    flags="-fuse-ld=$linker -Wno-unused-command-line-argument"
    for name in sources archive whole thin script shared static wrapped partial foreign cxx twice; do
        run_case "$name"
    done
done

echo "a shared library by itself"
flags= embed=-finquest-embed-objects
mkdir library
(cd library && objects && build_shared)
rm -rf again && mkdir again
again=$("$source/tests/cli/relink.py" --inquest "$inquest" library/libshared.so.1 again)
nm -D --defined-only "$again" | cut -d' ' -f3 >exports
[ "$(cat exports)" = shared ] || fail "the version script has not been applied: $(cat exports)"
readelf -dW "$again" | grep -q 'SONAME.*\[libshared.so.1\]' || fail "no soname"

echo "what is missing is named"
embed=
mkdir short
(cd short && objects && build_archive)
mv short/libmixed.a short/away.a
rm -rf again && mkdir again
! "$source/tests/cli/relink.py" --inquest "$inquest" short/prog again 2>errors || fail "linked without an archive"
grep -qx 'relink.py: missing: ./libmixed.a(plain.o)' errors || fail "$(cat errors)"
status=0
"$inquest" doctor short/prog >out || status=$?
[ $status = 1 ] || fail "'inquest doctor' exits with $status where an archive is missing"
grep -q "^fail link input: './libmixed.a(plain.o)' is missing: " out || fail "$(cat out)"
(cd short && echo 'int plain(int x) { return x; }' >src/plain.c && gcc -c src/plain.c -o plain.o && ar rcD libmixed.a plain.o)
"$inquest" doctor short/prog >out || true
grep -q "^fail link input: './libmixed.a(plain.o)' is another than was linked: " out || fail "$(cat out)"
mv short moved
mv moved/away.a moved/libmixed.a
"$inquest" doctor moved/prog --directory moved >out || true
! grep 'link input:' out || fail "--directory"
grep -q '^ok   link inputs: ' out || fail "--directory: $(cat out)"
"$inquest" doctor moved/prog --json >out || true
python3 -c '
import json, sys
checks = [c for c in json.load(open("out"))["checks"] if c["name"].startswith("link")]
assert [c["status"] for c in checks if "plain.o" in c["found"]] == ["fail"], checks
assert all(c["advice"] for c in checks if c["status"] == "fail")'

echo "all passed"
