# mawk: its own suite, seven groups that compare with stored output, and the test of floating point exceptions.
# Everything the two print goes into a checksum as well.
program=mawk

package_configure() { run_configure; }
package_build() { run_make mawk; }
# Run in test/ as its own rules do, but with the program by a relative path, which it prints.
package_test() {
    cd test || return
    run_script mawktest env MAWK=../mawk TMPDIR="$work" sh ./mawktest
    run_script fpe_test env MAWK=../mawk TMPDIR="$work" sh ./fpe_test
}
package_result() {
    local line name script
    sed -n -e 's/^\([a-z ]*\) OK$/\1 PASS/p' -e 's/^\([a-z ]*\) had .* failures\{0,1\}$/\1 FAIL/p' "$work/output/mawktest" |
        while read -r line; do
            name=${line% *}
            echo "mawktest:${name// /-} ${line##* }"
        done
    for script in mawktest fpe_test; do
        if grep -qx 'exit status 0' "$work/output/$script"; then echo "$script:end PASS"; else echo "$script:end FAIL"; fi
        echo "$script:output=$(sha256sum <"$work/output/$script" | cut -c 1-16) PASS"
    done
}
package_remake() { run_make CC="$cc" CFLAGS="$cflags" mawk; }
