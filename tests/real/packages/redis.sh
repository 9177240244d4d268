# redis: the server, redis-cli and redis-benchmark, with the allocator of libc and without TLS. Lua and hiredis
# are Debian's copies in deps/, compiled with the rest. Of its Tcl suite the units that need no replication, no
# timing and no second server.
program=src/redis-server

redis_units="unit/printver unit/auth unit/protocol unit/keyspace unit/scan unit/info-command
    unit/type/string unit/type/incr unit/type/list unit/type/set unit/type/zset unit/type/hash
    unit/type/stream unit/type/stream-cgroups unit/sort unit/multi unit/quit unit/acl unit/pubsub unit/slowlog
    unit/scripting unit/functions unit/bitops unit/bitfield unit/geo"

redis_lua_flags="-DLUA_ANSI -DENABLE_CJSON_GLOBAL -DREDIS_STATIC= -DLUA_USE_MKSTEMP"

# The makefile of the dependencies puts -O2 behind CFLAGS for lua, hence LUA_CFLAGS. SOURCE_DATE_EPOCH keeps the
# name of the host out of the program.
redis_make() {
    SOURCE_DATE_EPOCH=0 run_make -C src CC="$cc" OPTIMIZATION="$opt" CFLAGS="$cflags" LDFLAGS="$ldflags" \
        LUA_CFLAGS="$redis_lua_flags $cflags" MALLOC=libc USE_SYSTEMD=no BUILD_TLS=no V=1 "$@"
}

package_configure() { :; }
package_build() { redis_make redis-server redis-cli redis-benchmark; }
package_test() {
    local unit units=()
    for unit in $redis_units; do
        units+=(--single "$unit")
    done
    ./runtest --clients 1 --tags -slow --no-latency "${units[@]}"
}

# One line a test: "[ok]: NAME (5 ms)", "[err]: NAME in tests/FILE", "[exception]: ...", "[ignore]: NAME: REASON".
package_result() {
    local line unit=
    sed 's/\x1b\[[0-9;]*m//g' "$work/log.test" | while read -r line; do
        case $line in
        'Testing unit/'*) unit=${line#Testing unit/} ;;
        '[ok]: '*) redis_line "$unit" "${line% (*ms)}" PASS ;;
        '[err]: '* | '[exception]: '*) redis_line "$unit" "${line% in tests/*}" FAIL ;;
        '[ignore]: '*) redis_line "$unit" "$line" SKIP ;;
        'The End') echo "end PASS" ;;
        esac
    done
}
redis_line() {
    local name=${2#*]: }
    echo "$1:${name//[^A-Za-z0-9.,:_+-]/-} $3"
}

# The sources that the makefile names for the server, and those of the dependencies.
package_remake() {
    local objects
    objects=$(sed -n 's/^REDIS_SERVER_OBJ=//p' src/Makefile)
    # shellcheck disable=SC2046
    compile_single src/redis-server "-std=gnu11 $redis_lua_flags -Wno-unused-command-line-argument
        -Ideps/hiredis -Ideps/linenoise -Ideps/lua/src -Ideps/hdr_histogram -DHDR_MALLOC_INCLUDE=\"hdr_redis_malloc.h\"
        -rdynamic -lm -ldl -pthread -lrt" $(printf 'src/%s\n' $objects | sed 's/\.o$/.c/') \
        deps/hiredis/{alloc,async,hiredis,net,read,sds,sockcompat}.c deps/hdr_histogram/hdr_histogram.c \
        $(ls deps/lua/src/*.c | grep -v '/\(lua\|luac\|print\)\.c$')
}
