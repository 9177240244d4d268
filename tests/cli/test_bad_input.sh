#!/bin/bash
# Bad input: one clear line on standard error and exit status 2, never a crash and never a wrong
# answer. What is damaged by the failing program itself is no bad input: it is said, and the rest
# is shown.
# timeout: 600
set -u -o pipefail

inquest=$INQUEST_BUILD/bin/inquest
cc=$INQUEST_BUILD/bin/inquest-cc
if [ ! -x "$cc" ] || ! command -v clang-19 >/dev/null; then
    echo "inquest-cc is not built"
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/test_bad_input.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 2
export LC_ALL=C.UTF-8 NO_COLOR=1 XDG_CACHE_HOME=$work/cache
failures=0
checks=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# run_it COMMAND...: its status in $got, its output in out, its messages in err.
run_it() {
    got=0
    checks=$((checks + 1))
    timeout 60 "$@" >out 2>err </dev/null || got=$?
}

# bad PATTERN COMMAND...: exit status 2, one line that matches, nothing on standard output.
bad() {
    local pattern=$1
    shift
    run_it "$@"
    [ "$got" -eq 2 ] || fail "exit status $got: $* ($(head -n 3 err))"
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line: $* ($(head -n 3 err))"
    grep -Eq -- "$pattern" err || fail "'$pattern' is not in: $* ($(cat err))"
    [ -s out ] && fail "output in spite of trouble: $* ($(head -n 1 out))"
    [ -z "${show-}" ] || cat err
}

# good PATTERN COMMAND...: exit status 0, and the output matches.
good() {
    local pattern=$1
    shift
    run_it "$@"
    [ "$got" -eq 0 ] || fail "exit status $got: $* ($(head -n 3 err))"
    grep -Eq -- "$pattern" out || fail "'$pattern' is not in the output of: $*"
}

section() {
    echo "--- $*"
}

# put FILE OFFSET HEX: overwrites bytes. flip FILE OFFSET: another byte there.
put() {
    python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2], 0)); f.write(bytes.fromhex(sys.argv[3]))' "$@"
}
flip() {
    python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2], 0)); b = f.read(1)[0] ^ 1 << int(sys.argv[2], 0) % 8
    f.seek(int(sys.argv[2], 0)); f.write(bytes([b]))' "$@"
}
# place FILE SECTION: its offset and size in the file.
place() {
    python3 -c 'import struct, sys
d = open(sys.argv[1], "rb").read()
table, = struct.unpack_from("<Q", d, 40); count, names = struct.unpack_from("<HH", d, 60)
headers = [struct.unpack_from("<IIQQQQ", d, table + 64 * i) for i in range(count)]
for h in headers:
    at = headers[names][4] + h[0]
    if d[at:d.index(b"\0", at)].decode() == sys.argv[2]: print(h[4], h[5])' "$@"
}

cat >prog.c <<'END'
#include <stdio.h>
#include <stdlib.h>

static int *volatile cell;

static int helper(int n)
{
    return n > 7 ? n + 1 : n;
}

int deep(int n)
{
    if (n == 0)
        return *cell;
    return deep(n - 1) + helper(n);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 3;
    printf("%d\n", helper(n));
    return deep(n);
}
END
sed 's/n > 7/n > 8/' prog.c >other.c
"$cc" -g -O1 -o prog prog.c || fail "inquest-cc"
"$cc" -g -O1 -o other other.c || fail "inquest-cc"
"$cc" -g0 -O1 -o nodebug prog.c || fail "inquest-cc"
clang-19 -g -O1 -o plain prog.c || fail "clang-19"
for program in prog nodebug plain; do
    "$inquest" run --no-summary --core "core.$program" -- "./$program" >/dev/null 2>&1
    [ -s "core.$program" ] || { fail "no core of $program"; exit 1; }
done
mv core.prog core
good '#0   deep at prog.c:14' "$inquest" ./prog core
good '"sites":"' "$inquest" report ./prog core
cp out report.json

section "missing, unreadable, not files, not ELF"
: >empty
mkdir folder
mkfifo pipe
printf 'hello\n' >text
show=1
bad "cannot open 'nothing'" "$inquest" ./prog nothing
bad "cannot open './nothing'" "$inquest" ./nothing core
bad "empty" "$inquest" ./prog empty
bad "empty: '/dev/null'|empty file" "$inquest" ./prog /dev/null
bad "neither a core dump nor" "$inquest" ./prog text
bad "directory: |directory$" "$inquest" ./prog folder
bad "'empty'" "$inquest" empty core
bad "not an ELF file: './text'" "$inquest" ./text core
bad "'./folder'" "$inquest" ./folder core
bad "'/dev/null'" "$inquest" /dev/null core
bad "'/dev/zero'" "$inquest" ./prog /dev/zero
bad "regular file: './pipe'" "$inquest" ./pipe core
show=
for command in dump tune; do
    for file in nothing empty text folder /dev/null; do
        case $command in
        dump) bad "'(\\./)?$file'" "$inquest" dump "$file" ;;
        tune) bad "'(.*/)?$file'" "$inquest" tune "$file" --list ;;
        esac
    done
done
for file in nothing empty text folder /dev/null; do
    bad "'$file'" "$inquest" report ./prog "$file"
done
if [ "$(id -u)" -ne 0 ]; then
    cp core secret
    chmod 0 secret
    bad "cannot open 'secret': Permission denied" "$inquest" ./prog secret
    bad "cannot open 'secret': Permission denied" "$inquest" secret core
fi

section "stacks as text"
printf '#0  0x1 in f (n=1) at a.c:3\n#0  0x2 in g () at a.c:9\n' >two.txt
printf '==1==ERROR: LeakSanitizer: detected memory leaks\n    #0 0x1 in f /a.c:1:2\n' >leak.txt
printf 'a.c:1:2: runtime error: x\nand more\n' >recovered.txt
printf '#0  0x1 in helper (n=1) at prog.c:8\n#1  0x2 in main () at prog.c:21\n' >elsewhere.txt
show=1
bad "two different stacks of one thread.*'two.txt', line 2" "$inquest" ./prog two.txt
bad "no stack of the failure.*'leak.txt', line 1" "$inquest" ./prog leak.txt
bad "went on after.*'recovered.txt', line 1" "$inquest" ./prog recovered.txt
bad "'core' and 'elsewhere.txt' are not of the same run" "$inquest" ./prog core elsewhere.txt
bad "'core' and 'core' are both cores" "$inquest" ./prog core core
bad "cannot open 'nothing'" "$inquest" ./prog core nothing
bad "'./plain'" "$inquest" ./plain elsewhere.txt
show=

section "the wrong way round, the wrong build"
show=1
bad "program first, then its core" "$inquest" core ./prog
bad "not a core dump" "$inquest" ./prog ./prog
own=$(readelf -n prog | sed -n 's/.*Build ID: //p')
foreign=$(readelf -n other | sed -n 's/.*Build ID: //p')
bad "another build.*$own in the core.*$foreign" "$inquest" ./other core
show=
bad "another build.*$own in the core.*$foreign" "$inquest" report ./other core
bad "another build" "$inquest" ./other report.json
"$cc" -g -O1 -Wl,--build-id=none -o unnamed prog.c || fail "inquest-cc"
"$inquest" run --no-summary --core core.unnamed -- ./unnamed >/dev/null 2>&1
good 'note: no build-id tells whether the core is of this program' "$inquest" ./unnamed core.unnamed
cp other retuned
bad "another build" "$inquest" tune retuned --on-stack core
cmp -s other retuned || fail "tuned by a core of another build"

section "truncated cores"
size=$(stat -c %s core)
cuts="1 2 3 4 5 15 16 17 31 52 62 63 64 65 66 119 120 121 176 333 777 1023 1024 1463 1464 1465 2047
3001 3583 4094 4095 4096 4097 5000 8191 8192 8193 12289 16384 20001 65535 65536 65537 100003
$((size / 3)) $((size / 2)) $((size / 2 + 1)) $((size * 2 / 3)) $((size - 8193)) $((size - 4097))
$((size - 4096)) $((size - 4095)) $((size - 100)) $((size - 9)) $((size - 8)) $((size - 7))
$((size - 3)) $((size - 2)) $((size - 1))"
for length in $cuts; do
    [ "$length" -lt "$size" ] || continue
    head -c "$length" core >cut
    pattern="truncated core: .*bytes are missing"
    [ "$length" -ge 4 ] || pattern="neither a core dump nor|truncated"
    bad "$pattern" "$inquest" ./prog cut
done
bad "truncated core" "$inquest" report ./prog cut
zstd -q core -o core.zst || fail zstd
good '#0   deep at prog.c:14' "$inquest" ./prog core.zst
size=$(stat -c %s core.zst)
for length in 4 5 9 50 $((size / 2)) $((size - 5)) $((size - 1)); do
    head -c "$length" core.zst >cut.zst
    bad "truncated|damaged" "$inquest" ./prog cut.zst
done
for at in 6 20 $((size / 3)) $((size / 2)) $((size - 3)); do
    cp core.zst damaged.zst
    put damaged.zst "$at" ffff
    cmp -s core.zst damaged.zst || bad "'damaged.zst'" "$inquest" ./prog damaged.zst
done
gzip -kc core >core.gz
bad "gzip" "$inquest" ./prog core.gz

section "truncated evidence, evidence of the wrong kind"
size=$(stat -c %s report.json)
for length in 1 2 10 100 $((size / 2)) $((size - 3)); do
    head -c "$length" report.json >cut.json
    bad "'cut.json'" "$inquest" ./prog cut.json
done
sed 's,evidence/2,evidence/3,' report.json >newer.json
bad "newer" "$inquest" ./prog newer.json
printf '{}' >bare.json
bad "schema" "$inquest" ./prog bare.json
printf '{"schema": "evidence/2", "threads": [{"frames": [{"kind": "model"}]}]}' >bare.json
bad "threads\[0\]" "$inquest" ./prog bare.json

section "foreign architectures"
show=1
for what in core prog; do
    rm -f foreign
    cp "$what" foreign
    put foreign 18 b700
    case $what in
    core) bad "another architecture \(aarch64\)" "$inquest" ./prog foreign ;;
    prog)
        bad "another architecture" "$inquest" ./foreign core
        bad "another architecture" "$inquest" dump foreign
        bad "another architecture" "$inquest" tune foreign --list
        bad "cannot run './foreign': Exec format error" "$inquest" run -- ./foreign
        ;;
    esac
    cp "$what" foreign
    put foreign 4 01
    put foreign 18 0300
    case $what in
    core) bad "another architecture \(i386\)" "$inquest" ./prog foreign ;;
    prog) bad "another architecture" "$inquest" ./foreign core ;;
    esac
done
show=

section "no model, no debug information"
show=1
bad "no model.*was it built with inquest-cc" "$inquest" ./plain core.plain
bad "no model.*was it built with inquest-cc" "$inquest" dump plain
bad "not built with inquest-cc" "$inquest" tune plain --off '*'
bad "no debug information \(build with -g" "$inquest" ./nodebug core.nodebug
objcopy --remove-section .inquest.model --remove-section .inquest.link prog modelless
bad "no model" "$inquest" ./modelless core
strip -g -o stripped prog
bad "no debug information" "$inquest" ./stripped core
show=
mkdir -p separate debug
objcopy --only-keep-debug prog separate/prog.debug
strip -g -o separate/prog prog
(cd separate && objcopy --remove-section .inquest.model --add-gnu-debuglink=prog.debug prog)
good '#0   deep at prog.c:14' "$inquest" separate/prog core
mkdir -p "debug/.build-id/${own:0:2}"
mv separate/prog.debug "debug/.build-id/${own:0:2}/${own:2}.debug"
bad "no model|no debug information" "$inquest" separate/prog core
good '#0   deep at prog.c:14' "$inquest" --debug-dir debug separate/prog core
objcopy --only-keep-debug other "debug/.build-id/${own:0:2}/${own:2}.debug" # of another build
bad "no model|no debug information" "$inquest" --debug-dir debug separate/prog core

section "sections of another version, with flipped bytes, cut"
read -r model_at model_size < <(place prog .inquest.model)
read -r link_at link_size < <(place prog .inquest.link)
read -r described_at described_size < <(place prog inquest_desc)
cp prog version
put version $((model_at + 8)) 63000000
show=1
bad "version 99.*reads version" "$inquest" ./version core
bad "version 99" "$inquest" dump version
cp version before
bad "version 99" "$inquest" tune version --off '*'
cmp -s version before || fail "changed a program that was refused"
show=
for i in 0 3 7 8 9 12 15 16 18 23 24 31 32 33 40 48 56 60 64 70 80 96 100 128 150 200 300 \
    $((model_size / 3)) $((model_size / 2)) $((model_size / 2 + 1)) $((model_size * 2 / 3)) \
    $((model_size - 40)) $((model_size - 10)) $((model_size - 9)); do
    cp prog flipped
    flip flipped $((model_at + i))
    bad "damaged|truncated|version" "$inquest" ./flipped core
done
for i in 0 8 13 17 25 32 40 $((link_size / 2)) $((link_size - 9)); do
    cp prog flipped
    flip flipped $((link_at + i))
    bad "damaged|truncated|version" "$inquest" dump flipped
done
# In the loaded data no flipped bit may change what is claimed; it may be claimed less.
for ((i = 0; i < described_size; i++)); do
    cp prog flipped
    flip flipped $((described_at + i))
    run_it "$inquest" report ./flipped core
    [ "$got" -eq 0 ] || [ "$got" -eq 2 ] || fail "exit status $got, descriptor byte $i"
    python3 - "$i" <<'END' || fail "descriptor byte $i"
import json, sys
good = json.load(open("report.json"))
try:
    new = json.load(open("out"))
except ValueError:
    sys.exit(0)
for row in new["coverage"]:
    if row not in good["coverage"]:
        sys.exit("coverage is another: %s" % row)
END
done
size=$(stat -c %s prog)
for length in 1 63 64 65 4096 $((size / 2)) $((size - 64)) $((size - 1)); do
    head -c "$length" prog >cut
    bad "'(\\./)?cut'" "$inquest" ./cut core
    bad "'cut'" "$inquest" dump cut
    bad "'cut'" "$inquest" tune cut --off '*'
done

section "what the failing program itself has damaged"
for name in stack_smash record_overwritten; do
    "$cc" -g -O1 -fno-stack-protector -fno-omit-frame-pointer -o "$name" \
        "$INQUEST_SRC/tests/crashers/$name.c" || fail "inquest-cc $name"
    "$inquest" run --no-summary --core "core.$name" -- "./$name" >/dev/null 2>&1
done
good "the stack ends here: .*(overwritten|not code|core lacks|no code)" "$inquest" ./stack_smash core.stack_smash
good "fail_here at " "$inquest" ./stack_smash core.stack_smash
grep "the stack ends here" out
good "record: .*overwritten" "$inquest" -v ./record_overwritten core.record_overwritten
grep "record:" out
good "#1 +victim at " "$inquest" ./record_overwritten core.record_overwritten

section "run"
show=1
bad "cannot run './nothing'" "$inquest" run -- ./nothing
bad "cannot run './folder'" "$inquest" run -- ./folder
bad "cannot run './prog.c'" "$inquest" run -- ./prog.c
bad "no such command" "$inquest" run -- no_such_command_at_all
bad "too few arguments" "$inquest" run
bad "'nothing'" "$inquest" run --expect nothing -- ./prog
show=
run_it "$inquest" run --core "$work/no/such/core" -- ./prog
[ "$got" -eq 2 ] || fail "a core that cannot be written: exit status $got"
grep -q "cannot create '$work/no/such/core'" err || fail "a core that cannot be written: $(cat err)"
run_it "$inquest" run --core core.again -- ./plain
[ "$got" -eq 2 ] || fail "run of a program without a model: exit status $got"
grep -q "core in 'core.again'" err || fail "the core is not named: $(cat err)"
grep -q "was it built with inquest-cc" err || fail "no reason given: $(cat err)"

section "names, places, caches"
strange=$'with space\nand line'
cp prog "$strange"
cp core "$strange.core"
good '#0   deep at prog.c:14' "$inquest" "./$strange" "$strange.core"
bad "with space.nand line.no" "$inquest" "./$strange" "$strange.no"
ln prog hard
good '#0   deep' "$inquest" ./hard core
good '#0   deep' env -u HOME -u XDG_CACHE_HOME "$inquest" ./prog core
good '#0   deep' env HOME="$work/text" XDG_CACHE_HOME="$work/text/cache" "$inquest" ./prog core
good '#0   deep' env -u XDG_CACHE_HOME HOME="$work/text" "$inquest" ./prog core
good '#0   deep' env XDG_CACHE_HOME=/dev/null "$inquest" ./prog core
good '#0   deep' env XDG_CACHE_HOME=relative "$inquest" ./prog core
mkdir readonly
chmod a-w readonly # root writes all the same
good '#0   deep' env XDG_CACHE_HOME="$work/readonly" "$inquest" ./prog core
[ -e relative ] && fail "a relative XDG_CACHE_HOME was used"
cached=$(find cache -type f | head -n 1)
[ -n "$cached" ] || fail "nothing is cached"
for damage in ': >FILE' 'head -c 100 FILE >x; cat x >FILE' 'put FILE 40 ff' 'put FILE 400 ffffffff' \
    'put FILE 8 0102030405060708' 'rm FILE; mkdir FILE' 'rmdir FILE; ln -s nothing FILE'; do
    eval "${damage//FILE/\$cached}"
    good '#0   deep at prog.c:14' "$inquest" ./prog core
done
rm -rf cache
for i in 1 2 3 4 5 6; do
    "$inquest" ./prog core >"concurrent.$i" 2>&1 &
done
wait
for i in 2 3 4 5 6; do
    cmp -s concurrent.1 "concurrent.$i" || fail "concurrent runs differ"
done
find cache -name '*.tmp' | grep -q . && fail "a temporary file is left in the cache"

section "closed and broken streams"
got=0
"$inquest" ./prog core 2>err | head -n 1 >out || got=${PIPESTATUS[0]}
grep -q SIGSEGV out || fail "no first line"
[ -s err ] && fail "a closed pipe is talked about: $(cat err)"
for command in summary report; do
    got=0
    "$inquest" $command ./prog core >&- 2>err || got=$?
    [ "$got" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] || fail "closed output: $got, $(cat err)"
    if [ -w /dev/full ]; then
        got=0
        "$inquest" $command ./prog core >/dev/full 2>err || got=$?
        [ "$got" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] || fail "full disk: $got, $(cat err)"
    fi
    got=0
    "$inquest" $command ./prog nothing 2>&- >out || got=$?
    [ "$got" -eq 2 ] || fail "closed messages: $got"
done
got=0
cat core | "$inquest" ./prog /dev/stdin >out 2>err || got=$?
[ "$got" -eq 2 ] && grep -q 'regular file' err || fail "a core in a pipe: $got, $(cat err)"
good '#0   deep' "$inquest" ./prog /dev/fd/3 3<core
good '#0   deep' bash -c "cat report.json | '$inquest' ./prog /dev/stdin"

echo "$checks checks, $failures failures"
[ "$failures" -eq 0 ]
