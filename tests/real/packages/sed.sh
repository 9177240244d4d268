# GNU sed: its own suite and gnulib's.
program=sed/sed

package_configure() { run_configure --disable-nls --disable-acl --without-selinux; }
package_build() { run_make; }
package_test() { run_make -k check; }
package_result() { automake_results; }
package_remake() { remake_in . lib/libsed.a sed/sed; }
