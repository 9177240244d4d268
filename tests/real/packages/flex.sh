# flex: builds itself with itself (stage1flex), then scanners that its suite compiles and runs.
# Debian patches Makefile.am, hence autoreconf.
program=src/flex

package_configure() {
    autoreconf --force --install
    run_configure --disable-nls
}
package_build() { run_make; }
package_test() { run_make -k check; }
package_result() { automake_results; }
