#!/bin/bash
# Stores of suspects, in a file and on a server: statistics against an independent script's on the same
# runs, alike on both; merging; writers that are killed.
#
#   tests/cli/test_suspects_store.sh [SEEDS [ROUNDS]]    seeds a shape, rounds of killing
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the repository).
# timeout: 600
set -u -o pipefail

tool=${INQUEST_BUILD:?the build directory}/tests/test_store_random
here=${INQUEST_SRC:?the repository}/tests/cli
seeds=${1:-1} rounds=${2:-2}
if [ -z "${INQUEST_TEST_POSTGRES:-}" ]; then
    exec "$here/with_postgres" "$0" "$@"
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/test_suspects_store.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export LC_ALL=C.UTF-8
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# An empty store on the server; sets $server.
schemas=0
new_server() {
    schemas=$((schemas + 1))
    psql -qX "$INQUEST_TEST_POSTGRES" -c "CREATE SCHEMA s$schemas" || exit 2
    server="$INQUEST_TEST_POSTGRES?options=-csearch_path%3Ds$schemas"
}

# statistics SHAPE SEED ARGUMENTS: of both stores, which are filled, against the script's.
statistics() {
    local name="$1 $2 elimination $3 most $4 confidence $5"
    "$tool" print runs.db "$3" "$4" "$5" >file.json || fail "$name: print"
    "$tool" print "$server" "$3" "$4" "$5" >server.json || fail "$name: print from the server"
    cmp file.json server.json || fail "$name: the stores differ"
    "$here/suspects_stats.py" compare runs.json file.json --elimination "$3" --most "$4" --confidence "$5" \
        >differences || fail "$name: $(cat differences)"
    clusters=$((clusters + $(grep -o '[0-9]* clusters' differences | cut -d' ' -f1)))
}

clusters=0
for shape in plain three ties rare one nofail nopass same noise few; do
    for seed in $(seq "$seeds"); do
        rm -f runs.db*
        new_server
        "$tool" fill runs.db "$shape" "$seed" >runs.json || fail "$shape $seed: fill"
        "$tool" fill "$server" "$shape" "$seed" >runs2.json || fail "$shape $seed: fill the server"
        cmp runs.json runs2.json || fail "$shape $seed: not the same runs"
        statistics "$shape" "$seed" 0 0 0.95
        [ "$shape" = rare ] && [ "$seed" -gt 1 ] && continue
        statistics "$shape" "$seed" 1 0 0.8
        statistics "$shape" "$seed" 2 2 0.95
    done
done
[ "$clusters" -gt 20 ] || fail "only $clusters clusters were compared"

# The same from reports as files.
rm -f runs.db*
mkdir reports
"$tool" reports reports three 5 || fail "reports"
"$tool" fill runs.db three 5 >runs.json
"$tool" print runs.db >file.json
"$here/suspects_stats.py" compare reports file.json --sites runs.json || fail "reports differ from the store"

# ---- Merging, from one kind of store to the other and back

new_server
expect_merge() {
    local got
    got=$("$tool" merge "$1" "$2") || fail "merge"
    [ "$got" = "$3" ] || fail "merging added and knew $got, not $3"
}
expect_merge "$server" runs.db "600 0"
expect_merge "$server" runs.db "0 600"
expect_merge back.db "$server" "600 0"
for store in "$server" back.db; do
    "$tool" print "$store" | cmp - file.json || fail "a merged store says something else"
done

# ---- A store in a place where nothing may be written

as_other=()
[ "$(id -u)" = 0 ] && as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
mkdir kept
cp back.db kept/runs.db
chmod 444 kept/runs.db
chmod 555 kept
chmod 755 "$work"
if "${as_other[@]}" test -x "$tool" -a -r kept/runs.db; then
    "${as_other[@]}" "$tool" print kept/runs.db | cmp - file.json || fail "a store that can only be read is not"
    said=$("${as_other[@]}" "$tool" merge kept/runs.db back.db 2>&1)
    grep -q 'can only be read' <<<"$said" || fail "writing what can only be read is not refused: $said"
fi
[ "$(ls kept)" = runs.db ] || fail "reading left something behind: $(ls kept)"
chmod 755 kept

# ---- What a store promises, on the server too

"$INQUEST_BUILD/tests/test_store" >unit.log 2>&1 || fail "test_store: $(cat unit.log)"

# ---- Writers that are killed at any moment: what they said to be committed is there, and nothing half

# random LOW HIGH: milliseconds as seconds
random() {
    local value=$(($1 + RANDOM % ($2 - $1)))
    printf '%d.%03d' $((value / 1000)) $((value % 1000))
}

# Pairs of writers bring the same runs. The first to come make the store, all at once.
writers() {
    local store=$1 round=$2 how=$3 writer from
    for writer in 0 1 2 3 4 5 6 7; do
        from=$((round * 100000 + writer / 2 * 20000))
        if [ "$how" = kill ]; then
            timeout -s KILL "$(random 5 700)" "$tool" write "$store" 3 "$from" $((from + 20000)) \
                $((1 + (writer * 7 + round) % 40)) >>"log.$writer" 2>>errors &
        else
            "$tool" write "$store" 3 "$from" $((from + 100)) $((1 + writer)) >>"log.$writer" 2>>errors &
        fi
    done
    wait
}

killed() {
    local store=$1 name=$2 round
    rm -f log.* errors
    for round in $(seq "$rounds"); do
        writers "$store" "$round" kill 2>/dev/null
    done
    writers "$store" 0 whole
    grep -v '^Killed' errors && fail "$name: writers complain"
    "$tool" verify "$store" 3 >there 2>verify.log || fail "$name: verify: $(cat verify.log)"
    # A line may be cut by the kill; what was written is there.
    grep -hx '[0-9]*' log.* | sort | uniq >said
    sort there | uniq -d | grep . && fail "$name: runs are there twice"
    sort there >sorted
    comm -23 said sorted >lost
    [ -s lost ] && fail "$name: $(wc -l <lost) runs are lost, as $(head -n 3 lost | tr '\n' ' ')"
    for whole in $(seq 0 99) $(seq 60000 60099); do
        grep -qx "$whole" sorted || fail "$name: run $whole is not there"
    done
    echo "$name: $(wc -l <said) runs said to be there, $(wc -l <there) there"
    [ "$(wc -l <there)" -gt 400 ] || fail "$name: hardly anything was written"
}

killed killed.db SQLite
new_server
killed "$server" PostgreSQL
exit "$failed"
