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
package_remake() {
    compile_single src/flex "-DHAVE_CONFIG_H -Isrc -DLOCALEDIR=\"/usr/share/locale\" -lm" \
        src/{buf,ccl,dfa,ecs,filter,gen,main,misc,nfa,options,parse,regex,scanflags,scanopt,skel}.c \
        src/{stage1scan,sym,tables,tables_shared,tblcmp,yylex}.c
}
