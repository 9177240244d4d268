#!/bin/bash
# scripts/enable-deb-src: copies entries of both forms, once, and leaves the others alone.
set -eu -o pipefail

work=$(mktemp -d "${TMPDIR:-/tmp}/deb-src.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/sources.list.d"
export APT_DIRECTORY=$work

cat >"$work/sources.list.d/debian.sources" <<'END'
# a comment
Types: deb
URIs: file:/mirror/debian
Suites: bookworm bookworm-updates
Components: main

Types: deb
Enabled: no
URIs: file:/mirror/off
Suites: bookworm
END
cat >"$work/sources.list" <<'END'
# deb file:/mirror/comment bookworm main
deb [trusted=yes] file:/mirror/old bookworm main
END
cp -r "$work" "$work.before"
trap 'rm -rf "$work" "$work.before"' EXIT

"$INQUEST_SRC/scripts/enable-deb-src" >/dev/null
diff "$work/sources.list.d/inquest-deb-src.sources" - <<'END'
Types: deb-src
URIs: file:/mirror/debian
Suites: bookworm bookworm-updates
Components: main
END
diff "$work/sources.list.d/inquest-deb-src.list" - <<'END'
deb-src [trusted=yes] file:/mirror/old bookworm main
END
diff "$work/sources.list" "$work.before/sources.list"
diff "$work/sources.list.d/debian.sources" "$work.before/sources.list.d/debian.sources"

# A second time nothing is written.
[ -z "$("$INQUEST_SRC/scripts/enable-deb-src")" ]

# Where there are source entries already, none are added.
rm "$work"/sources.list.d/inquest-*
sed -i 's/^Types: deb$/Types: deb deb-src/' "$work/sources.list.d/debian.sources"
"$INQUEST_SRC/scripts/enable-deb-src"
[ ! -e "$work/sources.list.d/inquest-deb-src.sources" ]

# Without any entry it says so.
rm "$work/sources.list" "$work/sources.list.d/debian.sources"
! "$INQUEST_SRC/scripts/enable-deb-src" 2>"$work/errors"
grep -q 'no entries' "$work/errors"
