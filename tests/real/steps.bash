# Functions for tests/real/package and the files under packages/.
#
# A package file sets
#   program      the main program's path in the built tree
#   libraries    shared libraries built with it that it loads (may be empty)
#   excluded     name patterns of tests left out of the result, each with its reason in a comment
# and defines package_configure, package_build, package_test and package_result, and
# package_remake where the overhead is measured (then 'single' may name another
# program, one that has its libraries inside).
# All run in the root of the unpacked source; package_result prints
# "NAME PASS|FAIL|SKIP" lines, which the caller filters and sorts.

name=
steps=()
cc=clang-19
cxx=clang++-19
opt=-O2
extra_cflags=
extra_ldflags=
jobs=
work=
from=
program=
single=
libraries=()
excluded=()

stop() {
    echo "tests/real/package: $2" >&2
    exit "$1"
}

# Nothing of the caller's session may reach configure or a test suite: make's
# own variables above all, since CTest may run below make.
clean_environment() {
    unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LIBS CC CXX
    unset CONFIG_SITE CDPATH GREP_OPTIONS GREP_COLOR GREP_COLORS GZIP BZIP BZIP2
    unset POSIXLY_CORRECT BC_ENV_ARGS BC_LINE_LENGTH LUA_INIT LUA_PATH LUA_CPATH
    unset LD_LIBRARY_PATH LD_PRELOAD TERM COLORTERM CLICOLOR_FORCE
    export LC_ALL=C LANG=C TZ=UTC0 TERM=dumb
}

absolute() {
    case $1 in
    /*) echo "$1" ;;
    *) echo "$PWD/$1" ;;
    esac
}

set_up_paths() {
    cache=${INQUEST_PACKAGES:-${XDG_CACHE_HOME:-$HOME/.cache}/inquest-packages}
    [ -n "$work" ] || work=${TMPDIR:-/tmp}/inquest-real/$name
    work=$(absolute "$work")
    from=${from:+$(absolute "$from")}
    # A compiler named by a relative path must be found from the source tree too.
    case ${cc%% *} in */*) cc=$(absolute "$cc") ;; esac
    case ${cxx%% *} in */*) cxx=$(absolute "$cxx") ;; esac
    source=$work/source
    cflags="$opt -g${extra_cflags:+ $extra_cflags}"
    ldflags=$extra_ldflags
    if [ -z "$jobs" ]; then
        jobs=$(nproc)
        [ "$jobs" -le 2 ] || jobs=2
    fi
}

cached_dsc() {
    local file
    for file in "$cache/$name"/*.dsc; do
        [ ! -f "$file" ] || echo "$file"
    done
}

# Downloads into directory $1. Where apt has no source entries yet,
# scripts/enable-deb-src adds them, once.
fetch_into() {
    (cd "$1" && apt-get -q source --only-source --download-only "$name" >&2) && return
    local enable=$here/../../scripts/enable-deb-src
    [ -x "$enable" ] || return
    "$enable" >&2
    (cd "$1" && apt-get -q source --only-source --download-only "$name" >&2)
}

# Lines of packages/DEPENDS are "NAME: DEBIAN-PACKAGES"; "all" is for every NAME.
missing_depends() {
    local depend
    sed -n "s/^\(all\|$name\)://p" "$here/packages/DEPENDS" | tr -s ' ' '\n' | sed '/^$/d' |
        while read -r depend; do
            [ "$(dpkg-query -W -f '${db:Status-Status}' "$depend" 2>/dev/null)" = installed ] || echo "$depend"
        done
}

# Runs a command with its output in $work/log.NAME; says where, and the end of it, on failure.
logged() {
    local log=$work/log.$1
    shift
    (set -e; "$@") >"$log" 2>&1 </dev/null && return
    tail -n 20 "$log" | cut -c 1-200 >&2
    stop 1 "'$name' failed in '$1'; the whole log is '$log'"
}

# Leaves user, system and elapsed seconds of a command in $work/time.
timed() {
    local TIMEFORMAT='%U %S %R'
    { time "$@" 2>&3; } 3>&2 2>"$work/time"
}

# MAKEINFO=true: manuals are not what is tested, and texinfo is large.
run_configure() {
    ./configure CC="$cc" CXX="$cxx" CFLAGS="$cflags" CXXFLAGS="$cflags" LDFLAGS="$ldflags" MAKEINFO=true "$@"
}

run_make() {
    make -j "$jobs" MAKEINFO=true "$@"
}

# remake_in FOLDER TARGET...: for trees made by automake, with the compiler given anew.
remake_in() {
    local folder=$1
    shift
    run_make -C "$folder" CC="$cc" CFLAGS="$cflags" LDFLAGS="$ldflags" "$@"
}

# compile_single OUTPUT "FLAGS AND LIBRARIES" SOURCE...: one object a source, then one link.
compile_single() {
    local output=$1 flags=$2
    shift 2
    # shellcheck disable=SC2086
    printf '%s\n' "$@" | xargs -P "$jobs" -I{} $cc $cflags $flags -c -o {}.o {}
    # shellcheck disable=SC2086
    $cc $cflags $ldflags -o "$output" "${@/%/.o}" $flags
}

# The .trs files that automake's parallel test driver leaves, one a test.
automake_results() {
    find . -name '*.trs' -printf '%P\n' | while read -r file; do
        sed -n "s|^:test-result: *\([A-Z]*\).*|${file%.trs} \1|p" "$file"
    done | sed -e 's/ XFAIL$/ PASS/' -e 's/ XPASS$/ FAIL/' -e 's/ ERROR$/ FAIL/'
}

# Our own scripts print "check NAME PASS" or "check NAME FAIL" for what they can
# judge by themselves, last of all "check end PASS"; everything they print and
# their exit status go into a checksum, so that any difference between two
# compilers shows.
#   run_script LABEL COMMAND...        leaves $work/output/LABEL
run_script() {
    local label=$1 status=0
    shift
    mkdir -p "$work/output"
    "$@" >"$work/output/$label" 2>&1 </dev/null || status=$?
    echo "exit status $status" >>"$work/output/$label"
}

script_results() {
    local file label
    for file in "$work"/output/*; do
        label=$(basename "$file")
        sed -n "s/^check \([^ ]*\) \(PASS\|FAIL\)$/$label:\1 \2/p" "$file"
        grep -q '^check end PASS$' "$file" || echo "$label:end FAIL"
        echo "$label:output=$(sha256sum <"$file" | cut -c 1-16) PASS"
    done
}

without_excluded() {
    local line pattern
    while read -r line; do
        for pattern in "${excluded[@]}"; do
            # shellcheck disable=SC2053
            [[ ${line% *} == $pattern ]] && continue 2
        done
        echo "$line"
    done
}
