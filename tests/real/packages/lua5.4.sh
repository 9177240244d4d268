# lua: Debian builds it through libtool, as C and as C++, shared and static; the
# interpreter links the static C objects. Scripts of ours exercise it.
program=src/lua5.4

# As override_dh_auto_configure of debian/rules does.
package_configure() {
    mkdir debian/libtool
    cp debian/configure.ac debian/libtool/
    (cd debian/libtool && LIBTOOLIZE='libtoolize -i' autoreconf --force --install && run_configure)
    cat >src/lua5.4-deb-multiarch.h <<END
#ifndef _LUA_DEB_MULTIARCH_
#define _LUA_DEB_MULTIARCH_
#define DEB_HOST_MULTIARCH "$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
#endif
END
}
# Objects in parallel; the rule that links both libraries is not safe to run so.
package_build() {
    local flags=(LIBTOOL="$source/debian/libtool/libtool" CC="$cc -std=gnu99" CXX="$cxx"
        MYCFLAGS="$cflags" MYCXXFLAGS="$cflags" MYLDFLAGS="$ldflags")
    run_make -C src "${flags[@]}" SYSCFLAGS=-DLUA_USE_LINUX o
    make linux "${flags[@]}"
}
package_test() {
    local script
    rm -rf "$work/scratch"
    mkdir -p "$work/scratch"
    cd "$here/scripts/lua5.4" || return
    for script in *.lua; do
        run_script "$script" "$source/src/lua5.4" "$script" "$work/scratch"
    done
    # Compiled ahead by luac, the same program must print the same.
    "$source/src/luac5.4" -o "$work/scratch/language.luac" language.lua
    run_script language.luac "$source/src/lua5.4" "$work/scratch/language.luac"
}
package_result() { script_results; }
# Measured programs do the same work in every run: the seed of its hash tables, else from addresses and the time, is fixed.
package_remake() {
    compile_single src/lua5.4 "-std=gnu99 -DLUA_COMPAT_5_3 -DLUA_USE_LINUX -Dluai_makeseed(L)=0x5eed -Wl,-E -lm -ldl" \
        src/l[a-tv-z]*.c src/lua.c src/lundump.c src/lutf8lib.c
}
