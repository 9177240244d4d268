# GNU grep: its own suite and gnulib's. Debian patches Makefile.am, hence autoreconf,
# kept from the tools that debian/rules keeps it from.
program=src/grep

package_configure() {
    AUTOPOINT=true AUTOHEADER=true LIBTOOLIZE=true autoreconf --force --install
    run_configure --disable-nls --enable-perl-regexp
}
package_build() { run_make; }
package_test() { run_make -k check; }
package_result() { automake_results; }
package_remake() { remake_in lib && remake_in src grep; }
