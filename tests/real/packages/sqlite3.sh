# sqlite3: the amalgamation (one source of 240,000 lines) and the shell, linked
# statically. Its Tcl suite takes hours, so scripts of ours.
program=sqlite3

# Features as debian/rules chooses them, so far as the shell is concerned.
sqlite3_features="-DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS
    -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_ENABLE_DBSTAT_VTAB
    -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_STMTVTAB -DSQLITE_ENABLE_SESSION
    -DSQLITE_ENABLE_PREUPDATE_HOOK"

package_configure() {
    cflags+=" -fno-strict-aliasing "$(echo $sqlite3_features)
    run_configure --disable-shared --disable-tcl --disable-readline --disable-editline --enable-json --enable-fts4 --enable-fts5
}
package_build() { run_make sqlite3; }
package_test() {
    local script
    for script in "$here"/scripts/sqlite3/*.sql; do
        rm -rf "$work/scratch"
        mkdir -p "$work/scratch"
        (cd "$work/scratch" && cp "$script" script.sql &&
            run_script "$(basename "$script")" "$source/sqlite3" -batch -bail test.db '.read script.sql')
    done
}
package_result() { script_results; }
package_remake() {
    compile_single sqlite3 "-fno-strict-aliasing $(echo $sqlite3_features) -DSQLITE_THREADSAFE=1
        -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_MATH_FUNCTIONS -I. -lm -lpthread -ldl" sqlite3.c shell.c
}
