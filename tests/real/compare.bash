# Compares what two compilers make of a package; for test_packages.sh and check-real.
#
# Set by the caller: here (this folder), work (scratch directory), ours_cc, ours_cxx,
# and plain_cc, plain_cxx where not clang-19. compare_package prints one row of
# the table that compare_header begins, and the differences below it.

plain_cc=${plain_cc:-clang-19}
plain_cxx=${plain_cxx:-clang++-19}

compare_header() {
    printf '%-10s %-4s %6s %6s %6s %6s  %9s %9s  %s\n' package opt tests pass fail skip 'plain s' 'ours s' verdict
}

# fetch_packages NAME...: 77 where the sources of one cannot be had.
fetch_packages() {
    local package
    for package in "$@"; do
        "$here/package" "$package" fetch && continue
        echo "the source package '$package' is neither in the cache nor to be had from the network"
        return 77
    done
}

# build_and_test NAME OPT DIR CC CXX; leaves DIR/result and DIR/seconds.
build_and_test() {
    local start=$SECONDS
    "$here/package" "$1" --opt "$2" --work "$3" --cc "$4" --cxx "$5" build test result >/dev/null || return
    echo $((SECONDS - start)) >"$3/seconds"
}

# A compiler that quietly left the program as it was would pass every comparison. No object
# may have fallen back to plain compiling, and what was linked carries model and records.
is_instrumented() {
    local file sections
    ! grep -q 'compiled plainly' "$2/log.build" || return 1
    for file in $("$here/package" "$1" --work "$2" program) $("$here/package" "$1" --work "$2" libraries); do
        sections=$(readelf --wide --sections "$file")
        [[ $sections == *.inquest.model* && $sections == *inquest_desc* ]] || return 1
    done
}

# compare_package NAME OPT: 0 where both give the same results, at least one of them a pass.
compare_package() {
    local package=$1 opt=$2
    local plain=$work/$package$opt/plain ours=$work/$package$opt/ours_ verdict=same
    build_and_test "$package" "$opt" "$plain" "$plain_cc" "$plain_cxx" || verdict='plain build failed'
    build_and_test "$package" "$opt" "$ours" "$ours_cc" "$ours_cxx" || verdict='build failed'
    if [ "$verdict" = same ]; then
        case $ours_cc in
        *inquest-cc*) is_instrumented "$package" "$ours" || verdict='not instrumented' ;;
        esac
        grep -q ' PASS$' "$ours/result" || verdict='nothing passed'
        cmp -s "$plain/result" "$ours/result" || verdict=different
    fi
    compare_row "$package" "$opt" "$plain" "$ours" "$verdict"
    [ "$verdict" = same ] || return 1
    [ -n "${keep_trees:-}" ] || rm -rf "$plain/source" "$ours/source"
}

compare_row() {
    local plain=$3 ours=$4 verdict=$5 word counts=()
    for word in '' ' PASS$' ' FAIL$' ' SKIP$'; do
        counts+=("$(grep -c "$word" "$ours/result" 2>/dev/null)")
    done
    printf '%-10s %-4s %6s %6s %6s %6s  %9s %9s  %s\n' "$1" "$2" "${counts[@]:-}" \
        "$(cat "$plain/seconds" 2>/dev/null)" "$(cat "$ours/seconds" 2>/dev/null)" "$verdict"
    [ "$verdict" = different ] || return 0
    diff "$plain/result" "$ours/result" | sed 's/^/    /'
    echo "    (< plain, > ours; the trees are kept in '$plain' and '$ours')"
}
