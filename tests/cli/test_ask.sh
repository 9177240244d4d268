#!/bin/bash
# `inquest ask` and `inquest coverage` as a user meets them: answers, exit statuses, proofs, errors.
#
# Environment: INQUEST_BUILD (the build directory).
set -u
. "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
inquest=${INQUEST_BUILD:?the build directory}/bin/inquest
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# main: init or not, then work, which crashes; cleanup only after it returns.
cat >model.txt <<'END'
inquest-model 1
file 0 "/src" "a.c"
image 0 executable "prog"
module 0 image 0 id 00000000000000ff level paths flags 0 source "a.c"
function 0 module 0 "main" debug "main" source "main" at 0:1 linked unknown level paths record 0
  node 0 at 0:2:3 flags block -> 1 2
  node 1 at 0:3:3 flags call,block -> 2
    site "init" callees 1 callbacks 0
  node 2 at 0:4:3 flags call,block -> 3
    site "work" callees 2 callbacks 0
  node 3 at 0:5:3 flags call,block -> 4
    site "cleanup" callees 3 callbacks 0
  node 4 at 0:6:3 flags block,return
function 1 module 0 "init" debug "init" source "init" at 0:10 linked unknown level paths record 0
  node 0 at 0:11:3 flags block,return
function 2 module 0 "work" debug "work" source "work" at 0:20 linked unknown level paths record 0
  node 0 at 0:21:3 flags block -> 1
  node 1 at 0:22:3 flags block,return
function 3 module 0 "cleanup" debug "cleanup" source "cleanup" at 0:30 linked unknown level paths record 0
  node 0 at 0:31:3 flags block,return
set 1 1
set 2 2
set 3 3
root 0 main
END
evidence() {
    cat <<END
{"schema":"evidence/2","kind":"hand","threads":[{"tid":1,"crashed":true,"whole":true,"frames":[
{"kind":"model","module":"0xff","index":2,"function":"work","candidates":[1],"interrupted":true},
{"kind":"model","module":"0xff","index":0,"function":"main","candidates":[2]}]}],
"coverage":[{"module":"0xff","sites":"$1"}]}
END
}
evidence '?3' >stack.json
evidence 'n?2' >never.json
evidence 'y2?' >called.json
evidence '?2y' >wrong.json

expect 0 possible "$inquest" ask model.txt stack.json 'never init()'
expect 0 'a run of' "$inquest" ask model.txt stack.json 'init()'
expect 0 'main() a.c:2-4' "$inquest" ask -w model.txt stack.json 'never init()'
expect 1 'the call of init() at a.c:3 in main() was never made' "$inquest" ask model.txt never.json 'init()'
expect 1 'the stack of thread 1: work() < main()' "$inquest" ask model.txt stack.json 'cleanup()'
expect 1 'was made' "$inquest" ask model.txt called.json 'never init()'
expect 1 impossible "$inquest" ask model.txt stack.json 'work() then init()'
expect 1 'given: never a.c:3' "$inquest" ask model.txt stack.json --given 'never a.c:3' 'init()'
expect 2 'column 1' "$inquest" ask model.txt stack.json 'inti()'
expect 2 "did you mean 'init()'" "$inquest" ask model.txt stack.json 'inti()'
expect 2 contradict "$inquest" ask model.txt wrong.json 'init()'
expect 2 contradict "$inquest" coverage model.txt wrong.json
expect 2 '--solver' "$inquest" ask --solver magic model.txt stack.json 'init()'
expect 2 '--use' "$inquest" coverage --use magic model.txt stack.json
for solver in utl fsa vpa auto; do
    expect 0 possible "$inquest" ask --solver $solver model.txt stack.json 'init()'
    expect 1 impossible "$inquest" ask --solver $solver model.txt never.json 'init()'
    expect 0 'all nodes' "$inquest" coverage --solver $solver model.txt stack.json
done

# queries line by line; an error does not end it
out=$(printf 'init()\n# a remark\nfoo()\nnever work()\nquit\ninit()\n' | "$inquest" ask model.txt stack.json)
[ "$(grep -c '^possible' <<<"$out")" = 1 ] && [ "$(grep -c '^impossible' <<<"$out")" = 1 ] &&
    grep -q "foo" <<<"$out" || fail "line by line: $out"

"$inquest" coverage --json --lcov run.info model.txt never.json >coverage.json || fail 'coverage'
python3 - <<'END' || fail 'coverage --json'
import json
document = json.load(open("coverage.json"))
answers = {(n["function"], n["node"]): n["answer"] for n in document["nodes"]}
assert document["schema"] == "coverage/1" and document["complete"]
assert answers["main", 0] == answers["main", 2] == answers["work", 1] == "yes"
assert answers["main", 1] == answers["init", 0] == answers["cleanup", 0] == "no"
lines = {line["line"]: line["answer"] for line in document["lines"]}
assert lines[2] == "yes" and lines[3] == "no" and lines[31] == "no"
END
grep -q '^DA:4,1$' run.info && grep -q '^DA:3,0$' run.info || fail "lcov: $(cat run.info)"
"$inquest" ask --json model.txt never.json 'init()' >answer.json
python3 -c 'import json; d = json.load(open("answer.json")); assert d["answer"] == "impossible" and len(d["because"]) == 1' ||
    fail "ask --json: $(cat answer.json)"

[ $failed = 0 ] && echo "all as expected"
exit $failed
