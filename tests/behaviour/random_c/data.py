# SPDX-License-Identifier: Apache-2.0
"""Data: bit-fields, unions, wide and floating numbers, vectors, arrays whose size is known late, strings."""

from .fragment import feature


@feature("bit-fields", weight=14, free=True)
def bit_fields(f):
    """Signed and unsigned, packed, crossing words, beside ordinary members; in arrays, by value, in loops."""
    draw, size = f.draw, f.draw.between(3, 10)
    members, names = [], []
    for i in range(size):
        kind, most = draw.of(
            ("u32", 32), ("i32", 32), ("u64", 64), ("i64", 64), ("u8", 8), ("u16", 16), ("_Bool", 1), ("int", 32)
        )
        name = f"m{i}"
        if draw.chance(15):
            members.append(f"{draw.of('u8', 'u16', 'u32')} {name};")
        else:
            members.append(f"{kind} {name} : {draw.between(1, most)};")
        names.append(name)
        if draw.chance(10):
            members.append(f"{draw.of('u32', 'u8')} : {draw.of(0, 3, 5)};")
    packed = draw.of("", "", "__attribute__((packed)) ", "__attribute__((packed, aligned(2))) ")
    reads = " ".join(f"sum = mix(sum, (u32)v.{name});" for name in names)
    writes = "\n".join(
        f"p->{name} {draw.of('=', '^=', '=', '=')} (__typeof__(+p->{name}))({f.expression(['a'], 1)});"
        for name in draw.some(draw.between(2, size), names)
    )
    f.add(
        """
struct $packed${n}_bits { $members };
union ${n}_view { struct ${n}_bits bits; u8 bytes[sizeof(struct ${n}_bits)]; };
${s1} u32 ${n}_read(struct ${n}_bits v) { u32 sum = sizeof(v); $reads return sum; }
${s2} void ${n}_write(struct ${n}_bits *p, u32 a)
{
    $writes
    if ($cond)
        p->$one = (__typeof__(+p->$one))((u64)p->$two + 1u);
}
static struct ${n}_bits ${n}_global[3];""",
        packed=packed,
        members=" ".join(members),
        reads=reads,
        writes=writes,
        s1=f.static(),
        s2=f.static(),
        cond=f.condition(["a"]),
        one=draw.of(*names),
        two=draw.of(*names),
    )
    f.safe = False
    f.entry(
        """
u32 sum = x;
union ${n}_view view;
__builtin_memset(&view, 0, sizeof(view));
for (u32 i = 0; i < ${rounds}u; i++) {
    ${n}_write(&${n}_global[i % 3u], sum);
    ${n}_write(&view.bits, x + i);
    sum = mix(sum, ${n}_read(${n}_global[(i + 1u) % 3u]));
}
for (u32 i = 0; i < sizeof(view.bytes); i++)
    sum = mix(sum, view.bytes[i]);
return sum + ${n}_read(view.bits);""",
        rounds=draw.between(2, 20),
    )


@feature("unions", weight=6, free=True)
def unions(f):
    """The same bytes as numbers of several types."""
    f.add(
        """
union ${n}_any { u64 word; double real; struct { u32 low, high; }; u8 bytes[8]; float reals[2]; i16 shorts[4]; };
${static} union ${n}_any ${n}_turn(union ${n}_any v, u32 how)
{
    u32 a = v.low;
    $body
    switch (how & 3u) {
    case 0: v.bytes[how >> 2 & 7u] ^= 0x55; break;
    case 1: v.shorts[how >> 2 & 3u]++; break;
    case 2: v.low = a; break;
    default: v.word = v.word << 9 | v.word >> 55;
    }
    return v;
}
${static2} u32 ${n}_pun(float value) { u32 bits; __builtin_memcpy(&bits, &value, sizeof(bits)); return bits; }""",
        static=f.static(),
        static2=f.static(),
        body=f.statements(["a"], 2, times=20),
    )
    f.entry(
        """
union ${n}_any v = {.word = (u64)x * 0x100000001ull};
for (u32 i = 0; i < 20; i++)
    v = ${n}_turn(v, x + i * 7u);
return v.low ^ v.high ^ ${n}_pun((float)(x & 0xffffu) / 16.0f);"""
    )


@feature("numbers", weight=8, free=True)
def wide_numbers(f):
    """__int128, 64 bits, long double, overflow that is asked for."""
    draw = f.draw
    f.add(
        """
${s1} unsigned __int128 ${n}_power(unsigned __int128 base, u32 exponent)
{
    unsigned __int128 result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1u)
            result *= base;
    return result;
}
${s2} __int128 ${n}_divide(__int128 a, i64 b) { return b == 0 || b == -1 ? a : a / b + a % b; }
${s3} u32 ${n}_checked(i32 a, i32 b)
{
    i32 sum, product, difference;
    u32 flags = (u32)__builtin_add_overflow(a, b, &sum) | (u32)__builtin_mul_overflow(a, b, &product) << 1 | (u32)__builtin_sub_overflow(a, b, &difference) << 2;
    return mix((u32)sum ^ (u32)product ^ (u32)difference, flags);
}
${s4} long double ${n}_series(u32 count) { long double sum = 0; for (u32 i = 1; i <= count; i++) sum += (long double)i / 2.0L; return sum; }""",
        s1=f.static(),
        s2=f.static(),
        s3=f.static(),
        s4=f.static(),
    )
    f.entry(
        """
unsigned __int128 p = ${n}_power((unsigned __int128)x << ${shift} | 3u, ${exponent}u);
__int128 q = ${n}_divide((__int128)(p >> 2), (i64)((u64)x * x) - 1000);
u32 sum = (u32)p ^ (u32)(p >> 64) ^ (u32)(p >> 96) ^ (u32)q ^ (u32)(q >> 70);
$body
return sum + ${n}_checked((i32)x, (i32)sum) + (u32)${n}_series(x & 127u) + (u32)((__int128)x * -5 >> 3);""",
        shift=draw.between(0, 70),
        exponent=draw.between(1, 40),
        body=f.statements(["sum"], 1),
    )


@feature("numbers", weight=6)
def floating(f):
    """Real and complex numbers, exact ones only; how they are printed."""
    f.include("complex.h", "math.h", "stdio.h")
    f.libraries.add("-lm")
    f.add(
        """
${s1} double _Complex ${n}_square(double _Complex z, double _Complex c) { return z * z + c; }
${s2} float _Complex ${n}_swap(float _Complex z) { return cimagf(z) + crealf(z) * 1.0if; }
${s3} double ${n}_dot(const double *a, const double *b, u32 count) { double sum = 0; for (u32 i = 0; i < count; i++) sum += a[i] * b[i]; return sum; }
${s4} u32 ${n}_class(double v)
{
    if (isnan(v))
        return 1;
    if (isinf(v))
        return v > 0 ? 2 : 3;
    return v == 0 ? 4 : fabs(v) < 1 ? 5 : 6;
}""",
        **{f"s{i}": f.static() for i in range(1, 5)},
    )
    f.entry(
        """
double a[16], b[16];
for (u32 i = 0; i < 16; i++) {
    a[i] = (double)((x >> i) & 63u);
    b[i] = (double)i / 4.0;
}
double _Complex z = 0, c = (double)(x & 3u) + (double)(x >> 2 & 3u) * 1.0i;
for (u32 i = 0; i < 4; i++)
    z = ${n}_square(z, c);
float _Complex w = ${n}_swap((float)(x & 7u) + 2.0if);
volatile double zero = 0;
char text[80];
int length = snprintf(text, sizeof(text), "%.6g %.3f %a", ${n}_dot(a, b, 16), sqrt(a[3]), (double)(x & 255u) / 8.0);
u32 sum = (u32)length + ${n}_class(a[0] / zero) * 5u + ${n}_class(zero / zero) + ${n}_class(creal(z));
for (int i = 0; i < length; i++)
    sum = mix(sum, (u32)(u8)text[i]);
return sum + (u32)(i64)fmod(fabs(cimag(z)), 1000.0) + (u32)crealf(w) * 3u + (u32)floor(a[1] / 3.0) + (u32)lround(b[5]);"""
    )


@feature("numbers", weight=5, free=True)
def vectors(f):
    """Vectors of the compiler's."""
    f.add(
        """
typedef u32 ${n}_v4 __attribute__((vector_size(16)));
typedef float ${n}_f4 __attribute__((vector_size(16)));
typedef u16 ${n}_v16 __attribute__((vector_size(32)));
${s1} ${n}_v4 ${n}_step(${n}_v4 v, ${n}_v4 w) { return (v ^ w << 3) + __builtin_shufflevector(v, w, 1, 4, 3, 6); }
${s2} u32 ${n}_fold(${n}_v4 v) { return v[0] ^ v[1] * 3u ^ v[2] * 5u ^ v[3] * 7u; }
${s3} ${n}_f4 ${n}_float(${n}_v4 v) { return __builtin_convertvector(v & 255u, ${n}_f4) * 0.5f; }""",
        s1=f.static(),
        s2=f.static(),
        s3=f.static(),
    )
    f.entry(
        """
${n}_v4 v = {x, x + 1u, x ^ 7u, ~x}, w = {1, 2, 3, 4};
u32 sum = 0;
for (u32 i = 0; i < ${count}u; i++) {
    v = ${n}_step(v, w);
    ${n}_v4 more = (${n}_v4)(v > w);
    w = (v & more) | ((w + i) & ~more);
    $body
}
${n}_v16 wide = {0};
for (u32 i = 0; i < 16; i++)
    wide[i] = (u16)(x >> i);
wide = wide * wide + (u16)3;
${n}_f4 reals = ${n}_float(v);
return sum ^ ${n}_fold(v) ^ ${n}_fold(w) ^ wide[x & 15u] ^ (u32)(reals[1] + reals[2]);""",
        count=f.draw.between(1, 20),
        body=f.statements(["sum"], 1, times=20, loops=False),
    )


@feature("stack", weight=9, free=True)
def late_arrays(f):
    """Arrays whose size is known late: alloca, arrays of variable length in loops, of two dimensions, as parameters."""
    draw = f.draw
    f.spend(8000)
    f.add(
        """
${s1} u32 ${n}_rows(u32 rows, u32 columns, u32 grid[rows][columns])
{
    u32 sum = 0;
    for (u32 i = 0; i < rows; i++)
        for (u32 j = 0; j < columns; j++)
            sum = mix(sum, grid[i][j] + (u32)sizeof(grid[i]));
    return sum;
}
${s2} u32 ${n}_stack(u32 count, u32 v)
{
    u32 *first = __builtin_alloca((count + 1u) * sizeof(u32));
    u32 sum = 0;
    for (u32 i = 0; i <= count; i++)
        first[i] = v * i;
    for (u32 i = 0; i < 4; i++) {
        u8 *more = __builtin_alloca(i * 8u + 16u);
        __builtin_memset(more, (int)i, i * 8u + 16u);
        sum += more[i] + first[count - i % (count + 1u)];
        $body
    }
    return sum;
}
${s3} u32 ${n}_loop(u32 v)
{
    u32 sum = v;
    for (u32 i = 1; i < ${rounds}u; i++) {
        u32 grid[i][i + 1u];
        char text[(sum & 15u) + i];
        for (u32 j = 0; j < i * (i + 1u); j++)
            grid[j / (i + 1u)][j % (i + 1u)] = j ^ sum;
        __builtin_memset(text, (int)(i & 127u), sizeof(text));
        if ($cond)
            continue;
        sum += ${n}_rows(i, i + 1u, grid) + (u32)text[sizeof(text) - 1u] + (u32)sizeof(grid);
        if (sum % 100u == 7u)
            break;
    }
    return sum;
}""",
        s1=f.static(),
        s2=f.static(recursive=True),
        s3=f.static(),
        rounds=draw.between(2, 8),
        cond=f.condition(["sum", "i"]),
        body=f.statements(["sum"], 1, times=4, loops=False),
    )
    f.entry("return ${n}_loop(x) ^ ${n}_stack(x & 31u, x);")


@feature("memory", weight=8)
def lists(f):
    """Lists and buffers on the heap; strings, cut and joined by the library."""
    f.include("stdlib.h", "string.h", "stdio.h")
    f.spend(6000)
    f.add(
        """
struct ${n}_item { struct ${n}_item *next; u32 length; char text[]; };
${s1} struct ${n}_item *${n}_cons(const char *text, struct ${n}_item *next)
{
    size_t length = strlen(text);
    struct ${n}_item *item = malloc(sizeof(*item) + length + 1);
    if (!item)
        abort();
    item->next = next;
    item->length = (u32)length;
    memcpy(item->text, text, length + 1);
    return item;
}
${s2} struct ${n}_item *${n}_reverse(struct ${n}_item *list)
{
    struct ${n}_item *done = NULL, *next;
    for (; list; list = next) {
        next = list->next;
        list->next = done;
        done = list;
    }
    return done;
}
${s3} char *${n}_join(const struct ${n}_item *list, const char *between)
{
    size_t size = 1;
    for (const struct ${n}_item *i = list; i; i = i->next)
        size += i->length + strlen(between);
    char *out = malloc(size), *at = out;
    if (!out)
        abort();
    *at = 0;
    for (; list; list = list->next)
        at += sprintf(at, "%s%s", list->text, list->next ? between : "");
    return out;
}""",
        s1=f.static(),
        s2=f.static(),
        s3=f.static(),
    )
    f.entry(
        """
char words[] = "one,two;three four,,five;$word", *state, number[24];
struct ${n}_item *list = NULL;
for (char *w = strtok_r(words, ",; ", &state); w; w = strtok_r(NULL, ",; ", &state))
    list = ${n}_cons(w, list);
snprintf(number, sizeof(number), "%u/%d", x, (int)(x & 0xffu) - 100);
list = ${n}_reverse(${n}_cons(number, list));
char *joined = ${n}_join(list, ${between});
u32 sum = 0;
for (char *c = joined; *c; c++)
    sum = mix(sum, (u32)(u8)*c);
char *at = strstr(joined, "three");
sum += at ? (u32)strcspn(at, "f") : 1000u;
char *grown = realloc(joined, strlen(joined) + 40);
if (!grown)
    abort();
strcat(grown, "-end");
sum += (u32)strlen(grown) * 3u + (u32)(strrchr(grown, 'e') - grown);
free(grown);
while (list) {
    struct ${n}_item *next = list->next;
    sum = mix(sum, list->length);
    free(list);
    list = next;
}
$body
return sum;""",
        word="x" * f.draw.between(1, 30),
        between=f.draw.of('"-"', '", "', '""'),
        body=f.statements(["sum"], 1),
    )


@feature("memory", weight=5, free=True)
def globals_(f):
    """Global data of all kinds, initialised with addresses, volatile, in sections of their own, static in functions."""
    draw = f.draw
    f.safe = False
    f.add(
        """
static u32 ${n}_array[16] = {[3] = 5, [7 ... 9] = 2};
static u32 *${n}_pointer = &${n}_array[4], **${n}_indirect = &${n}_pointer;
static volatile u32 ${n}_volatile = $word;
static const char *const ${n}_names[] = {"zero", "one", "two", [4] = "four"};
static __attribute__((section("$section"))) u32 ${n}_placed = $word2;
static __attribute__((aligned(64))) struct { u8 a; u64 b; } ${n}_aligned = {1, 2};
${s1} u32 ${n}_counter(u32 step) { static u32 count = 3; static u32 *last; if (last) *last += step; last = &${n}_array[count++ & 15u]; return count; }
${s2} u32 ${n}_touch(u32 v)
{
    ${n}_volatile += v;
    u32 first = ${n}_volatile, second = ${n}_volatile ^ 1u;
    ${n}_placed = mix(${n}_placed, first - second);
    **${n}_indirect ^= v;
    *${n}_indirect = &${n}_array[v & 15u];
    $body
    return ${n}_volatile;
}""",
        word=draw.word(),
        word2=draw.word(),
        section=draw.of("mydata", ".data.own", "own_section"),
        s1=f.static(),
        s2=f.static(),
        body=f.statements(["v", f"{f.name}_placed"], 2, times=20),
    )
    f.entry(
        """
u32 sum = x;
for (u32 i = 0; i < 10; i++)
    sum = mix(sum, ${n}_touch(sum) + ${n}_counter(i));
for (u32 i = 0; i < 16; i++)
    sum = mix(sum, ${n}_array[i]);
const char *name = ${n}_names[x % 5u];
${n}_aligned.b += sum;
return sum + (name ? (u32)name[1] : 3u) + ${n}_placed + (u32)((u64)&${n}_aligned & 63u) + (u32)${n}_aligned.b;"""
    )
