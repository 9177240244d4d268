# GNU gzip: autoconf, automake's test driver over shell scripts.
program=gzip

package_configure() { run_configure; }
package_build() { run_make; }
package_test() { run_make -k check; }
package_result() { automake_results; }
package_remake() { remake_in lib && remake_in . gzip; }
