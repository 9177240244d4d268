#!/bin/bash
# inquest-cc against clang-19: the same exit code, output and files for every kind of invocation, with
# the plugin and without it; what is added; what the record of a link says.
#
# timeout: 600
#
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory, unused).
set -eu
shopt -s inherit_errexit

build=$(realpath "${INQUEST_BUILD:?the build directory}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
unset INQUEST_PLUGIN CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
say() { echo "== $*"; }
have() { command -v "$1" >/dev/null; }

# Two installations: one with the plugin, one without.
full=$work/full
bare=$work/bare
for tree in "$full" "$bare"; do
    mkdir -p "$tree/bin" "$tree/lib/inquest"
    cp "$build/bin/inquest-cc" "$tree/bin/inquest-cc"
    ln -s inquest-cc "$tree/bin/inquest-c++"
    ln -s ../../bin/inquest-cc "$tree/lib/inquest/ld"
    ln -s ../../bin/inquest-cc "$tree/lib/inquest/ld.lld"
done
cp "$build/lib/inquest/inquest-plugin.so" "$full/lib/inquest/" || fail "the build has no plugin"
cc=$full/bin/inquest-cc
cxx=$full/bin/inquest-c++

sources=$work/sources
mkdir "$sources"
cd "$sources"
cat >main.c <<'END'
#include <stdio.h>
#include "twice.h"
int main(void)
{
    printf("%d\n", twice(21));
    return 0;
}
END
echo 'int twice(int);' >twice.h
printf '#include "twice.h"\nint twice(int x) { return 2 * x; }\n' >twice.c
echo 'int main(void) { return 7; }' >seven.c
clang-19 -c seven.c -o given.o
echo 'int main(void) { return undeclared; }' >broken.c
echo 'extern int nowhere(void); int main(void) { return nowhere(); }' >unlinked.c
printf '#include <vector>\nint main() { std::vector<int> v{1, 2}; return (int)v.size() - 2; }\n' >main.cc
cat >half.S <<'END'
#define NAME half
        .text
        .globl NAME
NAME:   call helper@PLT
        ret
        .section .note.GNU-stack,"",@progbits
END
sed '1d; s/NAME/whole/' half.S >whole.s
echo 'int half(void); int helper(void) { return 0; } int main(void) { return half(); }' >half.c
echo 'int callback(void); int library(void) { return callback(); }' >library.c
echo 'int library(void); int callback(void) { return 0; } int main(void) { return library(); }' >user.c
echo '-DVALUE="a b" main.c twice.c @inner.rsp' >outer.rsp
echo '-o response' >inner.rsp
echo "-include 'twice.h' -c twice.c" >compile.rsp

# Names of temporary files differ from run to run, and the program's name is another.
normal() { sed -E 's#/(plain|ours)\.tmp/#/#g; s/-[0-9a-f]{6}\.(o|s)/-TEMP.\1/g; s#[^ ]*/(clang|inquest-c)[^ :]*:#CC:#; s/^(clang|inquest-c)[^ :]*:/CC:/'; }

# run COMPILER DIRECTORY INPUT ARGUMENTS...: code, stdout, stderr and files are left beside DIRECTORY.
run() {
    local compiler=$1 directory=$2 input=$3 code=0
    shift 3
    rm -rf "$directory" "$directory".*
    cp -r "$sources" "$directory"
    mkdir "$directory.tmp"
    (cd "$directory" && TMPDIR=$directory.tmp exec $compiler "$@" <"$input" \
        >"$directory.out" 2>"$directory.err") || code=$?
    echo "$code" >"$directory.code"
    (cd "$directory" && find . -type f | sort) >"$directory.files"
    (cd "$directory.tmp" && find . -type f) >>"$directory.files"
    normal <"$directory.err" >"$directory.errors"
}

compare() {
    local what
    for what in code out errors files; do
        cmp -s "$work/plain.$what" "$work/ours.$what" || {
            diff "$work/plain.$what" "$work/ours.$what" >&2 || true
            fail "$what differs from plain clang's: $*"
        }
    done
}

input=/dev/null
# same ARGUMENTS...: as clang-19, with the plugin and without it.
same() {
    echo "  $*"
    run clang-19 "$work/plain" "$input" "$@"
    run "$bare/bin/inquest-cc" "$work/ours" "$input" "$@"
    sed -i '/^CC: warning: .*inquest-plugin.so/d; /^CC: warning: compiling without instr/d' \
        "$work/ours.errors"
    compare "$* (without plugin)"
    run "$cc" "$work/ours" "$input" "$@"
    compare "$*"
}
# same_but_errors ARGUMENTS...: the same, for commands that print their own inner workings.
same_but_errors() {
    echo "  $*"
    run clang-19 "$work/plain" "$input" "$@"
    run "$cc" "$work/ours" "$input" "$@"
    cp "$work/plain.errors" "$work/ours.errors"
    compare "$*"
}
made() { (cd "$work/ours" && "$@") || fail "$*"; }
has_section() { readelf -SW "$1" | grep -qF " $2 "; }

# record FILE: the payload of its .inquest.link, after the frame has been checked.
record() {
    local length hash=$((0xcbf29ce484222325)) byte
    rm -f "$work/section"
    objcopy --dump-section .inquest.link="$work/section" "$1" "$work/copy" || fail "$1: no record"
    [ "$(head -c 8 "$work/section")" = INQUEST ] || fail "$1: no magic"
    [ "$(od -An -tu4 -j8 -N8 "$work/section" | xargs)" = "2 2" ] || fail "$1: version or kind"
    length=$(od -An -tu8 -j16 -N8 "$work/section" | xargs)
    [ $(((32 + length + 7) / 8 * 8)) = "$(stat -c %s "$work/section")" ] || fail "$1: length"
    tail -c +33 "$work/section" | head -c "$length" >"$work/payload"
    for byte in $(od -An -v -tu1 "$work/payload"); do
        hash=$(((hash ^ byte) * 0x100000001b3))
    done
    [ "$(od -An -tx8 -j24 -N8 "$work/section" | xargs)" = "$(printf %016x "$hash")" ] ||
        fail "$1: hash"
    cat "$work/payload"
}
# The inputs that the user named, each with what it refers to, on one line.
inputs() {
    record "$1" >"$work/lines"
    awk -F'\t' '
        function flush() { if (kind != "") print kind " " path names; kind = names = "" }
        $1 == "input" || $1 == "argument" { flush(); path = $3 == "user" ? $4 : "" }
        ($1 == "modelless" || $1 == "opaque") && path != "" { kind = $1 }
        $1 == "undefined" { names = names " " $2 }
        END { flush() }' "$work/lines"
}
check_inputs() {
    local found
    found=$(inputs "$1")
    [ "$found" = "$2" ] || fail "$1: inputs without model are '$found', not '$2'"
}

say "questions"
same
same -v
same -E
same -dumpversion
same -dumpmachine
same -print-prog-name=ld
same --print-file-name=libc.so
same -print-search-dirs
same -print-resource-dir
same -V
same -qversion
same --no-such-option main.c
same missing.c
same -c missing.c
same @missing.rsp
same -o nothing
"$cc" --version >"$work/version"
clang-19 --version | cmp - <(head -n -1 "$work/version") || fail "--version does not start as clang's"
tail -n 1 "$work/version" | grep -Eqx 'inquest-cc [0-9.]+ plugin [0-9a-f]{16}' || fail "--version"
cmp <("$cc" --version) <("$full/bin/inquest-cc" -c --version) || fail "--version beside -c"
"$bare/bin/inquest-cc" --version | tail -n 1 | grep -Eqx 'inquest-cc [0-9.]+ plugin none' ||
    fail "--version without plugin"
"$cxx" --version | grep -q '^inquest-cc' || fail "--version of inquest-c++"
"$cc" --help >"$work/help"
grep -qe '-finquest=LEVEL' "$work/help" || fail "--help lacks our options"
clang-19 --help | cmp - <(sed '1,/^$/d' "$work/help") || fail "--help lacks clang's"

say "--version tells plugins apart"
printf x >>"$full/lib/inquest/inquest-plugin.so"
! cmp -s <("$cc" --version) "$work/version" || fail "--version does not follow the plugin"
cp "$build/lib/inquest/inquest-plugin.so" "$full/lib/inquest/"

say "preprocessing and checking"
same -E main.c
same -E -dM main.c
same -E main.c -o main.i
same -M main.c
same -MM main.c
same -fsyntax-only main.c
same -fsyntax-only broken.c
same -E missing.c
input=$sources/seven.c
same -E -
same -E -x c - -o -
same -x c -c - -o stdin.o
same -x c -
code=0
"$work/ours/a.out" || code=$?
[ $code = 7 ] || fail "a program from standard input"
same -x c -fsyntax-only -
input=/dev/null

say "compiling"
same -c main.c
same -c main.c -o /dev/null
same -c main.c twice.c
same -S -o - -fsyntax-only main.c
same_but_errors -S main.c
same -c broken.c
same -c -Werror -Wall -Wextra -pedantic main.c
same -c main.c -MD
same -c main.c -MMD -MF deps/none.d
same -c main.c -MD -MF main.dep -MT all -MP
same -c whole.s half.S
same -c -emit-llvm main.c
same -x c-header twice.h
same @compile.rsp
same -O2 -g -c main.c
same -O2 -g0 -c main.c
same -c main.c -Wl,-z,now
same -Xclang -E -c main.c
same -c main.c -o -c
same -cc1 -version
same_but_errors -### -c main.c
same_but_errors -v -c main.c

say "linking"
same main.c twice.c
made ./a.out >/dev/null
same -O2 main.c twice.c -o program -lm
same -o /dev/null seven.c
same given.o -o program
same_but_errors main.c # the linker names source lines where there is debug information
same_but_errors unlinked.c
same main.c missing.o
same -static main.c twice.c -o program
made ./program >/dev/null
same -static-pie main.c twice.c -o program
made ./program >/dev/null
same -no-pie main.c twice.c -o program
made ./program >/dev/null
same -pie -fPIE main.c twice.c -o program
same -shared -fPIC twice.c -o libtwice.so
same -r -nostdlib twice.c -o twice.o
same @outer.rsp
made ./response >/dev/null
same -x c main.c twice.c -x none -o program
same main.c twice.c -MD -o program
same main.c twice.c -MD -MF program.d -o program
same half.c half.S -o program
made ./program
same -fuse-ld=lld main.c twice.c -o program
same -fuse-ld=no-such-linker seven.c
same -fuse-ld=gold main.c twice.c -o program
same -flto -fuse-ld=lld -O2 main.c twice.c -o program
made ./program >/dev/null
same -m32 -nostdlib -r seven.c -o seven.o
same_but_errors -save-temps main.c twice.c -o program
same_but_errors -v main.c twice.c -o program
same_but_errors main.c twice.c -### -o program
same_but_errors main.c twice.c -o program -Wl,-Map=program.map

say "C++"
for compiler in clang++-19 "$cxx"; do
    (cd "$sources" && $compiler -O1 main.cc -o "$work/cxx" 2>"$work/errors" && "$work/cxx") || fail "$compiler"
    [ ! -s "$work/errors" ] || fail "$compiler complains"
done
ln -s "$cxx" "$work/x86_64-linux-gnu-inquest-c++"
"$work/x86_64-linux-gnu-inquest-c++" "$sources/main.cc" -o "$work/cxx" && "$work/cxx"

say "what is added"
cd "$sources"
"$cc" -c main.c -o "$work/a.o"
has_section "$work/a.o" .inquest.model || fail "no model"
has_section "$work/a.o" .debug_info || fail "no debug information"
"$cc" -g0 -c main.c -o "$work/a.o"
! has_section "$work/a.o" .debug_info || fail "-g0 is not respected"
"$cc" -gline-tables-only -c main.c -o "$work/a.o"
readelf --debug-dump=info "$work/a.o" | grep -q DW_TAG_base_type || fail "line tables only"
"$cc" -mllvm -use-unknown-locations=Enable -c main.c -o "$work/a.o"
"$bare/bin/inquest-cc" -c main.c -o "$work/a.o" 2>"$work/errors"
[ "$(grep -c 'warning: compiling without instrumentation' "$work/errors")" = 1 ] || fail "no warning"
! has_section "$work/a.o" .inquest.model || fail "a model without plugin"
"$bare/bin/inquest-cc" "$work/a.o" twice.c -w -o "$work/a" 2>"$work/errors"
[ ! -s "$work/errors" ] || fail "-w does not silence"
head -c 1000 "$full/lib/inquest/inquest-plugin.so" >"$bare/lib/inquest/inquest-plugin.so"
"$bare/bin/inquest-cc" -c main.c -o "$work/a.o" 2>"$work/errors" || fail "a damaged plugin"
grep -q 'not a compiler plugin' "$work/errors" || fail "a damaged plugin is not named"
clang-19 -shared -fPIC twice.c -o "$bare/lib/inquest/inquest-plugin.so"
"$bare/bin/inquest-cc" -c main.c -o "$work/a.o" 2>"$work/errors" || fail "a foreign plugin"
grep -q 'not a compiler plugin' "$work/errors" || fail "a foreign plugin is not named"
rm "$bare/lib/inquest/inquest-plugin.so"

# A clang that shows how it was called.
mkdir "$work/fake"
cat >"$work/fake/clang-19" <<'END'
#!/bin/sh
echo "$INQUEST_PLUGIN"
for argument; do echo "$argument"; done
END
chmod +x "$work/fake/clang-19"
called() { PATH="$work/fake:$PATH" INQUEST_PLUGIN=outer "$cc" "$@"; }
options() {
    local wanted=$1 found
    shift
    found=$(called "$@" -c x.c | head -n 1)
    [ "$found" = "$wanted" ] || fail "$*: the plugin gets '$found', not '$wanted'"
}
options level=paths:tunable=1
options level=none:tunable=1 -finquest=none
options level=calls:tunable=0 -finquest=full -fno-inquest-tunable -finquest=calls
options level=full:tunable=1:scheme=suspects -fno-inquest-tunable -finquest-tunable -finquest=full,suspects
options 'level=paths:tunable=1:include=a*:include=b%3Ac%3D%2C:exclude=%25%20d' \
    -finquest-include='a*' -finquest-exclude='% d' -finquest-include=b:c=,
[ "$(called -c x.c | grep -cx -e -g)" = 1 ] || fail "-g is not added"
[ "$(called -c x.c -g3 | grep -cx -e -g)" = 0 ] || fail "-g is added to -g3"
[ "$(called -c x.c -gdwarf-4 | grep -cx -e -g)" = 0 ] || fail "-g is added to -gdwarf-4"
[ "$(called -c x.c -gz | grep -cx -e -g)" = 1 ] || fail "-gz stands for -g"
called -c x.c | grep -qx -e "-fpass-plugin=.*/lib/inquest/inquest-plugin.so" || fail "no plugin"
! called -c x.c -finquest=full | grep -q finquest || fail "our options reach clang"
[ "$(called -dumpversion x.c -finquest=full | xargs)" = "level=full:tunable=1 -dumpversion x.c" ] || fail "-dumpversion is not plain"
# for <inquest.h>, and nothing else
[ "$(called -E x.c -finquest=full | grep -v /include | xargs)" = "level=full:tunable=1 --start-no-unused-arguments \
-idirafter --end-no-unused-arguments -E x.c" ] || fail "-E is not plain"
for bad in -finquest=some -finquest= -finquest -finquest=full,A -finquest-include= -fno-inquest-x; do
    code=0
    "$cc" "$bad" -c main.c 2>"$work/errors" || code=$?
    [ $code = 1 ] || fail "'$bad' is accepted"
    grep -q "^inquest-cc: error: .*'$bad'" "$work/errors" || fail "'$bad' is not named"
done

say "clang-19 is found without PATH, and never taken for us"
(cd "$work" && env -i "$cc" -c "$sources/main.c" -o "$work/a.o") || fail "without PATH"
mkdir "$work/loop"
ln -s "$cc" "$work/loop/clang-19"
PATH="$work/loop:$PATH" timeout 60 "$cc" -c main.c -o "$work/a.o" || fail "a loop"

say "command lines too long for the kernel"
yes -- -DSOME_QUITE_LONG_NAME_OF_A_MACRO=1 | head -n 100000 >"$work/long.rsp" || true
run "$cc" "$work/ours" /dev/null @"$work/long.rsp" main.c twice.c -o program
[ "$(cat "$work/ours.code")" = 0 ] || fail "$(head -n 3 "$work/ours.err")"
made ./program >/dev/null

say "the record of a link"
cd "$work"
clang-19 -c sources/library.c -o library.o
clang-19 -c sources/twice.c -o twice.o
"$cc" -c sources/twice.c -o twice_model.o
"$cc" sources/main.c sources/twice.c -o program
check_inputs program ""
record program >lines
grep -qx $'command\tinquest-cc sources/main.c sources/twice.c -o program' lines || fail "the command"
grep -q $'^input\tobject\ttoolchain\t.*crt1.o' lines || fail "the toolchain's inputs"
"$cc" sources/user.c library.o -o 'a program'
check_inputs 'a program' "modelless library.o callback"
record 'a program' | grep -q "^command.* -o 'a program'\$" || fail "quoting"
"$cc" sources/main.c twice_model.o -o program
check_inputs program ""
ar rc libplain.a library.o twice_model.o
"$cc" sources/user.c -L. -lplain -o program
check_inputs program "modelless ./libplain.a callback"
"$cc" sources/user.c -Wl,--library=plain -Xlinker -L. -o program
check_inputs program "modelless ./libplain.a callback"
mkdir -p thin
cp library.o thin/
(cd thin && ar rcT libthin.a library.o)
"$cc" sources/user.c thin/libthin.a -o program
check_inputs program "modelless thin/libthin.a callback"
ar rc libmodel.a twice_model.o
"$cc" sources/main.c libmodel.a -o program
check_inputs program ""
echo 'INPUT(-lplain) /* GROUP(none.o) */ GROUP ( AS_NEEDED ( libmodel.a ) )' >libscript.so
"$cc" sources/user.c -L. -lscript -o program
check_inputs program "modelless ./libplain.a callback"
"$cc" sources/half.c sources/half.S -o program
check_inputs program "modelless sources/half.S helper"
"$cc" -c sources/half.c -o half.o
"$cc" half.o -x assembler - -o program <<<'.globl half; half: jmp helper; .section .note.GNU-stack,"",@progbits'
check_inputs program "modelless - helper"
cp sources/half.S other.S
"$cc" sources/half.c -DUNUSED other.S -save-temps=obj -o program 2>/dev/null
check_inputs program "modelless other.S helper"
"$bare/bin/inquest-cc" -w sources/main.c twice_model.o -o program
check_inputs program "modelless sources/main.c twice printf"
"$cc" -Xclang -disable-llvm-passes sources/main.c twice_model.o -o program
check_inputs program "modelless sources/main.c twice printf"
"$cc" -shared -fPIC sources/twice.c -o libshared.so
check_inputs libshared.so ""
"$cc" sources/main.c ./libshared.so -o program
check_inputs program ""
"$cc" -static sources/user.c library.o -o program
check_inputs program "modelless library.o callback"
record program | awk -F'\t' '$1 == "input" { path = $4 } $2 == "malloc" && path ~ /libc\.a$/ { found = 1 }
    END { exit !found }' || fail "libc.a is not in the record of a static link"
"$cc" -r -nostdlib twice_model.o -o merged.o
check_inputs merged.o ""
record merged.o | grep -qx $'output\trelocatable\tmerged.o' || fail "a relocatable link"
"$cc" -r -nostdlib twice_model.o library.o -o merged.o
check_inputs merged.o "modelless library.o callback"
for linker in bfd gold lld; do
    have "ld.$linker" || continue
    "$cc" -fuse-ld=$linker -Wl,--gc-sections -s sources/user.c library.o -o program
    check_inputs program "modelless library.o callback"
    strip program
    check_inputs program "modelless library.o callback"
    for protection in none full; do
        for compiler in clang-19 "$cc"; do
            $compiler -fuse-ld=$linker -fcf-protection=$protection -shared -nostdlib -fPIC \
                sources/twice.c -o libprotected.so
            readelf -nW libprotected.so | { grep -o 'x86 feature.*' || true; } >"properties.${compiler##*/}"
        done
        cmp properties.clang-19 properties.inquest-cc || fail "$linker: the marks of -fcf-protection"
    done
done
clang-19 -flto -c sources/twice.c -o twice_lto.o
"$cc" -flto -c sources/twice.c -o twice_lto_model.o
"$cc" -flto -fuse-ld=lld sources/main.c twice_lto_model.o -o program
check_inputs program ""
"$cc" -flto -fuse-ld=lld sources/main.c twice_lto.o -o program
check_inputs program "opaque twice_lto.o"

cat >closing-ld <<'END'
#!/bin/bash
for number in 3 4 5 6 7 8 9 10 11 12; do eval "exec $number>&-"; done
exec ld "$@"
END
chmod +x closing-ld
"$cc" --ld-path="$work/closing-ld" sources/user.c library.o -o program
check_inputs program "modelless library.o callback"

say "build-ids"
"$cc" sources/seven.c -o program
readelf -nW program | grep -q 'Build ID' || fail "no build-id"
"$cc" -Wl,--build-id=none sources/seven.c -o program
! readelf -nW program | grep -q 'Build ID' || fail "--build-id=none is not respected"
"$cc" -Wl,--build-id=0x12345678 sources/seven.c -o program
readelf -nW program | grep -q 'Build ID: 12345678$' || fail "--build-id=0x12345678 is not respected"

say "the same inputs give the same output"
"$cc" twice_model.o sources/half.S half.o library.o -shared -o first.so
"$cc" twice_model.o sources/half.S half.o library.o -shared -o second.so
objcopy --dump-section .inquest.link=first first.so copy
objcopy --dump-section .inquest.link=second second.so copy
sed -i s/first/other_/ first && sed -i s/second/other_/ second
cmp <(tail -c +33 first | tr -d '\0') <(tail -c +33 second | tr -d '\0') || fail "records differ"
cp program before && "$cc" -Wl,--build-id=0x12345678 sources/seven.c -o program
cmp program before || fail "programs differ"

say "dependency files of the linker"
"$cc" -fuse-ld=lld sources/user.c library.o -Wl,--dependency-file=program.dep -o program
grep -q library.o program.dep || fail "the dependencies"
! grep -q /proc program.dep || fail "the record is named in the dependencies"

# interrupted COMPILER SIGNAL FILE: the files that an interrupted link leaves, into FILE; its status
# in $status. The linker tells its process id and then waits, for ever were it not ended here.
cat >blocking-ld <<END
#!/bin/sh
echo \$\$ >"$work/started"
exec cat "$work/release" >/dev/null 2>&1
END
chmod +x blocking-ld
interrupted() {
    local process linker
    rm -rf left started release
    mkdir -p left/tmp
    mkfifo started release
    (cd left && TMPDIR=$work/left/tmp exec env --default-signal="$2" "$1" \
        --ld-path="$work/blocking-ld" ../sources/main.c ../sources/half.S -o program) &
    process=$!
    linker=$(cat started)
    kill -s "$2" $process
    status=0
    wait $process 2>/dev/null || status=$?
    kill "$linker" 2>/dev/null || true
    find left -type f | sed -E 's/-[0-9a-f]{6}\./-TEMP./' | sort >"$3"
}
# Clang leaves its own objects behind when it is interrupted; nothing may come on top of them.
say "interrupted links"
for signal in TERM INT HUP; do
    interrupted clang-19 $signal files_plain
    status_plain=$status
    interrupted "$cc" $signal files_ours
    [ "$status" = "$status_plain" ] || fail "SIG$signal ends us with $status, clang with $status_plain"
    cmp files_plain files_ours || fail "SIG$signal: files are left: $(cat files_ours)"
done
cat >fake/clang-19 <<END
#!/bin/sh
echo started >"$work/started"
exec cat "$work/release"
END
rm -f started release
mkfifo started release
PATH="$work/fake:$PATH" "$cc" sources/main.c &
process=$!
cat started >/dev/null
kill -s TERM $process
status=0
wait $process 2>/dev/null || status=$?
[ $status = 143 ] || fail "SIGTERM while clang is asked ends us with $status"
rm -r fake

say "a configure script's questions"
probe() { # COMPILER: what such a script finds out, as text
    local compiler=$1 header function
    echo 'int main(void) { return 0; }' >conftest.c
    for option in --version -v -V -qversion; do $compiler $option >/dev/null 2>&1 && echo "$option"; done
    $compiler conftest.c && ls a.out && rm a.out
    $compiler -o conftest conftest.c && ./conftest && echo runs
    $compiler -c conftest.c && ls conftest.o
    echo 'choke me' >conftest.c
    $compiler -c conftest.c >/dev/null 2>&1 || echo GNU no
    for header in stdio.h sys/stat.h no_such.h; do
        echo "#include <$header>" >conftest.c
        $compiler -E conftest.c >/dev/null 2>conftest.err && echo "$header $(wc -c <conftest.err)"
    done
    for function in printf strlcpy no_such; do
        echo "char $function(void); int main(void) { return $function(); }" >conftest.c
        $compiler -o conftest conftest.c -lm >/dev/null 2>&1 && echo "$function"
    done
    echo 'int main(void) { return 0; }' >conftest.c
    for option in -Wall -fno-such -Wno-such -pthread -fvisibility=hidden -Wl,-z,relro; do
        $compiler -Werror $option -o conftest conftest.c >/dev/null 2>conftest.err &&
            echo "$option $(wc -c <conftest.err)"
    done
    $compiler -c conftest.c -o conftest2.o && rm conftest2.o && echo -c -o
    $compiler -print-prog-name=ld
    $compiler -shared -fPIC -o conftest.so conftest.c -Wl,-soname,conftest.so.1 && echo shared
    echo | $compiler -E -dM - | sort | md5sum
    rm -rf conftest*
    ls
}
for compiler in clang-19 "clang-19 -w" "clang-19 -O2" "$cc" "$bare/bin/inquest-cc -w" "env $cc -O2"; do
    rm -rf probe && mkdir probe
    (cd probe && probe "$compiler") >"probe.${compiler##*/}" 2>&1 || true
done
grep -qx 'printf' probe.clang-19 || fail "the questions do not work"
cmp probe.clang-19 probe.inquest-cc || fail "a configure script finds out something else"
cmp 'probe.clang-19 -w' 'probe.inquest-cc -w' ||
    fail "a configure script finds out something else (without plugin)"
cmp 'probe.clang-19 -O2' 'probe.inquest-cc -O2' || fail "a CC of several words"

say "make in parallel"
rm -rf parallel && mkdir parallel
for i in 1 2 3 4 5 6 7 8; do echo "int f$i(void) { return $i; }" >parallel/f$i.c; done
echo 'int f1(void), f8(void); int main(void) { return f1() + f8() - 9; }' >parallel/main.c
# shellcheck disable=SC2016 # make's variables
printf 'program: main.o f1.o f2.o f3.o f4.o f5.o f6.o f7.o f8.o\n\t$(CC) $(LDFLAGS) -o $@ $^\n' \
    >parallel/Makefile
mkdir parallel.tmp
TMPDIR=$work/parallel.tmp make -s -j8 -C parallel CC="$cc -pipe" CFLAGS=-O2
parallel/program || fail "the program built in parallel"
[ -z "$(ls parallel.tmp)" ] || fail "files are left"
check_inputs parallel/program ""

say "coverage has its pages to itself"
cat >pages.c <<'END'
char small[8];
int table[100] = {1};
__attribute__((section("a_section"))) int in_a_section[4] = {1};
__attribute__((section("z_section"))) int in_z_section[4] = {1};
int main(int argc, char **argv) { return table[argc] + in_a_section[argc] + in_z_section[argc] + small[argc]; }
END
alone() { # no other loaded section on a page of inquest_cov
    readelf -SW "$1" | python3 -c '
import re, sys
rows = re.findall(r"\] (\S+) +\S+ +([0-9a-f]{16}) [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +(\S*A\S*) ", sys.stdin.read())
places = {name: (int(start, 16), int(start, 16) + int(size, 16)) for name, start, size, _ in rows}
low, high = places.pop("inquest_cov")
low, high = low & -4096, (high + 4095) & -4096
found = [name for name, (start, end) in places.items() if start < high and end > low]
sys.exit(f"{found} on a page with coverage" if found or len(places) < 10 else 0)' || fail "$2: pages of coverage"
}
for linker in bfd gold lld; do
    have "ld.$linker" || have "ld.$linker-19" || continue
    for options in "" -Wl,--gc-sections -static -no-pie "-shared -fPIC" -O2 "-Wl,--sort-section=name"; do
        # shellcheck disable=SC2086
        "$cc" -fuse-ld=$linker $options pages.c -o pages || fail "-fuse-ld=$linker $options"
        alone pages "-fuse-ld=$linker $options"
    done
done
"$cc" -r pages.c -o pages.r.o && "$cc" pages.r.o -o pages && alone pages "-r"

if have cmake; then
    say "CMake"
    rm -rf project && mkdir project
    cp sources/main.c sources/twice.c sources/twice.h project/
    cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(twice C CXX)
include(CheckCSourceCompiles)
check_c_source_compiles("int main(void) { return 0; }" COMPILES)
add_library(twice SHARED twice.c)
add_executable(program main.c)
target_link_libraries(program twice)
message(STATUS "compiler ${CMAKE_C_COMPILER_ID} ${CMAKE_C_IMPLICIT_LINK_LIBRARIES} ${COMPILES}")
END
    for compiler in clang-19 "$cc"; do
        rm -rf project/build
        cmake -S project -B project/build -DCMAKE_C_COMPILER="$(command -v "$compiler")" \
            -DCMAKE_CXX_COMPILER="$(command -v "$([ "$compiler" = clang-19 ] && echo clang++-19 || echo "$cxx")")" \
            -DCMAKE_C_FLAGS=-O1 >cmake.log 2>&1 || fail "$(tail cmake.log)"
        grep '^-- compiler' cmake.log >"cmake.${compiler##*/}"
        cmake --build project/build -j2 >cmake.log 2>&1 || fail "$(tail cmake.log)"
        [ "$(project/build/program)" = 42 ] || fail "the program that CMake built"
    done
    cmp cmake.clang-19 cmake.inquest-cc || fail "CMake finds out something else"
    check_inputs project/build/libtwice.so ""
fi

if have ccache; then
    say "ccache"
    export CCACHE_DIR=$work/ccache CCACHE_COMPILERCHECK='%compiler% --version'
    for i in 1 2; do ccache "$cc" -c sources/twice.c -o cached.o; done
    "$cc" -c sources/twice.c -o fresh.o
    cmp cached.o fresh.o || fail "the cache gives another object"
    ccache --print-stats | grep -Eq '^(direct|preprocessed)_cache_hit.1$' || fail "no hit"
    ccache "$cc" -finquest=none -c sources/twice.c -o cached.o
    "$cc" -finquest=none -c sources/twice.c -o fresh.o
    cmp cached.o fresh.o || fail "the cache does not see our options"
fi
say "all passed"
