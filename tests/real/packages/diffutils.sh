# GNU diffutils: its own suite and gnulib's.
program=src/diff
excluded=(
    # Runs diff below valgrind where it is installed; see sed.sh.
    tests/strip-trailing-cr
)

package_configure() { run_configure --disable-nls; }
package_build() { run_make; }
package_test() { run_make -k check; }
package_result() { automake_results; }
