# SPDX-License-Identifier: Apache-2.0
"""What is close to the machine and to the compiler: assembly, attributes, builtins, extensions of the language."""

from .fragment import feature


@feature("asm", weight=14, free=True)
def assembly(f):
    """Operands of all kinds, clobbers, labels, sections, registers that are asked for by name."""
    draw = f.draw
    pieces = draw.some(
        draw.between(3, 7),
        [
            '__asm__("addl %1, %0" : "+r"(a) : "r"(b) : "cc");',
            '__asm__ volatile("rorl $$7, %0\\n\\txorl %1, %0" : "+&r"(a) : "rm"(b) : "cc");',
            '{ u32 high; __asm__("mull %3" : "=a"(a), "=d"(high) : "0"(a), "r"(b | 1u) : "cc"); b ^= high; }',
            '__asm__ volatile("" : : : "memory");',
            '__asm__ volatile("" : "+r"(a), "+m"(memory[1]));',
            '{ u32 *p = memory; __asm__ volatile("movl (%0), %%eax\\n\\tincl %%eax\\n\\tmovl %%eax, (%0)" : : "r"(p) : "eax", "memory", "cc"); }',
            '__asm__("movl %1, %0" : "=m"(memory[2]) : "r"(a));',
            '__asm__ volatile("testl %0, %0\\n\\tjz .L${n}_%=\\n\\tincl %0\\n.L${n}_%=:" : "+r"(a) : : "cc");',
            '__asm__ volatile("movl $$3, %%ecx\\n1:\\taddl %%ecx, %0\\n\\tdecl %%ecx\\n\\tjnz 1b" : "+r"(a) : : "ecx", "cc");',
            '__asm__ volatile("nop\\n\\t.pushsection .rodata\\n\\t.long 77\\n\\t.popsection");',
            '{ unsigned char bit; __asm__("btl $$5, %1" : "=@ccc"(bit) : "r"(a)); b += bit; }',
            '{ register u64 r asm("r12") = a; __asm__ volatile("leaq 5(%0), %0" : "+r"(r) : : "cc"); a = (u32)r; }',
            '{ u64 w = (u64)a << 32 | b; __asm__("bswapq %0" : "+r"(w)); a ^= (u32)w; }',
            '{ double d = (double)(a & 0xffffu); __asm__("addsd %1, %0" : "+x"(d) : "x"(1.5)); b += (u32)d; }',
            '{ u32 eax = 0, ebx, ecx = 0, edx; __asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx)); a += eax ? 1u : 2u; (void)ebx, (void)edx; }',
            '__asm__ volatile("xchgl %0, %1" : "+r"(a), "+m"(memory[0]) : : "memory");',
            '__asm__("leal (%1,%2,4), %0" : "=r"(b) : "r"(a), "r"(b));',
            '__asm__ volatile("" : : : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", '
            '"r13", "r14", "r15", "cc", "memory");',
            '{ u32 t = 5; __asm__("cmpl %2, %1\\n\\tcmovbl %3, %0" : "+r"(t) : "r"(a), "r"(b), "r"(a) : "cc"); b ^= t; }',
        ],
    )
    goto_ = draw.chance(60)
    f.add(
        """
${s1} u32 ${n}_asm(u32 a, u32 b)
{
    u32 memory[4] = {a, b, 3, 4};
    $before
    $pieces
    $after
    return a ^ b ^ memory[0] ^ memory[1] ^ memory[2];
}
${s2} u32 ${n}_goto(u32 a)
{
    $goto
}""",
        s1=f.static(recursive=False),
        s2=f.static(recursive=False),
        before=f.statements(["a", "b"], 1, times=4, loops=False),
        pieces=f.fill("\n".join(pieces)),
        after=f.statements(["a", "b"], 1, times=4, loops=False),
        goto=f.fill(
            """
    u32 out = 0;
    for (u32 i = 0; i < 6; i++) {
        __asm__ goto("testl %1, %0\\n\\tjnz %l[odd]" : : "r"(a), "i"($mask) : "cc" : odd);
        a = a * 3u + 1u;
        $call
        continue;
odd:
        __asm__ goto("addl %1, %0\\n\\tjc %l[carry]" : "+r"(a) : "r"(0x30000000u) : "cc" : carry);
        out += a;
        continue;
carry:
        out ^= i + 1u;
    }
    return a + out;""",
            mask=draw.of(1, 2, 4),
            call=f"a ^= {f.call(30)}(a);",
        )
        if goto_
        else "return a * 3u;",
    )
    f.entry("u32 sum = x;\nfor (u32 i = 0; i < 4; i++)\nsum = mix(${n}_asm(sum, i), ${n}_goto(sum));\nreturn sum;")


@feature("asm", weight=6, free=True)
def assembly_functions(f):
    """Functions in assembly at file level, naked ones, symbols with other names, calls from assembly."""
    draw = f.draw
    f.add(
        """
__asm__(".text\\n\\t.globl ${n}_asm_add\\n\\t.type ${n}_asm_add, @function\\n${n}_asm_add:\\n\\tleal 3(%rdi,%rsi), %eax\\n\\tret\\n\\t.size ${n}_asm_add, .-${n}_asm_add");
u32 ${n}_asm_add(u32 a, u32 b);
u32 ${n}_renamed(u32 a) __asm__("${n}_other_name");
u32 ${n}_renamed(u32 a) { $body return a * 3u; }
__attribute__((naked, noinline)) static u32 ${n}_naked(u32 a) { __asm__("leal (%rdi,%rdi,2), %eax\\n\\tret"); }
__attribute__((used, noinline)) $hidden u32 ${n}_callback(u32 a) { $body2 return a ^ 0x55u; }
__attribute__((noinline)) static u32 ${n}_call(u32 a)
{
    u32 result;
    __asm__ volatile("movq %%rsp, %%rbx\\n\\tsubq $$256, %%rsp\\n\\tandq $$-16, %%rsp\\n\\tcall $target\\n\\tmovq %%rbx, %%rsp"
        : "=a"(result), "+D"(a) : : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
          "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
    return result;
}""",
        body=f.statements(["a"], 1, times=3),
        body2=f.statements(["a"], 1, times=3),
        hidden='__attribute__((visibility("hidden")))',
        target=f"{f.name}_callback",
    )
    f.add(
        """
extern const char ${n}_mark[];
__attribute__((noinline, $once)) static u32 ${n}_marked(u32 a)
{
    __asm__ volatile(".globl ${n}_mark\\n${n}_mark:");
    $body
    return ${callee}(a) + (${n}_mark != 0);
}""",
        once=draw.of("noduplicate", "optnone"),
        body=f.statements(["a"], 1, times=2, loops=False),
        callee=f.call(),
    )
    f.entry("return ${n}_asm_add(x, ${n}_naked(x)) ^ ${n}_renamed(x) ^ ${n}_call(x) ^ ${n}_marked(x);")


@feature("builtins", weight=8, free=True)
def builtins(f):
    draw = f.draw
    pieces = draw.some(
        draw.between(4, 10),
        [
            "sum += (u32)__builtin_popcount(a);",
            "sum ^= (u32)__builtin_clz(a | 1u);",
            "sum += (u32)__builtin_ctz(a | 0x80u) * 3u;",
            "sum = mix(sum, __builtin_bswap32(a));",
            "sum += (u32)__builtin_ffs((int)(a & 0xffffu));",
            "sum ^= (u32)__builtin_parity(a);",
            "sum += __builtin_rotateleft32(a, 5);",
            "if (__builtin_expect((a & 7u) == 3u, 0)) sum += 9u;",
            "if ((a & 3u) > 3u) __builtin_unreachable();",
            "__builtin_assume((a | 1u) != 0u);",
            "sum += __builtin_constant_p(a) ? 0u : 0u;",
            "{ char b[16]; __builtin_memset(b, (int)(a & 63u), sizeof(b)); sum += (u32)b[5]; }",
            "{ u32 t[4] = {a, 2, 3, 4}; __builtin_memmove(t + 1, t, 2 * sizeof(u32)); sum ^= t[1] + t[2] * 3u; }",
            '{ char b[32] = "abc"; sum += (u32)__builtin_object_size(b, 0); }',
            "sum += (u32)__builtin_choose_expr(1, 5u, 6u);",
            "sum += (u32)__builtin_types_compatible_p(u32, unsigned);",
            "__builtin_prefetch(&sum, 1, 3);",
            "{ u64 w; if (__builtin_umulll_overflow((u64)a << 32, a, (unsigned long long *)&w)) sum += 3u; sum ^= (u32)(w >> 40); }",
            "sum += (u32)__builtin_clzll((u64)a << 20 | 1u);",
            "sum = (u32)__builtin_abs((int)(sum & 0xfffffu) - 5000);",
            "sum += __builtin_bitreverse32(a);",
            "sum ^= (u32)__builtin_addc(a, sum, 0u, &a);",
            "sum += (u32)_Generic(a, u32: 1u, default: 2u);",
            'sum += (u32)__builtin_strlen("literal");',
            "{ u32 *p = __builtin_assume_aligned(&sum, 4); *p += 2u; }",
            "sum += (u32)__builtin_signbit(-1.0) != 0;",
        ],
    )
    f.entry(
        "u32 a = x, sum = 1;\nfor (u32 i = 0; i < ${count}u; i++) {\n$pieces\n$body\na = a * 69069u + i;\n}\nreturn sum;",
        count=draw.between(1, 30),
        pieces="\n".join(pieces),
        body=f.statements(["sum"], 1, times=30, loops=False),
    )


@feature("attributes", weight=12, free=True)
def attributes(f):
    """pure, const, noreturn, always inlined, never, flatten, cold, weak, alias, and what comes of their calls."""
    draw = f.draw
    f.add(
        """
__attribute__((const, noinline)) static u32 ${n}_const(u32 a) { return a * 2654435761u ^ a >> 3; }
static u32 ${n}_state = 7;
__attribute__((pure$p1)) static u32 ${n}_pure(const u32 *p) { return *p * 3u + ${n}_state; }
static inline __attribute__((always_inline)) u32 ${n}_inline(u32 a) { $b1 return ${n}_const(a) + 1u; }
__attribute__((cold, noinline)) static u32 ${n}_cold(u32 a) { $b2 return a ^ ${n}_const(a); }
__attribute__((flatten)) static u32 ${n}_flat(u32 a) { return ${n}_inline(a) + ${n}_cold(a) + ${n}_pure(&a); }
__attribute__((weak)) u32 ${n}_weak(u32 a) { return a + 11u; }
u32 ${n}_real(u32 a) { $b3 return a - 5u; }
u32 ${n}_alias(u32 a) __attribute__((alias("${n}_real")));
extern u32 ${n}_missing(u32 a) __attribute__((weak));
__attribute__((returns_nonnull, noinline)) static u32 *${n}_where(u32 *p, u32 i) { return &p[i & 3u]; }
__attribute__((nonnull, minsize)) static void ${n}_add(u32 *p, u32 v) { *p += v; }
__attribute__((optnone, noinline)) static u32 ${n}_slow(u32 a) { u32 b = a; $b4 return b; }
__attribute__((leaf, nothrow, noinline)) static u32 ${n}_leaf(u32 a) { return a / 3u; }
static u32 ${n}_weakref(u32) __attribute__((weakref("${n}_real")));""",
        p1=draw.of("", ", noinline"),
        b1=f.statements(["a"], 1, times=20),
        b2=f.statements(["a"], 1, times=20),
        b3=f.statements(["a"], 1, times=20),
        b4=f.statements(["b"], 2, times=10, loops=False),
    )
    f.safe = False
    f.entry(
        """
u32 sum = x, t[4] = {1, 2, 3, x};
for (u32 i = 0; i < 6; i++) {
    sum = mix(sum, ${n}_const(sum) + ${n}_const(i) * (u32)(${n}_const(i) == ${n}_const(i)));
    sum += ${n}_pure(t) + ${n}_pure(&sum);
    ${n}_state ^= i;
    sum ^= ${n}_pure(t);
    ${n}_add(${n}_where(t, sum), i);
    if (i & 1u)
        sum += ${n}_flat(sum) ^ ${n}_slow(i);
    if (${n}_missing)
        sum += ${n}_missing(i);
    sum += ${n}_weak(i) * 3u + ${n}_alias(sum) + ${n}_leaf(sum) + ${n}_weakref(i);
}
return sum + t[0] + t[1] * 3u + (u32)(${n}_alias == ${n}_real) * 16u;"""
    )


@feature("attributes", weight=5)
def noreturns(f):
    """Functions that do not return, called in the middle of others: what follows them never runs."""
    draw = f.draw
    f.include("setjmp.h", "stdlib.h")
    f.safe = False
    f.spend(6000)
    f.add(
        """
static jmp_buf ${n}_out;
static u32 ${n}_code;
_Noreturn static void ${n}_fail(u32 code) { ${n}_code += code; longjmp(${n}_out, 1); }
__attribute__((noreturn, cold, noinline)) static void ${n}_die(const char *why) { ${n}_code ^= (u32)(u8)why[0]; ${n}_fail(3); }
${s1} u32 ${n}_check(u32 v, u32 depth)
{
    $body
    if (v % ${mod}u == 0)
        ${n}_fail(v);
    if (v % 11u == 5u)
        ${n}_die(depth ? "deep" : "shallow");
    switch (v % 3u) {
    case 0: return depth ? ${n}_check(v / 3u + 1u, depth - 1) : v;
    case 1: return v + 1u;
    case 2: return depth ? ${n}_check(v * 2u + 1u, depth - 1) * 2u : 8u;
    default: __builtin_unreachable();
    }
}""",
        s1=f.static(),
        mod=draw.between(2, 7),
        body=f.statements(["v"], 1, times=40, loops=False),
    )
    f.entry(
        """
volatile u32 i = 0, sum = x;
${n}_code = 0;
if (setjmp(${n}_out))
    sum += ${n}_code;
while (i < 12) {
    i = i + 1u;
    sum = mix(sum, ${n}_check(sum + i, i));
}
return sum + ${n}_code;"""
    )
    f.frames = 30


@feature("extensions", weight=9, free=True)
def cleanups(f):
    """Variables with cleanup functions, left by every kind of jump; statement expressions."""
    draw = f.draw
    f.safe = False
    f.add(
        """
static u32 ${n}_order;
${s1} void ${n}_drop(u32 *v) { u32 a = *v; $b1 ${n}_order = mix(${n}_order, *v + (a & 0u)); }
static void ${n}_close(u32 **p) { ${n}_order += **p; }
#define ${n}_HELD __attribute__((cleanup(${n}_drop)))
${s2} u32 ${n}_scope(u32 a)
{
    u32 ${n}_HELD outer = a;
    u32 *__attribute__((cleanup(${n}_close))) p = &outer;
    for (u32 i = 0; i < 5; i++) {
        u32 ${n}_HELD inner = a + i;
        if ($c1)
            continue;
        {
            u32 ${n}_HELD deepest = inner * 3u;
            if ($c2)
                break;
            if ($c3)
                goto out;
            if ($c4)
                return deepest + *p;
        }
        $b2
        a = a * 3u + inner;
    }
out:
    *p ^= a;
    return a;
}
${s3} u32 ${n}_expression(u32 a)
{
    u32 b = ({ u32 t = a; $b3 t; }) + ({ u32 ${n}_HELD t = a ^ 3u; if (t & 1u) a++; t * 2u; });
    while (({ b = b * 5u + 1u; b & 3u; }))
        if (({ if (b % 13u == 0) return b; b; }) > 0xf0000000u)
            break;
    return a + b;
}""",
        s1=f.static(),
        s2=f.static(),
        s3=f.static(),
        b1=f.statements(["a"], 1, times=20),
        b2=f.statements(["a"], 1, times=20),
        b3=f.statements(["t"], 1, times=4),
        c1=f.condition(["a", "i"]),
        c2=f.condition(["a", "deepest"]) + " && (a & 3u) == 1u",
        c3=f.condition(["a"]) + " && (a & 7u) == 2u",
        c4=f.condition(["a", "inner"]) + " && (a & 7u) == 4u",
    )
    f.entry(
        """
u32 sum = x;
${n}_order = 0;
for (u32 i = 0; i < 6; i++)
    sum = mix(sum, ${n}_scope(sum + i) + ${n}_expression(sum));
return sum ^ ${n}_order;"""
    )


@feature("atomics", weight=7, free=True)
def atomics(f):
    f.include("stdatomic.h")
    f.safe = False
    f.add(
        """
static _Atomic u32 ${n}_count;
static _Atomic u64 ${n}_wide;
static atomic_flag ${n}_flag = ATOMIC_FLAG_INIT;
static _Atomic(u32 *) ${n}_pointer;
${s1} u32 ${n}_max(_Atomic u32 *at, u32 v)
{
    u32 old = atomic_load_explicit(at, memory_order_relaxed);
    while (old < v && !atomic_compare_exchange_weak_explicit(at, &old, v, memory_order_acq_rel, memory_order_relaxed))
        ;
    return old;
}
${s2} u32 ${n}_lock(u32 v)
{
    while (atomic_flag_test_and_set_explicit(&${n}_flag, memory_order_acquire))
        ;
    u32 a = v;
    $body
    atomic_flag_clear(&${n}_flag);
    return a;
}""",
        s1=f.static(),
        s2=f.static(),
        body=f.statements(["a"], 1, times=10, calls=False),
    )
    f.entry(
        """
u32 sum = x, here[2] = {x, 3};
for (u32 i = 0; i < 10; i++) {
    sum += atomic_fetch_add(&${n}_count, i) ^ (u32)atomic_fetch_xor(&${n}_wide, (u64)sum << 20);
    sum = mix(sum, ${n}_max(&${n}_count, sum & 0xffffu) + ${n}_lock(i));
    ${n}_wide *= 3u;
    __sync_fetch_and_or(&here[1], i);
    atomic_thread_fence(memory_order_seq_cst);
}
atomic_store(&${n}_pointer, here);
return sum + atomic_exchange(&${n}_count, 0) + *atomic_load(&${n}_pointer) + here[1];"""
    )


@feature("extensions", weight=5, free=True)
def language(f):
    """Compound literals, designators, flexible types, shadowing, comma, short circuits, empty bodies, dead code."""
    draw = f.draw
    f.add(
        """
struct ${n}_point { i32 x, y; struct { u16 r : 5, g : 6, b : 5; } color; };
${s1} i32 ${n}_area(const struct ${n}_point *a, struct ${n}_point b) { return (a->x - b.x) * (a->y - b.y) + a->color.g; }
${s2} u32 ${n}_sums(u32 count, const u32 *values) { u32 sum = 0; while (count-- > 0) sum += *values++; return sum; }
${s3} u32 ${n}_calls(u32 *p) { return ++*p; }
${s4} void ${n}_nothing(void) {}
${s5} u32 ${n}_dead(u32 a)
{
    if (0) {
live:
        a += 3u;
        return a;
    }
    while (0)
        a = ${n}_calls(&a);
    if (a & 1u)
        goto live;
    for (;;) {
        if (a > 100u)
            return a;
        a = a * 3u + 7u;
    }
}""",
        **{f"s{i}": f.static() for i in range(1, 6)},
    )
    f.entry(
        """
u32 n = 0, sum = ${n}_sums(3, (const u32[]){x, 2, 3});
sum += (u32)${n}_area(&(struct ${n}_point){.y = (i32)(x & 63u), .x = 4, .color.g = 9}, (struct ${n}_point){(i32)(x & 31u), 2, {1, 2, 3}});
sum = (x & 1u && ${n}_calls(&n) > 1) || (x & 2u && ${n}_calls(&n)) ? sum + 1u : sum - 1u;
sum ^= (${n}_calls(&n), ${n}_calls(&n), n * 100u);
u32 *p = &sum;
{ u32 sum = x; { u32 sum = n; *p += sum; } *p ^= sum; }
${n}_nothing();
__auto_type wide = (u64)sum * 3u;
$body
return (u32)wide ^ ${n}_dead(x & 255u) ^ n ?: 3u;""",
        body=f.statements(["sum", "n"], draw.between(1, 3)),
    )
