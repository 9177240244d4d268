# GNU sed: its own suite and gnulib's.
program=sed/sed
excluded=(
    # These run sed below valgrind where it is installed, and valgrind of Debian 12 stops at
    # the debug information that clang-19 writes (DWARF 5): the machine decides, not the compiler.
    testsuite/bug32082 testsuite/bug32271-2 testsuite/newline-dfa-bug testsuite/invalid-mb-seq-UMR
    # It makes a directory unwritable and expects failure: passes or fails with the user's rights.
    testsuite/panic-tests
)

package_configure() { run_configure --disable-nls --disable-acl --without-selinux; }
package_build() { run_make; }
package_test() { run_make -k check; }
package_result() { automake_results; }
package_remake() { remake_in . lib/libsed.a sed/sed; }
