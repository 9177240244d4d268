# exercise.sh BUILD SCRATCH: bzip2 over block sizes, kinds of input, streams, damage.
set -u
build=$1 scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1

check() { # NAME COMMAND...
	local name=$1
	shift
	if "$@"; then echo "check $name PASS"; else echo "check $name FAIL"; fi
}

# Inputs: empty, one byte, long runs, text, and pseudo-random bytes by a fixed recurrence.
: >empty
printf x >one
head -c 400000 /dev/zero | tr '\0' a >runs
awk 'BEGIN { s = 12345; for (i = 0; i < 60000; i++) { s = (s * 1103515245 + 12345) % 2147483648; printf "%d line of text %d\n", i, s % 97 } }' >text
awk 'BEGIN { s = 99; for (i = 0; i < 150000; i++) { s = (s * 16807) % 2147483647; printf "%c", 33 + s % 94 } }' >noise

for input in empty one runs text noise; do
	for level in 1 5 9; do
		"$build/bzip2" -$level -c $input >$input.$level.bz2
		sha256sum <$input.$level.bz2
		"$build/bzip2" -dc $input.$level.bz2 | cmp -s - $input
		check round_trip_$input.$level test "${PIPESTATUS[1]}" = 0
		"$build/bzip2" -dsc $input.$level.bz2 | cmp -s - $input
		check small_memory_$input.$level test "${PIPESTATUS[1]}" = 0
	done
done

check good_file "$build/bzip2" -t text.1.bz2
cat one.9.bz2 text.1.bz2 noise.5.bz2 | "$build/bzip2" -dc | cmp -s - <(cat one text noise)
check concatenated test "${PIPESTATUS[2]}" = 0

# Damage: cut short, and one byte changed in a middle block.
head -c 20000 text.1.bz2 >cut.bz2
"$build/bzip2" -t cut.bz2 2>cut.message
check cut_is_refused test $? = 2
cp text.1.bz2 changed.bz2
printf '\377' | dd of=changed.bz2 bs=1 seek=40000 conv=notrunc 2>/dev/null
"$build/bzip2" -t changed.bz2 2>changed.message
check change_is_refused test $? = 2
"$build/bzip2recover" changed.bz2 2>recover.message
ls rec*changed.bz2 | wc -l
for block in rec*changed.bz2; do
	if "$build/bzip2" -t "$block" 2>/dev/null; then echo "$block good"; else echo "$block bad"; fi
done

# In place, keeping and not keeping, and refusing to overwrite.
cp text kept
"$build/bzip2" -k kept
check keeps test -f kept -a -f kept.bz2
"$build/bzip2" kept 2>/dev/null
check refuses_overwrite test $? = 1
rm kept.bz2
"$build/bzip2" -v kept 2>verbose.message
check replaces test ! -f kept -a -f kept.bz2
cat verbose.message
"$build/bzip2" -d kept.bz2
check restores cmp -s kept text
"$build/bzip2" --no-such-option text 2>/dev/null
check bad_option test $? = 1
echo check end PASS
