# git: the large program. A named part of its suite, chosen to reach the object
# store, index, refs, diff, merge, packs and transport within a few minutes.
program=git

git_tests="t0000-basic t0001-init t0002-gitfile t0003-attributes t0008-ignores t0027-auto-crlf
    t1000-read-tree-m-3way t1006-cat-file t1300-config t1400-update-ref t1500-rev-parse
    t2000-conflict-when-checking-files-out t3000-ls-files-others t3200-branch t3400-rebase
    t3500-cherry t3700-add t4000-diff-format t4013-diff-various t4015-diff-whitespace
    t4200-rerere t5300-pack-object t5510-fetch t6000-rev-list-misc t6030-bisect-porcelain
    t7001-mv t7102-reset t7500-commit-template-squash-signoff t7600-merge t7810-grep"

git_make() {
    run_make CC="$cc" CFLAGS="$cflags -Wall" LDFLAGS="$ldflags" NO_OPENSSL=1 NO_CURL=1 NO_EXPAT=1 \
        NO_GETTEXT=1 NO_TCLTK=1 NO_PYTHON=1 NO_INSTALL_HARDLINKS=1 "$@"
}

package_configure() { :; }
package_build() { git_make all; }
package_test() {
    mkdir -p "$work/output"
    printf '%s\n' $git_tests | xargs -P "$jobs" -I{} \
        sh -c 'cd t && ./{}.sh --root="$1/trash" >"$1/output/{}" 2>&1' sh "$work"
}

# The suite speaks TAP: "ok 3 - text", "not ok 4 - text", "ok 5 # skip text", with "known
# breakage" in the comment of a test that is expected to fail, "vanished" where it did not.
package_result() {
    local file script
    for file in "$work"/output/*; do
        script=$(basename "$file")
        sed -n -e "s/^ok \([0-9]*\) # skip.*/$script:\1 SKIP/p" \
            -e "s/^not ok \([0-9]*\) .*known breakage.*/$script:\1 PASS/p" \
            -e "s/^ok \([0-9]*\) .*known breakage vanished.*/$script:\1 FAIL/p" \
            -e "s/^ok \([0-9]*\) .*/$script:\1 PASS/p" \
            -e "s/^not ok \([0-9]*\) .*/$script:\1 FAIL/p" "$file"
        # Without its plan at the end a script did not finish.
        if grep -q '^1\.\.' "$file"; then echo "$script:end PASS"; else echo "$script:end FAIL"; fi
    done
}
