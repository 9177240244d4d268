# Sourced by tests of the command line: what a command says and how it ends. `failed` is the test's
# exit status.
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# expect STATUS TEXT COMMAND...: the command exits with STATUS and prints TEXT, on either stream.
expect() {
    local status=$1 text=$2 out got
    shift 2
    out=$("$@" 2>&1 </dev/null)
    got=$?
    [ "$got" = "$status" ] || fail "$* exits with $got, not $status: $out"
    grep -qF -- "$text" <<<"$out" || fail "$* does not say '$text': $out"
}
