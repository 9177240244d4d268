#!/bin/bash
# tests/golden/run passes what is right, fails on each difference, and updates.
set -eu -o pipefail

run=$INQUEST_SRC/tests/golden/run
work=$(mktemp -d "${TMPDIR:-/tmp}/golden-run.XXXXXX")
trap 'rm -rf "$work"' EXIT

# status EXPECTED [OPTION]: the test on standard input ends so.
status() {
    local got=0
    cat >"$work/a.golden"
    "$run" "$work/a.golden" >"$work/log" 2>&1 || got=$?
    if [ "$got" -ne "$1" ]; then
        echo "line ${BASH_LINENO[0]}: exit status $got, expected $1"
        cat "$work/log"
        exit 1
    fi
}

status 0 <<'END'
Says hello, from a file in a folder.
# command: cat folder/name
# command: printf '# expect\n'; exit 3
# input folder/name
hello
\# input this line is text
# exit 3
# expect
hello
\# input this line is text
\# expect
END
status 1 <<'END'
# command: echo a
# expect
b
END
status 1 <<'END'
# command: echo a; exit 1
# expect
a
END
status 1 <<'END'
# command: echo a; echo
# expect
a
END
status 2 <<'END'
# expect
END
status 2 <<'END'
# command: true
END
status 2 <<'END'
# command: true
# input ../outside
# expect
END

cat >"$work/update.golden" <<'END'
Updated.
# command: cat in; echo '# exit 9'; false
# input in
text
# expect
wrong
END
"$run" --update "$work/update.golden"
"$run" "$work/update.golden"
diff "$work/update.golden" - <<'END'
Updated.
# command: cat in; echo '# exit 9'; false
# input in
text
# exit 1
# expect
text
\# exit 9
END
