# GNU bc and dc: no suite that checks itself, so scripts of ours. Debian
# patches Makefile.am, hence autoreconf.
program=bc/bc

package_configure() {
    # dc calls a function that a Debian patch added without declaring it.
    cflags+=" -Wno-implicit-function-declaration"
    autoreconf --force --install
    run_configure --without-readline --without-libedit
}
package_build() { run_make; }
package_test() {
    local script
    cd "$here/scripts/bc" || return
    for script in *.bc; do
        run_script "$script" "$source/bc/bc" -q -l "$script"
    done
    for script in *.dc; do
        run_script "$script" "$source/dc/dc" -f "$script"
    done
}
package_result() { script_results; }
package_remake() {
    cflags+=" -Wno-implicit-function-declaration"
    remake_in lib && remake_in bc bc
}
