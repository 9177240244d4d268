# SPDX-License-Identifier: Apache-2.0
"""Control that does not nest: setjmp and its kin, contexts, computed goto, goto, switch."""

from .fragment import feature


@feature("setjmp", weight=12)
def setjmp_deep(f):
    """A jump out of nested calls and loops, several times to the same place, with locals that must keep their values."""
    draw, depth = f.draw, f.draw.magnitude(1, 60)
    f.include("setjmp.h")
    f.safe, f.frames = False, depth + 8
    local = draw.chance(50)
    parameter, argument, env = ("jmp_buf *to, ", "&env, ", "env") if local else ("", "", f"{f.name}_env")
    f.add(
        """
$define
${static} u32 ${n}_deep(${parameter}u32 depth, u32 v)
{
    u32 a = v;
    for (u32 i = 0; i < 3; i++) {
        $body
        if (depth == 0 && i == ${at}u)
            longjmp($where, (int)(a % 5u) + 1);
        if (depth > 0)
            a += ${n}_deep(${again}depth - 1, a + i);
    }
    return a;
}""",
        define="" if local else f"static jmp_buf {env};",
        where="*to" if local else env,
        static=f.static(),
        parameter=parameter,
        again="to, " if local else "",
        body=f.statements(["a"], 1, times=5 * depth, loops=False),
        at=draw.below(2),
    )
    f.entry(
        """
$declare
volatile u32 rounds = 0, sum = x;
u32 kept = x * 3u;
int code;
$set
sum ^= ${callee}(sum);
sum = mix(sum, (u32)code + kept);
if (++rounds < ${rounds}u)
    sum += ${n}_deep(${argument}${depth}u, sum);
return sum + kept;""",
        declare="jmp_buf env;" if local else "",
        callee=f.call(8),
        rounds=draw.between(2, 6),
        depth=depth,
        argument=argument,
        set=draw.of(
            f"switch (setjmp({env})) {{\ncase 0: code = 7; break;\ncase 1: code = 1; break;\ndefault: code = 2;\n}}",
            f"if (setjmp({env}) == 0)\n    code = 0;\nelse\n    code = 9;",
            f"code = setjmp({env});",
        ),
    )


@feature("setjmp", weight=10)
def exceptions(f):
    """Handlers in a chain, as exceptions are made in C: raised from the depths, caught, raised again."""
    draw, depth = f.draw, f.draw.magnitude(1, 12)
    f.include("setjmp.h", "stdlib.h")
    f.spend(400 * depth)
    f.frames = 3 * depth + 8
    f.add(
        """
struct ${n}_frame { jmp_buf env; struct ${n}_frame *up; };
static ${thread}struct ${n}_frame *${n}_top;
${noreturn}static void ${n}_throw(int code)
{
    struct ${n}_frame *frame = ${n}_top;
    if (!frame)
        abort();
    ${n}_top = frame->up;
    ${longjmp}(frame->env, code);
}
${s1} u32 ${n}_try(u32 depth, volatile u32 v);
${s2} u32 ${n}_work(u32 depth, u32 v)
{
    $body
    if ((v & ${mask}u) == 0)
        ${n}_throw((int)(v % 7u) + 1);
    return depth ? ${n}_try(depth - 1, v * 3u) + 1u : v;
}
static u32 ${n}_try(u32 depth, volatile u32 v)
{
    struct ${n}_frame frame = {.up = ${n}_top};
    volatile u32 result = 5, stage = 0;
    ${n}_top = &frame;
    int code = ${setjmp};
    if (code == 0) {
        stage = 1;
        result = ${n}_work(depth, v + 1u);
        stage = 2;
        ${n}_top = frame.up;
    } else {
        result += (u32)code * 16u + stage;
        if (code == ${again} && ${n}_top)
            ${n}_throw(code + 1);
    }
    return result ^ v;
}""",
        thread="_Thread_local ",
        noreturn=draw.of("_Noreturn ", ""),
        longjmp=draw.of("longjmp", "_longjmp"),
        setjmp=draw.of("setjmp(frame.env)", "_setjmp(frame.env)"),
        s1="static",
        s2=f.static(),
        mask=draw.of(1, 3, 7),
        again=draw.between(1, 7),
        body=f.statements(["v"], draw.between(1, 3), times=10 * depth, loops=False),
    )
    f.entry(
        "u32 sum = 0;\nfor (u32 i = 0; i < 8; i++)\nsum = mix(sum, ${n}_try(${depth}u, x + i));\nreturn sum;", depth=depth
    )


@feature("setjmp", weight=7)
def jump_from_handler(f):
    """siglongjmp out of a signal handler, with the mask kept and not."""
    draw = f.draw
    signal = draw.of("SIGUSR1", "SIGFPE", "SIGSEGV", "SIGTERM")
    f.include("setjmp.h", "signal.h")
    f.safe = False
    f.spend(8000)
    f.add(
        """
static sigjmp_buf ${n}_env;
static volatile sig_atomic_t ${n}_count;
static void ${n}_handler(int number)
{
    u32 a = (u32)number;
    ${n}_count++;
    $body
    siglongjmp(${n}_env, (int)(a % 3u) + 1);
}
${s1} u32 ${n}_hit(u32 depth, u32 v) { if (depth == 0) { raise($signal); return 1; } return ${n}_hit(depth - 1, v) + v; }""",
        signal=signal,
        s1=f.static(),
        body=f.statements(["a"], 2, times=6, calls=False),
    )
    f.entry(
        """
struct sigaction action = {.sa_handler = ${n}_handler, .sa_flags = $flags}, old;
volatile u32 sum = x, round = 0;
sigaction($signal, &action, &old);
int code = sigsetjmp(${n}_env, 1);
sum = mix(sum, (u32)code + (u32)${n}_count);
if (round++ < 4)
    sum += ${n}_hit(${depth}u, sum);
sigset_t now;
sigprocmask(SIG_BLOCK, NULL, &now);
sum = sum * 2u + (u32)sigismember(&now, $signal);
sigaction($signal, &old, NULL);
return sum;""",
        signal=signal,
        depth=draw.below(5),
        flags=draw.of("0", "SA_NODEFER", "SA_RESTART"),
    )


@feature("setjmp", weight=5)
def jump_from_fault(f):
    """A real fault, on a page without rights, left by siglongjmp or repaired."""
    f.include("setjmp.h", "signal.h", "sys/mman.h", "stdlib.h")
    f.safe = False
    f.spend(20000)
    f.add(
        """
static sigjmp_buf ${n}_env;
static volatile u32 *${n}_page;
static volatile u32 ${n}_faults;
static void ${n}_handler(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    ${n}_faults++;
    if (info->si_addr != (void *)${n}_page)
        abort();
    if (${n}_faults % 2 == 1)
        siglongjmp(${n}_env, 3);
    mprotect((void *)${n}_page, 4096, PROT_READ | PROT_WRITE);
}
${s1} u32 ${n}_touch(u32 v) { u32 a = v; $body ${n}_page[0] = a; return ${n}_page[0]; }""",
        s1=f.static(),
        body=f.statements(["a"], 1, times=4),
    )
    f.entry(
        """
struct sigaction action = {.sa_sigaction = ${n}_handler, .sa_flags = SA_SIGINFO}, old;
volatile u32 sum = x;
${n}_faults = 0;
${n}_page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
if ((void *)${n}_page == MAP_FAILED)
    abort();
sigaction(SIGSEGV, &action, &old);
if (sigsetjmp(${n}_env, 1) == 0)
    sum += ${n}_touch(sum);
else
    sum ^= 77u;
sum += ${n}_touch(sum);
sigaction(SIGSEGV, &old, NULL);
munmap((void *)${n}_page, 4096);
return sum + ${n}_faults;"""
    )


@feature("setjmp", weight=6, free=True)
def builtin_setjmp(f):
    draw = f.draw
    f.safe = False
    f.add(
        """
static void *${n}_env[5];
static __attribute__((noinline)) void ${n}_leave(u32 depth)
{
    if (depth == 0)
        __builtin_longjmp(${n}_env, 1);
    ${n}_leave(depth - 1);
    __asm__ volatile("");
}
static __attribute__((noinline)) u32 ${n}_catch(u32 x)
{
    volatile u32 sum = x, rounds = 0;
    if (__builtin_setjmp(${n}_env))
        sum = mix(sum, 3u);
    else
        sum += 5u;
    if (++rounds < ${rounds}u)
        ${n}_leave(sum % ${depth}u);
    return sum + rounds;
}""",
        rounds=draw.between(2, 5),
        depth=draw.between(1, 9),
    )
    f.frames = 16
    f.entry("u32 a = ${n}_catch(x);\n$body\nreturn a;", body=f.statements(["a"], 2))


@feature("contexts", weight=6)
def coroutines(f):
    """swapcontext between stacks of the program's own."""
    draw = f.draw
    f.include("ucontext.h", "stdlib.h")
    f.safe = False
    f.frame_limit = 64  # the stacks are small
    f.spend(30000)
    f.add(
        """
static ucontext_t ${n}_main, ${n}_other[2];
static u32 ${n}_value, ${n}_done;
${s1} void ${n}_yield(u32 which, u32 v)
{
    ${n}_value = mix(${n}_value, v);
    swapcontext(&${n}_other[which], &${n}_main);
}
${s2} void ${n}_nested(u32 which, u32 depth)
{
    if (depth > 0)
        ${n}_nested(which, depth - 1);
    ${n}_yield(which, depth + which);
}
static void ${n}_body(u32 which, u32 count)
{
    u32 a = which;
    for (u32 i = 0; i < count; i++) {
        $body
        ${n}_yield(which, a);
    }
    ${n}_nested(which, ${depth}u);
    ${n}_done |= 1u << which;
}""",
        s1=f.static(),
        s2=f.static(),
        depth=draw.between(1, 6),
        body=f.statements(["a"], 2, times=12, loops=False),
    )
    f.entry(
        """
char *stacks = malloc(2 * 65536);
if (!stacks)
    abort();
${n}_value = x;
${n}_done = 0;
for (u32 i = 0; i < 2; i++) {
    getcontext(&${n}_other[i]);
    ${n}_other[i].uc_stack.ss_sp = stacks + i * 65536;
    ${n}_other[i].uc_stack.ss_size = 65536;
    ${n}_other[i].uc_link = &${n}_main;
    makecontext(&${n}_other[i], (void (*)(void))${n}_body, 2, (int)i, (int)(i + ${count}));
}
for (u32 turn = 0; ${n}_done != 3; turn++)
    if (!(${n}_done & 1u << (turn & 1u)))
        swapcontext(&${n}_main, &${n}_other[turn & 1u]);
free(stacks);
return ${n}_value;""",
        count=draw.between(1, 5),
    )


@feature("computed-goto", weight=14, free=True)
def interpreter(f):
    """Bytecode, dispatched through a table of labels: addresses or distances, from one place or from each operation."""
    draw, size, steps = f.draw, f.draw.of(4, 6, 8, 12), f.draw.magnitude(50, 5000)
    f.spend(12 * steps)
    relative, shared = draw.chance(30), draw.chance(40)
    labels = [f"op{i}" for i in range(size)]
    table = ", ".join(f"&&{label} - &&op0" if relative else f"&&{label}" for label in labels)
    declare = (
        "static const int table[] = {"
        if relative
        else draw.of("static void *table[] = {", "static const void *const table[] = {", "const void *table[] = {")
    )
    jump = f"goto *({'(char *)&&op0 + ' if relative else '(void *)'}table[code[pc++ & 31u]]);"
    dispatch = "goto next;" if shared else f"if (!left--) goto out; {jump}"
    bodies = []
    for label in labels:
        work = draw.of(
            "acc += stack[--top & 7u];",
            "stack[top++ & 7u] = acc;",
            "acc = acc * 17u + left;",
            "if (acc & 1u) pc += 2u;",
            "pc = acc;",
            "if ((acc ^= left) & 4u) { " + dispatch + " }",
            f.statements(["acc", "pc"], 2, times=steps, loops=False),
        )
        bodies.append(f"{label}:\n{work}\n{dispatch}")
    f.add(
        """
${static} u32 ${n}_run(const u8 *code, u32 left, u32 acc)
{
    $declare$table};
    u32 stack[8] = {acc}, top = 1, pc = 0;
    $start
    $bodies
out:
    return mix(acc, stack[top & 7u]) + pc;
}
static const u8 ${n}_code[32] = {$bytes};""",
        static=f.static(),
        declare=declare,
        table=table,
        bodies="\n".join(bodies),
        start=f"next:\nif (!left--)\ngoto out;\n{jump}" if shared else dispatch,
        bytes=", ".join(str(draw.below(size)) for _ in range(32)),
    )
    f.entry("return ${n}_run(${n}_code, ${steps}u, x);", steps=steps)


@feature("computed-goto", weight=8, free=True)
def label_states(f):
    """Labels kept in variables and structures, handed through calls, jumped to in loops."""
    draw = f.draw
    f.spend(3000)
    f.add(
        """
struct ${n}_state { void *resume; u32 count, value; };
${s1} void *${n}_pick(void *a, void *b, u32 v) { return v & 1u ? a : b; }
static u32 ${n}_resume(struct ${n}_state *s)
{
    if (s->resume)
        goto *s->resume;
    for (s->count = 0; s->count < ${count}u; s->count++) {
        $one
        s->resume = &&again;
        return s->value;
again:
        s->value = mix(s->value, s->count);
        void *where = ${n}_pick(&&left, &&right, s->value);
        goto *where;
left:
        s->value ^= 3u;
        continue;
right:
        s->value += 9u;
        if (s->value & 16u) {
            s->resume = &&late;
            return s->value + 1u;
late:
            s->value--;
        }
    }
    s->resume = &&end;
end:
    return 0;
}""",
        s1=f.static(),
        count=draw.between(2, 12),
        one=f.statements(["s->value"], 2, times=12, loops=False),
    )
    f.entry(
        "struct ${n}_state s = {0, 0, x};\nu32 sum = 0;\nfor (u32 i = 0; i < 30; i++)\nsum = mix(sum, ${n}_resume(&s));\nreturn sum;"
    )


@feature("goto", weight=10, free=True)
def goto_soup(f):
    """Labels that jump among each other: irreducible loops, jumps into loops."""
    draw, size = f.draw, f.draw.between(3, 9)
    f.spend(4000)
    blocks = []
    for i in range(size):
        go = " ".join(f"if ({f.condition(['a', 'b'])}) goto l{draw.below(size)};" for _ in range(draw.between(1, 2)))
        work = f.statements(["a", "b"], draw.between(1, 2), times=60, loops=False, returns=True)
        if draw.chance(30):
            work = f"for (k = 0; k < 3; k++) {{\n{work}\ninto{i}:\na++;\nif (--fuel == 0)\nreturn a;\n}}"
            go += f" if (b & {draw.of(1, 2, 4)}u) goto into{i};"
        blocks.append(f"l{i}:\nif (--fuel == 0)\nreturn mix(a, b);\n{work}\n{go}")
    f.entry(
        "u32 a = x, b = ~x, fuel = ${fuel}u, k = 0;\n(void)k;\ngoto l${first};\n$blocks\nreturn a + b;",
        fuel=draw.between(5, 200),
        first=draw.below(size),
        blocks="\n".join(blocks),
    )


@feature("switch", weight=10, free=True)
def switches(f):
    """Dense, sparse, with ranges, with fall through, of 64 bits, into loops."""
    draw = f.draw
    f.spend(20000)
    cases, at = [], 0
    for _ in range(draw.between(3, 20)):
        at += draw.of(1, 1, 1, 2, 3, 50, 1000)
        upper = at + draw.of(0, 0, 0, 4, 30)
        label = f"case {at}:" if upper == at else f"case {at} ... {upper}:"
        cases.append(
            f"{label}\n{f.statements(['a'], 1, times=40, loops=False)}\n{draw.of('break;', 'break;', 'break;', '', 'continue;', 'goto done;')}"
        )
        at = upper
    cases.insert(draw.below(len(cases) + 1), f"default:\na += {draw.word()};\n{draw.of('break;', '')}")
    f.add(
        """
${static} u32 ${n}_switch(u32 a)
{
    for (u32 i = 0; i < 40; i++) {
        switch (($type)$on) {
        $cases
        }
        a = a * 5u + i;
    }
done:
    return a;
}
${static2} u32 ${n}_copy(u8 *to, const u8 *from, u32 count)
{
    u32 rounds = (count + 7u) / 8u, sum = 0;
    switch (count % 8u) {
    case 0: do { *to++ = *from++; sum += 1;
    case 7: *to++ = *from++;
    case 6: *to++ = *from++; sum ^= 3u;
    case 5: *to++ = *from++;
    case 4: *to++ = *from++;
    case 3: *to++ = *from++; sum += count;
    case 2: *to++ = *from++;
    case 1: *to++ = *from++;
        } while (--rounds > 0);
    }
    return sum;
}
${static3} u32 ${n}_wide(u64 v)
{
    switch (v) {
    case 0: return 1;
    case 0x100000000ull ... 0x1ffffffffull: return 2;
    case 0xffffffffffffffffull: return 3;
    case 77: return 4;
    case 0x8000000000000000ull: return 5;
    }
    return 6;
}""",
        static=f.static(),
        static2=f.static(),
        static3=f.static(),
        type=draw.of("u32", "u64", "int", "u16", "i16") if at < 30000 else "u32",
        on=draw.of(f"(a % {at + 3}u)", f"(i < 20u ? i : a % {at + 1}u)", "(a & 31u)"),
        cases="\n".join(cases),
    )
    f.entry(
        """
u8 from[64], to[64] = {0};
for (u32 i = 0; i < 64; i++)
    from[i] = (u8)(x >> (i & 15u));
u32 sum = ${n}_copy(to, from, x % 64u + 1u);
for (u32 i = 0; i < 64; i++)
    sum = mix(sum, to[i]);
return sum + ${n}_switch(x) + ${n}_wide((u64)x << (x & 7u)) + ${n}_wide(0ull - (x & 1u)) * 7u + ${n}_wide(x % 80u);"""
    )


@feature("loops", weight=7, free=True)
def many_paths(f):
    """So many branches in a row that paths cannot be counted in 32 bits, or in 64; some in a loop, some with calls."""
    draw, count = f.draw, f.draw.magnitude(12, 90)
    f.spend(12 * 8 * count)
    steps = []
    for i in range(count):
        what = draw.of(
            f"a ^= {draw.word()};", "a = a * 3u + 1u;", "b += a;", "a = tip(a);", "b = tip(b) ^ a;", "a -= b >> 3;"
        )
        other = draw.of("", "", f" else b ^= {i}u;", " else a++;")
        steps.append(f"if (a & {1 << draw.below(20)}u){' {' if draw.chance(10) else ''} {what}" + other)
        if steps[-1].count("{") > steps[-1].count("}"):
            steps[-1] = steps[-1].replace(other, "") + f" if (b & {1 << draw.below(9)}u) a += b; }}" + other
    f.add(
        """
${static} u32 ${n}_paths(u32 a, u32 b)
{
    for (u32 i = 0; i < ${rounds}u; i++) {
        $steps
        $leave
    }
    return a ^ b;
}""",
        static=f.static(),
        rounds=draw.between(1, 8),
        steps="\n".join(steps),
        leave=draw.of("", f"if ({f.condition(['a', 'b'])} && b % 7u == 1u) break;", "if (b % 11u == 3u) return a;"),
    )
    f.entry("return ${n}_paths(x, ~x) + ${n}_paths(x >> 3, 5u);")


@feature("loops", weight=8, free=True)
def loops(f):
    """Nested loops, left and continued in all ways; loops that vectorisers like."""
    draw = f.draw
    f.spend(6000)
    f.add(
        """
${static} u32 ${n}_nest(u32 a, u32 rows, u32 columns)
{
    u32 b = 1;
    for (u32 i = 0; i < rows; i++) {
        for (u32 j = 0; j < columns; j++) {
            u32 k = j;
            while (k--) {
                if ($c1)
                    goto next;
                if ($c2)
                    break;
                a += k * i;
            }
            if ($c3)
                continue;
            $body
            if ($c4)
                return mix(a, j);
        }
        b++;
next:;
    }
    return a + b;
}
${static2} u32 ${n}_vector(const u32 *restrict in, u32 *restrict out, u32 count)
{
    u32 sum = 0, most = 0;
    for (u32 i = 0; i < count; i++)
        out[i] = in[i] * 3u + (in[i] >> 5);
    for (u32 i = 0; i < count; i++)
        sum += out[i];
    for (u32 i = 0; i < count; i++)
        most = out[i] > most ? out[i] : most;
    return sum ^ most;
}""",
        static=f.static(),
        static2=f.static(),
        c1=f.condition(["a", "k"]),
        c2=f.condition(["a", "b"]),
        c3=f.condition(["a", "j"]),
        c4=f.condition(["a", "b"]) + " && a % 50u == 3u",
        body=f.statements(["a", "b"], 2, times=60, loops=False),
    )
    f.entry(
        """
u32 in[100], out[100];
for (u32 i = 0; i < 100; i++)
    in[i] = x * (i + 1u);
return ${n}_nest(x, ${rows}u, ${columns}u + (x & 1u)) ^ ${n}_vector(in, out, ${count}u);""",
        rows=draw.between(1, 8),
        columns=draw.between(1, 7),
        count=draw.between(1, 100),
    )
