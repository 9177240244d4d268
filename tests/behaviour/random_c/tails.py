# SPDX-License-Identifier: Apache-2.0
"""Tail calls that the source demands, tail calls that optimisers make, recursion.

What `musttail` demands is made so often that the stack of any usual size overflows where it is dropped, also without
optimisation."""

from .fragment import feature

DEEP = 300_000  # times the smallest frame of -O0 (48 bytes): more than 8 MB


# Of recursion that is a loop only where it is optimised.
DEPTH = """
#if defined __OPTIMIZE__ && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
enum { ${n}_DEPTH = $count };
#else
enum { ${n}_DEPTH = 500 };
#endif"""


def deep(f, most=2_000_000):
    """How often a tail call is made, and that it is paid for."""
    count = f.draw.magnitude(DEEP, most)
    f.budget += 12 * count
    f.spend(12 * count)
    return count


def sometimes(f, count, variable, counter="n"):
    """A call of something else, once in a while."""
    if f.draw.chance(40):
        return ""
    callee = f.callee(count // 65536 + 1)
    return f"if (({counter} & 0xffffu) == {f.draw.below(65536)}u) {variable} ^= {callee}({variable});" if callee else ""


def convention(f):
    """Not preserve_most and preserve_all: clang-19 itself loses the arguments of tail calls there."""
    return f.draw.weighted(
        [(8, ""), (1, "__attribute__((preserve_none)) "), (1, "__attribute__((ms_abi)) "), (1, "__attribute__((regcall)) ")]
    )


@feature("musttail", weight=14, free=True)
def tail_self(f):
    count = deep(f)
    f.add(
        """
${static} ${cc}u32 ${n}_loop(u32 n, u32 a, u32 b)
{
    if (n == 0)
        return mix(a, b);
    $body
    $call
    MUSTTAIL return ${n}_loop(n - 1, a * 3u + b, b ^ n);
}""",
        static=f.static(),
        cc=convention(f),
        body=f.statements(["a", "b"], f.draw.between(0, 3), times=1, loops=False, calls=False),
        call=sometimes(f, count, "a"),
    )
    f.entry("return ${n}_loop(${count}u + (x & 3u), x, 1u);", count=count)


# type, name, what is passed on; @ is the parameter's number
PARAMETERS = [
    ("u32", "a@", "a@ * 5u + n"),
    ("u64", "b@", "b@ ^ (u64)n << 7"),
    ("double", "d@", "d@ + 1.0"),
    ("u8", "c@", "(u8)(c@ + 3)"),
    ("float", "e@", "e@ * 0.5f + 2.0f"),
    ("const char *", "s@", "s@"),
    ("struct ${n}_pair", "p@", "(struct ${n}_pair){p@.b + 1u, p@.a}"),
    ("i16", "g@", "(i16)(g@ ^ 77)"),
]
RESULTS = {
    "u32": "@",
    "u64": "(u64)@ << 3",
    "double": "(double)(@ & 0xffffu)",
    "struct ${n}_pair": "(struct ${n}_pair){@, 7u}",
}
READ = {"u32": "r", "u64": "(u32)(r >> 3)", "double": "(u32)r", "struct ${n}_pair": "r.a * 3u + r.b"}


def summed(parameters):
    """What a function of these parameters gives in the end, as a u32."""
    parts = []
    for kind, name in parameters:
        if kind == "const char *":
            parts.append(f"(u32)(u8){name}[0]")
        elif "pair" in kind:
            parts.append(f"{name}.a + {name}.b")
        elif kind in ("double", "float"):
            parts.append(f"({name} > 40.0 ? 3u : 5u)")
        else:
            parts.append(f"(u32){name}")
    return " + ".join(parts)


@feature("musttail", weight=16, free=True)
def tail_mutual(f):
    """Several functions in turn, with parameters of all kinds, some on the stack."""
    draw, count = f.draw, deep(f, 1_500_000)
    # structures in registers only: on the stack, LLVM 19 writes some over others that are still to be read (plain
    # clang's results differ from one optimisation to the next)
    chosen = [draw.of(*(p for p in PARAMETERS if i < 3 or "pair" not in p[0])) for i in range(draw.between(1, 11))]
    parameters = [(f.fill(kind), name.replace("@", str(i))) for i, (kind, name, _) in enumerate(chosen)]
    passed = ", ".join(["n - 1"] + [f.fill(how).replace("@", str(i)) for i, (_, _, how) in enumerate(chosen)])
    result = draw.of(*RESULTS)
    size, cc, kind = (
        draw.between(2, 5),
        convention(f),
        draw.of("static", "static", '__attribute__((visibility("hidden")))', ""),
    )
    head = f"{kind} {cc}{f.fill(result)} ${{n}}_%d(u32 n, {', '.join(f'{k} {v}' for k, v in parameters)})"
    f.add("struct ${n}_pair { u32 a, b; };\n" + "\n".join(head % i + ";" for i in range(size)))
    words = [v for k, v in parameters if k == "u32"]
    for i in range(size):
        others = [j for j in range(size) if j != i] if draw.chance(70) else list(range(size))
        first, second = draw.of(*others), draw.of(*others)
        f.add(
            head % i
            + """
{
    if (n == 0)
        return $result;
    $body
    $call
    if ((n & ${mask}u) == ${value}u)
        MUSTTAIL return ${n}_$first($passed);
    MUSTTAIL return ${n}_$second($passed);
}""",
            result=f.fill(RESULTS[result]).replace("@", f"({summed(parameters)} + {i}u)"),
            first=first,
            second=second,
            passed=passed,
            mask=draw.of(1, 3, 7),
            value=draw.below(2),
            call=sometimes(f, count, words[0]) if words else "",
            body=f.statements(words, 1, loops=False, calls=False) if words and draw.chance(50) else "",
        )
    values = {
        "u32": "x",
        "u64": "(u64)x",
        "double": "3.0",
        "u8": "(u8)x",
        "float": "1.0f",
        "const char *": '"text"',
        "i16": "(i16)x",
    }
    f.entry(
        "$result r = ${n}_0(${count}u, $values);\nreturn $read;",
        result=f.fill(result),
        count=count,
        read=READ[result],
        values=", ".join(values.get(k, f.fill("(struct ${n}_pair){x, 2u}")) for k, _ in parameters),
    )


@feature("musttail", weight=14, free=True)
def tail_table(f):
    """An interpreter whose operations tail-call the next one through a table."""
    draw, count, size, cc = f.draw, deep(f, 1_500_000), f.draw.of(4, 8), convention(f)
    f.add(
        """
struct ${n}_vm { u32 stack[16]; u32 top; };
typedef ${cc}u32 ${n}_op(struct ${n}_vm *vm, const u8 *code, u32 pc, u32 acc, u32 n);
$heads
static ${n}_op *$const ${n}_table[$size] = {$names};
static const u8 ${n}_code[64] = {$bytes};""",
        cc=cc,
        size=size,
        const=draw.of("const", ""),
        heads="\n".join(f"static {f.name}_op {f.name}_op{i};" for i in range(size)),
        names=", ".join(f"{f.name}_op{i}" for i in range(size)),
        bytes=", ".join(str(draw.below(size)) for _ in range(64)),
    )
    for i in range(size):
        f.add(
            """
static ${cc}u32 ${n}_op$i(struct ${n}_vm *vm, const u8 *code, u32 pc, u32 acc, u32 n)
{
    if (n == 0)
        return acc + vm->stack[vm->top & 15u];
    $what
    $call
    MUSTTAIL return ${n}_table[code[pc & 63u]](vm, code, $next, acc, n - 1);
}""",
            i=i,
            cc=cc,
            what=draw.of(
                "vm->stack[vm->top++ & 15u] = acc;",
                "acc ^= vm->stack[--vm->top & 15u];",
                "acc = acc * 33u + pc;",
                "if (acc & 1u) pc += 3u;",
                "acc += vm->stack[acc & 15u];",
                "vm->stack[pc & 15u] ^= n;",
                f.statements(["acc", "pc"], 1, loops=False, calls=False),
            ),
            call=sometimes(f, count, "acc"),
            next=draw.of("pc + 1u", "pc + 1u", "pc + (acc & 7u)"),
        )
    f.entry(
        "struct ${n}_vm vm = {{x}, 1};\nreturn ${n}_table[x % ${size}u](&vm, ${n}_code, 1, x, ${count}u);",
        size=size,
        count=count,
    )


@feature("musttail", weight=8)
def tail_void(f):
    """Continuations: tail calls without a result, through pointers in a structure, with calls between them."""
    count = deep(f, 1_000_000)
    f.include("string.h")
    f.add(
        """
struct ${n}_task { void (*next)(struct ${n}_task *, u32); u32 sum; char text[16]; };
static void ${n}_step(struct ${n}_task *task, u32 n);
static void ${n}_end(struct ${n}_task *task, u32 n) { task->sum = mix(task->sum, n); }
${static} void ${n}_note(struct ${n}_task *task, u32 n)
{
    task->sum += (u32)strlen(task->text);
    task->text[n & 7u] = (char)('a' + (n & 15u));
    $call
    if (n == 0)
        MUSTTAIL return ${n}_end(task, n);
    MUSTTAIL return task->next(task, n - 1);
}
static void ${n}_step(struct ${n}_task *task, u32 n)
{
    u32 a = task->sum, b = n;
    $body
    task->sum = a ^ b;
    task->next = a & 1u ? ${n}_note : ${n}_step;
    if (n == 0) {
        MUSTTAIL return ${n}_end(task, n);
    }
    MUSTTAIL return ${n}_note(task, n - 1);
}""",
        static=f.static(),
        call=sometimes(f, count, "task->sum"),
        body=f.statements(["a", "b"], 2, loops=False, calls=False),
    )
    f.entry('struct ${n}_task task = {${n}_step, x, "text"};\n${n}_step(&task, ${count}u);\nreturn task.sum;', count=count)


@feature("musttail", weight=8, free=True)
def tail_across(f):
    """Tail calls between functions of two files, and through a pointer in a third place."""
    count = deep(f, 1_000_000)
    f.add(
        """
u32 ${n}_here(u32 n, u32 a, u32 b);
u32 ${n}_there(u32 n, u32 a, u32 b);
extern u32 (*${n}_pointer)(u32, u32, u32);
u32 ${n}_here(u32 n, u32 a, u32 b)
{
    if (n == 0)
        return a + b;
    $one
    $call
    if ((n & 7u) == 3u)
        MUSTTAIL return ${n}_pointer(n - 1, b, a);
    MUSTTAIL return ${n}_there(n - 1, a * 7u + 1u, b);
}""",
        one=f.statements(["a", "b"], 1, loops=False, calls=False),
        call=sometimes(f, count, "b"),
    )
    f.add_elsewhere(
        """
u32 ${n}_here(u32 n, u32 a, u32 b);
u32 ${n}_there(u32 n, u32 a, u32 b);
extern u32 (*${n}_pointer)(u32, u32, u32);
u32 (*${n}_pointer)(u32, u32, u32) = ${n}_there;
u32 ${n}_there(u32 n, u32 a, u32 b)
{
    if (n == 0)
        return a ^ b;
    $two
    MUSTTAIL return ${n}_here(n - 1, a ^ n, b + a);
}""",
        two=f.statements(["a", "b"], 1, loops=False, calls=False),
    )
    f.entry("return ${n}_here(${count}u, x, 3u);", count=count)


@feature("recursion", weight=5, free=True)
def sibling_across(f):
    """The same, not demanded: a loop wherever clang optimises."""
    count = deep(f, 600_000)
    f.safe = False
    f.frames = 510
    f.add(
        DEPTH
        + """
u32 ${n}_ping(u32 n, u32 a);
u32 ${n}_pong(u32 n, u32 a);
u32 ${n}_ping(u32 n, u32 a)
{
    if (n == 0)
        return a;
    $body
    return ${n}_pong(n - 1, a * 3u + 1u);
}
static volatile u32 ${n}_sink;""",
        count=count,
        body=f.statements(["a"], 1, loops=False, calls=False),
    )
    f.add_elsewhere(
        """
u32 ${n}_ping(u32 n, u32 a);
u32 ${n}_pong(u32 n, u32 a);
u32 ${n}_pong(u32 n, u32 a) { return n == 0 ? ~a : ${n}_ping(n - 1, a ^ n); }"""
    )
    f.entry("${n}_sink = ${n}_ping(${n}_DEPTH, x);\nreturn ${n}_ping(500, x);")


@feature("musttail", weight=6)
def tail_library(f):
    """Functions that end in a call of the library, demanded and not."""
    f.include("string.h", "stdlib.h")
    f.add(
        """
${s1} size_t ${n}_length(const char *text) { $must return strlen(text); }
${s2} int ${n}_compare(const void *a, const void *b, size_t n) { $must return memcmp(a, b, n); }
${s3} unsigned long ${n}_number(const char *text, char **end, int base) { $must return strtoul(text, end, base); }
${s4} void ${n}_free(void *memory) { $must return free(memory); }
${s5} char *${n}_find(const char *text, int c) { $must return strchr(text, c); }""",
        must=f.draw.of("MUSTTAIL", "MUSTTAIL", ""),
        **{f"s{i}": f.static() for i in range(1, 6)},
    )
    f.entry(
        """
char text[24];
for (u32 i = 0; i < 23; i++)
    text[i] = (char)('0' + ((x >> (i & 31u)) & 7u));
text[23] = 0;
char *end, *copy = strdup(text);
u32 sum = (u32)${n}_length(copy) + (u32)${n}_number(text, &end, 8) + (u32)(end - text);
sum = sum * 3u + (${n}_compare(text, copy, 24) == 0);
char *found = ${n}_find(copy, '3');
sum += found ? (u32)(found - copy) : 99u;
${n}_free(copy);
$body
return sum;""",
        body=f.statements(["sum"], 1),
    )


@feature("recursion", weight=6, free=True)
def sibling(f):
    """Tail recursion that only optimisation makes a loop of: deep there, shallow elsewhere."""
    count = deep(f, 600_000)
    f.add(
        DEPTH
        + """
static __attribute__((noinline)) u32 ${n}_odd(u32 n, u32 a);
static __attribute__((noinline)) u32 ${n}_even(u32 n, u32 a)
{
    if (n == 0)
        return a;
    $body
    return ${n}_odd(n - 1, a * 7u + 1u);
}
static __attribute__((noinline)) u32 ${n}_odd(u32 n, u32 a)
{
    if (n == 0)
        return ~a;
    return $cond ? ${n}_even(n - 1, a ^ n) : ${n}_odd(n - 1, a + n);
}""",
        count=count,
        body=f.statements(["a"], 1, loops=False, calls=False),
        cond=f.condition(["a", "n"]),
    )
    f.frames = 510
    f.add("static volatile u32 ${n}_sink;")
    f.safe = False
    f.entry("${n}_sink = ${n}_even(${n}_DEPTH, x);\nreturn ${n}_even(500, x);")


@feature("recursion", weight=10, free=True)
def recursion(f):
    """Mutual recursion with work after the calls, arrays in the frames."""
    draw, depth = f.draw, f.draw.magnitude(4, 3000)
    f.frames = 2 * depth
    f.spend(20 * depth)
    f.add(
        """
static u32 ${n}_down(u32 n, u32 a);
${static} u32 ${n}_side(u32 n, u32 *out)
{
    u32 local[$size] = {n, $word}, b = n;
    $one
    if (n > 1)
        local[b % ${size}u] += ${n}_down(n - 1, local[1] ^ b);
    *out += local[(b + 1u) % ${size}u];
    return local[b % ${size}u];
}
static u32 ${n}_down(u32 n, u32 a)
{
    u32 sum = a;
    if (n == 0)
        return $word;
    $two
    sum ^= ${n}_side(n - 1, &sum);
    return sum + n;
}""",
        static=f.static(),
        size=draw.of(2, 3, 8),
        word=draw.word(),
        one=f.statements(["b"], 2, times=depth, loops=False),
        two=f.statements(["sum", "a"], 2, times=depth, loops=False),
    )
    f.entry("return ${n}_down(${depth}u, x);", depth=depth)


@feature("recursion", weight=8)
def trees(f):
    """A tree that is built, walked and freed."""
    size = f.draw.between(10, 300)
    f.include("stdlib.h")
    f.frames = 600
    f.spend(60 * size)
    f.add(
        """
struct ${n}_node { struct ${n}_node *left, *right; u32 key, count; };
${s1} struct ${n}_node *${n}_insert(struct ${n}_node *node, u32 key)
{
    if (!node) {
        node = calloc(1, sizeof(*node));
        if (!node)
            abort();
        node->key = key;
    } else if (key < node->key)
        node->left = ${n}_insert(node->left, key);
    else if (key > node->key)
        node->right = ${n}_insert(node->right, key);
    node->count++;
    return node;
}
${s2} u32 ${n}_walk(const struct ${n}_node *node, u32 depth)
{
    u32 a = depth;
    if (!node)
        return depth;
    $body
    return mix(${n}_walk(node->left, depth + 1), a + node->key * node->count) ^ ${n}_walk(node->right, depth + 1);
}
${s3} void ${n}_free(struct ${n}_node *node)
{
    if (!node)
        return;
    ${n}_free(node->left);
    struct ${n}_node *right = node->right;
    free(node);
    ${n}_free(right);
}""",
        s1=f.static(),
        s2=f.static(),
        s3=f.static(),
        body=f.statements(["a"], 1, times=size, loops=False),
    )
    f.entry(
        """
struct ${n}_node *root = NULL;
for (u32 i = 0; i < ${size}u; i++)
    root = ${n}_insert(root, x = x * 1664525u + 1013904223u);
u32 sum = ${n}_walk(root, 0);
${n}_free(root);
return sum;""",
        size=size,
    )


@feature("recursion", weight=6, free=True)
def small_recursions(f):
    """Well-known ones, which optimisers unroll and inline into themselves."""
    f.spend(60_000)
    f.frames = 400
    f.add(
        """
static u32 ${n}_fib(u32 n) { return n < 2 ? n : ${n}_fib(n - 1) + ${n}_fib(n - 2); }
static u32 ${n}_ack(u32 m, u32 n) { return !m ? n + 1 : !n ? ${n}_ack(m - 1, 1) : ${n}_ack(m - 1, ${n}_ack(m, n - 1)); }
static void ${n}_hanoi(u32 n, u32 from, u32 to, u32 by, u32 *sum)
{
    if (!n)
        return;
    ${n}_hanoi(n - 1, from, by, to, sum);
    *sum = mix(*sum, from * 4u + to);
    ${n}_hanoi(n - 1, by, to, from, sum);
}
static u32 ${n}_collatz(u64 n, u32 steps) { return n == 1 || steps > 200 ? steps : ${n}_collatz(n & 1 ? 3 * n + 1 : n / 2, steps + 1); }
static u32 ${n}_gcd(u32 a, u32 b) { return b ? ${n}_gcd(b, a % b) : a; }
static u32 ${n}_takeuchi(i32 x, i32 y, i32 z)
{
    return x <= y ? (u32)z : ${n}_takeuchi((i32)${n}_takeuchi(x - 1, y, z), (i32)${n}_takeuchi(y - 1, z, x), (i32)${n}_takeuchi(z - 1, x, y));
}"""
    )
    f.entry(
        """
u32 sum = ${n}_fib(${fib}u + (x & 3u)) + ${n}_ack(2, ${ack}u + (x & 1u));
${n}_hanoi(${hanoi}u, 0, 1, 2, &sum);
sum = sum * 3u + ${n}_collatz((u64)x + 1u, 0) + ${n}_gcd(x | 1u, sum) + ${n}_takeuchi(7, (i32)(x & 3u), 2);
return sum;""",
        fib=f.draw.between(5, 12),
        ack=f.draw.between(1, 6),
        hanoi=f.draw.between(2, 8),
    )
