# GNU grep: its own suite and gnulib's. Debian patches Makefile.am, hence autoreconf,
# kept from the tools that debian/rules keeps it from.
program=src/grep
excluded=(
    # They judge by how long a run took against another, or against a limit.
    'tests/*-perf*' tests/backref-multibyte-slow
)

package_configure() {
    AUTOPOINT=true AUTOHEADER=true LIBTOOLIZE=true autoreconf --force --install
    run_configure --disable-nls --enable-perl-regexp
}
package_build() { run_make; }

# Tests with a time limit first try whether 'timeout 0.01 sleep 0.02' times out, and skip themselves
# where it does not: on a busy machine, at random. These are run again.
package_test() {
    local late
    run_make -k check || true
    for _ in {1..10}; do
        late=$(cd tests && grep -l 'did not time out' -- *.log | sed -e '/^test-suite/d' -e 's/\.log$//' | tr '\n' ' ')
        [ -n "$late" ] || break
        run_make -k -C tests check-TESTS TESTS="$late" || true
    done
}
package_result() { automake_results; }
package_remake() { remake_in lib && remake_in src grep; }
