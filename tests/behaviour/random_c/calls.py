# SPDX-License-Identifier: Apache-2.0
"""Calls: through pointers, with variable arguments, with structures by value, by the library."""

from .fragment import feature


@feature("pointers", weight=8, free=True)
def function_pointers(f):
    """Tables of functions, functions that give functions; are two pointers to one function equal?"""
    draw, size = f.draw, f.draw.of(3, 4, 7)
    f.add("typedef u32 (*${n}_fn)(u32, u32);")
    for i in range(size):
        f.add(
            "${static} u32 ${n}_$i(u32 a, u32 b)\n{\n$body\nreturn a ^ b;\n}",
            static=f.static(),
            i=i,
            body=f.statements(["a", "b"], draw.between(1, 2), times=20, returns=True),
        )
    f.add(
        """
static ${const}${n}_fn ${n}_table[$size] = {$names};
${static} ${n}_fn ${n}_choose(u32 a) { return a & 8u ? ${n}_table[a % ${size}u] : ${n}_${one}; }
${static2} u32 ${n}_apply(${n}_fn fn, u32 a, u32 b) { return fn(fn(a, b), a); }""",
        const=draw.of("const ", ""),
        size=size,
        names=", ".join(f"{f.name}_{i}" for i in range(size)),
        static=f.static(),
        static2=f.static(),
        one=draw.below(size),
    )
    f.entry(
        """
u32 sum = x, same = 0;
for (u32 i = 0; i < 20; i++) {
    ${n}_fn fn = ${n}_choose(sum + i);
    sum = ${n}_apply(fn, sum, i);
    for (u32 k = 0; k < ${size}u; k++)
        same += fn == ${n}_table[k] ? k + 1 : 0;
}
return mix(sum, same + (${n}_table[0] == ${n}_0) + 2u * (${n}_choose(0) == ${n}_${one}));""",
        size=size,
        one=draw.below(size),
    )


@feature("pointers", weight=6, free=True)
def objects(f):
    """Structures with tables of methods, and closures as a pointer and a context."""
    f.add(
        """
struct ${n}_object;
struct ${n}_class { u32 (*get)(const struct ${n}_object *); void (*set)(struct ${n}_object *, u32); struct ${n}_object *(*next)(struct ${n}_object *); };
struct ${n}_object { const struct ${n}_class *class; u32 value; struct ${n}_object *link; };
${s1} u32 ${n}_get(const struct ${n}_object *o) { return o->value * 3u; }
${s2} u32 ${n}_get2(const struct ${n}_object *o) { u32 a = o->value; $body return a; }
${s3} void ${n}_set(struct ${n}_object *o, u32 v) { o->value = v; }
${s4} void ${n}_set2(struct ${n}_object *o, u32 v) { if (o->link) o->link->class->set(o->link, v + 1u); o->value ^= v; }
${s5} struct ${n}_object *${n}_next(struct ${n}_object *o) { return o->link; }
static const struct ${n}_class ${n}_a = {${n}_get, ${n}_set2, ${n}_next}, ${n}_b = {${n}_get2, ${n}_set, ${n}_next};
${s6} void ${n}_each(struct ${n}_object *o, void (*what)(void *, struct ${n}_object *), void *context)
{
    for (; o; o = o->class->next(o))
        what(context, o);
}
static void ${n}_sum(void *context, struct ${n}_object *o) { *(u32 *)context = mix(*(u32 *)context, o->class->get(o)); }""",
        body=f.statements(["a"], 2, times=10),
        **{f"s{i}": f.static() for i in range(1, 7)},
    )
    f.entry(
        """
struct ${n}_object list[5];
for (u32 i = 0; i < 5; i++)
    list[i] = (struct ${n}_object){(x >> i) & 1u ? &${n}_a : &${n}_b, x + i, i < 4 ? &list[i + 1] : 0};
u32 sum = 0;
for (u32 i = 0; i < 5; i++)
    list[i].class->set(&list[i], sum ^ i);
${n}_each(list, ${n}_sum, &sum);
return sum;"""
    )


@feature("varargs", weight=14, free=True)
def varargs(f):
    """An interpreter of formats over arguments of every kind, read once, and again from a copy."""
    draw = f.draw
    f.include("stdarg.h")
    f.add(
        """
struct ${n}_small { u32 a; u8 b; };
struct ${n}_large { u64 a[4]; u32 b; };
struct ${n}_floats { double a, b; };
${s1} u32 ${n}_read(const char *format, va_list list)
{
    u32 sum = 0;
    for (; *format; format++) {
        switch (*format) {
        case 'i': sum = mix(sum, (u32)va_arg(list, int)); break;
        case 'l': sum = mix(sum, (u32)(va_arg(list, long) >> 3)); break;
        case 'd': sum = mix(sum, (u32)va_arg(list, double)); break;
        case 'D': sum = mix(sum, (u32)va_arg(list, long double)); break;
        case 's': for (const char *s = va_arg(list, const char *); *s; s++) sum = mix(sum, (u32)(u8)*s); break;
        case 'p': sum = mix(sum, *va_arg(list, const u32 *)); break;
        case 'a': { struct ${n}_small v = va_arg(list, struct ${n}_small); sum = mix(sum, v.a + v.b); break; }
        case 'b': { struct ${n}_large v = va_arg(list, struct ${n}_large); sum = mix(sum, (u32)v.a[3] + v.b); break; }
        case 'c': { struct ${n}_floats v = va_arg(list, struct ${n}_floats); sum = mix(sum, (u32)v.a + (u32)v.b); break; }
        case 'f': sum = mix(sum, va_arg(list, u32 (*)(u32))(sum)); break;
        default: sum++;
        }
        $body
    }
    return sum;
}
${s2} u32 ${n}_many(const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    u32 a = ${n}_read(format, list), b = ${n}_read(format + ${skip}, again);
    va_end(again);
    va_end(list);
    return mix(a, b);
}
${s3} u32 ${n}_last(u32 n, ...)
{
    va_list list;
    u32 sum = n;
    va_start(list, n);
    while (n--)
        sum = sum * 31u + va_arg(list, u32);
    va_end(list);
    return sum;
}""",
        skip=0,
        body=f.statements(["sum"], 1, times=60, calls=False),
        s1=f.static(),
        s2=f.static(),
        s3=f.static(),
    )
    kinds = {
        "i": "(int)(x >> 1)",
        "l": "(long)x << 9",
        "d": "(double)(x & 0xfffffu)",
        "D": "(long double)(x & 0xffffu)",
        "s": '"words"',
        "p": "&word",
        "a": "small",
        "b": "large",
        "c": "floats",
        "f": f.call(8),
    }
    calls = []
    for _ in range(draw.between(1, 4)):
        format_text = "".join(draw.of(*kinds) for _ in range(draw.between(0, 14)))
        calls.append(
            f'sum = mix(sum, {f.name}_many({", ".join([chr(34) + format_text + chr(34)] + [kinds[k] for k in format_text])}));'
        )
    f.entry(
        """
u32 word = x * 7u, sum = 0;
struct ${n}_small small = {x, (u8)(x >> 8)};
struct ${n}_large large = {{1, 2, 3, x}, word};
struct ${n}_floats floats = {(double)(x & 255u), 7.0};
(void)word, (void)small, (void)large, (void)floats;
$calls
return sum + ${n}_last($count, $words);""",
        calls="\n".join(calls),
        count=8,
        words=", ".join(draw.of("x", "sum", draw.word()) for _ in range(8)),
    )


@feature("varargs", weight=8)
def varargs_print(f):
    """Lists handed on to the library: vsnprintf and vsscanf through two functions of the program's own."""
    f.include("stdarg.h", "stdio.h")
    f.add(
        """
${s1} __attribute__((format(printf, 3, 0))) int ${n}_vprint(char *out, size_t size, const char *format, va_list list)
{
    va_list copy;
    va_copy(copy, list);
    int need = vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    return need < (int)size ? vsnprintf(out, size, format, list) : -need;
}
${s2} __attribute__((format(printf, 2, 3))) u32 ${n}_print(u32 sum, const char *format, ...)
{
    char out[${size}];
    va_list list;
    va_start(list, format);
    int length = ${n}_vprint(out, sizeof(out), format, list);
    va_end(list);
    for (int i = 0; i < length; i++)
        sum = mix(sum, (u32)(u8)out[i]);
    $body
    return sum + (u32)length;
}
${s3} int ${n}_scan(const char *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int got = vsscanf(text, format, list);
    va_end(list);
    return got;
}""",
        size=f.draw.of(24, 64, 200),
        s1=f.static(),
        s2=f.static(),
        s3=f.static(),
        body=f.statements(["sum"], 1, times=4),
    )
    f.entry(
        """
u32 a = 0, b = 0;
int got = ${n}_scan("12 beef rest", "%u %x", &a, &b);
u32 sum = ${n}_print(x, "%u-%x", a, b) + (u32)got;
sum = ${n}_print(sum, "%d %5.2f %s %c %ld", (int)(x & 0xffffu), (double)(x & 0xffu) / 4.0, "text", 'c', (long)x);
return ${n}_print(sum, "%*d|%-8s|%08x|%.3Lf", 6, (int)(x & 15u), "ab", sum, (long double)(x & 7u));"""
    )


FIELDS = [
    ("u8", "(u8)x"),
    ("u16", "(u16)(x >> 3)"),
    ("u32", "x ^ 5u"),
    ("u64", "(u64)x * 3u"),
    ("float", "(float)(x & 255u)"),
    ("double", "(double)(x & 1023u)"),
    ("i8", "(i8)(x & 63u)"),
    ("long double", "(long double)(x & 31u)"),
]


@feature("structs", weight=12, free=True)
def structs(f):
    """Structures of all sizes and mixtures as arguments and results, directly and through pointers."""
    draw, kinds = f.draw, f.draw.between(2, 4)
    for k in range(kinds):
        fields = [draw.of(*FIELDS) for _ in range(draw.magnitude(1, 9))]
        array = draw.of(0, 0, 0, 3, 20)
        values = dict(
            k=k,
            members=" ".join(f"{t} m{i};" for i, (t, _) in enumerate(fields)) + (f" u8 tail[{array}];" if array else ""),
            init=", ".join(v for _, v in fields),
            change=draw.of(*[f"v.m{i} = (__typeof__(v.m{i}))(v.m{i} + 1);" for i in range(len(fields))]),
            sum=" + ".join(f"(u32)v.m{i}" for i in range(len(fields))),
            tail="v.tail[1] = (u8)x;" if array else "",
            s1=f.static(),
            s2=f.static(),
            s3=f.static(),
            other=max(k - 1, 0),
            body=f.statements(["x"], 1, times=4),
        )
        f.add(
            """
struct ${n}_s$k { $members };
${s1} struct ${n}_s$k ${n}_make$k(u32 x) { struct ${n}_s$k v = {$init}; $tail return v; }
${s2} struct ${n}_s$k ${n}_change$k(u32 a, struct ${n}_s$k v, double d, struct ${n}_s$other w, struct ${n}_s$k u)
{
    u32 x = a + (u32)d + (u32)w.m0 + (u32)u.m0;
    $change
    $body
    return x & 1u ? v : ${n}_make$k(x);
}
${s3} u32 ${n}_sum$k(struct ${n}_s$k v) { return $sum; }
typedef struct ${n}_s$k (*${n}_p$k)(u32);""",
            **values,
        )
    steps = "\n".join(
        f"""
{f.name}_p{k} p{k} = {f.name}_make{k};
struct {f.name}_s{k} v{k} = {f.name}_change{k}(x, p{k}(sum), 2.5, {f.name}_make{max(k - 1, 0)}(sum), p{k}(x));
sum = mix(sum, {f.name}_sum{k}(v{k}));"""
        for k in range(kinds)
    )
    f.entry("u32 sum = x;\n$steps\nreturn sum;", steps=steps)


@feature("callbacks", weight=8)
def sorting(f):
    """qsort, bsearch and their comparison functions, with work in them."""
    size = f.draw.between(5, 120)
    f.include("stdlib.h", "string.h")
    f.safe = False
    f.spend(60 * size)
    f.add(
        """
struct ${n}_row { u32 key; u16 order; char name[${name}]; };
static u32 ${n}_compared;
${s1} int ${n}_by_key(const void *a, const void *b)
{
    const struct ${n}_row *l = a, *r = b;
    u32 v = ++${n}_compared;
    $body
    ${n}_compared = v > 5u ? ${n}_compared : 5u;
    return l->key < r->key ? -1 : l->key > r->key ? 1 : (int)l->order - (int)r->order;
}
${s2} int ${n}_by_name(const void *a, const void *b, void *sum)
{
    *(u32 *)sum += 1;
    int order = strcmp(((const struct ${n}_row *)a)->name, ((const struct ${n}_row *)b)->name);
    return order ? order : ${n}_by_key(a, b);
}""",
        name=f.draw.of(6, 9, 30),
        s1=f.static(),
        s2=f.static(),
        body=f.statements(["v"], 1, times=20 * size, loops=False, calls=False),
    )
    f.entry(
        """
struct ${n}_row rows[${size}];
u32 sum = x;
memset(rows, 0, sizeof(rows));
for (u32 i = 0; i < ${size}u; i++) {
    rows[i].key = (x = x * 69069u + 1u) >> 20;
    rows[i].order = (u16)i;
    rows[i].name[0] = (char)('a' + (x >> 28));
    rows[i].name[1] = (char)('a' + ((x >> 24) & 15u));
}
qsort(rows, ${size}, sizeof(rows[0]), ${n}_by_key);
for (u32 i = 0; i < ${size}u; i++)
    sum = mix(sum, rows[i].key + rows[i].order);
const struct ${n}_row *found = bsearch(&rows[${size} / 2], rows, ${size}, sizeof(rows[0]), ${n}_by_key);
sum += found ? (u32)(found - rows) : 7777u;
u32 calls = 0;
qsort_r(rows, ${size}, sizeof(rows[0]), ${n}_by_name, &calls);
for (u32 i = 0; i < ${size}u; i++)
    sum = mix(sum, rows[i].order);
return sum + calls;""",
        size=size,
    )


@feature("callbacks", weight=4)
def search_tree(f):
    """tsearch, twalk and lfind: the library calls back into the program."""
    f.include("search.h", "stdlib.h")
    f.safe = False
    f.spend(4000)
    f.add(
        """
static u32 ${n}_keys[40], ${n}_sum;
${s1} int ${n}_compare(const void *a, const void *b) { u32 l = *(const u32 *)a, r = *(const u32 *)b; return (l > r) - (l < r); }
${s2} void ${n}_visit(const void *node, VISIT which, int depth)
{
    if (which == postorder || which == leaf)
        ${n}_sum = mix(${n}_sum, **(u32 *const *)node + (u32)depth);
}
static void ${n}_nothing(void *key) { ${n}_sum += *(u32 *)key & 1u; }""",
        s1=f.static(),
        s2=f.static(),
    )
    f.entry(
        """
void *root = NULL;
${n}_sum = x;
for (u32 i = 0; i < 40; i++) {
    ${n}_keys[i] = (x = x * 22695477u + 1u) >> 18;
    if (!tsearch(&${n}_keys[i], &root, ${n}_compare))
        abort();
}
size_t count = 40;
u32 *found = lfind(&${n}_keys[17], ${n}_keys, &count, sizeof(u32), ${n}_compare);
twalk(root, ${n}_visit);
${n}_sum += tfind(&${n}_keys[3], &root, ${n}_compare) ? 5u : 0u;
tdestroy(root, ${n}_nothing);
return ${n}_sum + (u32)(found - ${n}_keys);"""
    )


@feature("pointers", weight=5, free=True)
def conventions(f):
    """Functions with other calling conventions, called directly and through pointers."""
    draw = f.draw
    names = draw.some(3, ["ms_abi", "sysv_abi", "regcall", "preserve_most", "preserve_none", "vectorcall"])
    for i, name in enumerate(names):
        f.add(
            """
__attribute__(($cc, noinline)) static u64 ${n}_f$i(u32 a, u64 b, double c, u32 d, u32 e, u32 g, u32 h, u64 j)
{
    u32 v = a ^ d ^ e ^ g ^ h;
    $body
    return v + b + (u64)c + j * 3u;
}
typedef __attribute__(($cc)) u64 (*${n}_t$i)(u32, u64, double, u32, u32, u32, u32, u64);
static volatile ${n}_t$i ${n}_v$i = ${n}_f$i;""",
            i=i,
            cc=name,
            body=f.statements(["v"], 1, times=2),
        )
    f.entry(
        "u64 sum = x;\n"
        + "\n".join(
            f"sum = sum * 31u + ${{n}}_f{i}(x, sum, 3.0, 4, 5, 6, 7, sum >> 3);\nsum ^= ${{n}}_v{i}((u32)sum, 1, 2.0, x, 4, 5, 6, 7);"
            for i in range(len(names))
        )
        + "\nreturn (u32)(sum ^ sum >> 32);"
    )
