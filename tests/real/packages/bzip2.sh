# bzip2: 'make test' compresses and restores three samples; a script of ours adds
# block sizes, streams, damaged input and bzip2recover.
program=bzip2
libraries=(libbz2.so.1.0)

bzip2_make() {
    run_make CC="$cc" CFLAGS="-Wall -Winline $cflags -D_FILE_OFFSET_BITS=64" LDFLAGS="$ldflags" "$@"
}

package_configure() { :; }
package_build() { bzip2_make libbz2.a bzip2 bzip2recover; }
package_test() {
    bzip2_make test || true
    run_script exercise env LD_LIBRARY_PATH="$source" bash "$here/scripts/bzip2/exercise.sh" "$source" "$work/scratch"
}
package_result() {
    local pair
    for pair in sample1.bz2:sample1.rb2 sample2.bz2:sample2.rb2 sample3.bz2:sample3.rb2 \
        sample1.ref:sample1.tst sample2.ref:sample2.tst sample3.ref:sample3.tst; do
        if cmp -s "${pair%:*}" "${pair#*:}"; then echo "${pair#*:} PASS"; else echo "${pair#*:} FAIL"; fi
    done
    script_results
}

single=bzip2.single
package_remake() {
    compile_single bzip2.single -D_FILE_OFFSET_BITS=64 blocksort.c huffman.c crctable.c randtable.c compress.c \
        decompress.c bzlib.c bzip2.c
}
