// LLVM's register allocator copies a result of `asm goto` behind the assembly, where its labels do not lead to; stores of
// frame words made it do so.
// opt: -O1 -O2 -O3 -Os
// levels: calls paths full untunable off paths,suspects
// output: d6cbf4e0
#include <stdio.h>

typedef unsigned u32;

static __attribute__((noinline)) u32 line(u32 x)
{
    return x * 5u + 1u;
}

static inline u32 mix(u32 h, u32 v)
{
    h = (h ^ v) * 0x9e3779b1u;
    return h ^ h >> 15;
}

// Takes all registers.
static inline u32 pressing(u32 a, u32 b)
{
    u32 memory[4] = {a, b, 3, 4}, t = 5, leaf = 0, more = 0, unused, also_unused;

    b = (a & b) % (b % 76u | 1u);
    __asm__ volatile("" : "+r"(a), "+m"(memory[1]));
    __asm__ volatile("" : : : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
                     "cc", "memory");
    __asm__("cmpl %2, %1\n\tcmovbl %3, %0" : "+r"(t) : "r"(a), "r"(b), "r"(a) : "cc");
    b ^= t;
    __asm__ volatile("cpuid" : "+a"(leaf), "=b"(unused), "+c"(more), "=d"(also_unused));
    a += leaf ? 1u : 2u;
    if (b < 0x3f65d572u) {
        switch (a & 7u) {
        case 0:
            a += (int)a >= (int)b && line(b + b) > 5u;
            break;
        case 2:
            a *= b;
            break;
        case 5:
            a |= ~b;
            break;
        case 7:
            a ^= line(mix(b, a));
            break;
        default:
            a += a;
        }
    }
    return a ^ b ^ memory[0] ^ memory[1] ^ memory[2];
}

static inline __attribute__((always_inline)) u32 jumping(u32 a)
{
    u32 out = 0;

    for (u32 i = 0; i < 6; i++) {
        __asm__ goto("testl %1, %0\n\tjnz %l[odd]" : : "r"(a), "i"(2) : "cc" : odd);
        a = a * 3u + 1u;
        a ^= line(a);
        continue;
    odd:
        __asm__ goto("addl %1, %0\n\tjc %l[carry]" : "+r"(a) : "r"(0x30000000u) : "cc" : carry);
        out += a;
        continue;
    carry:
        out ^= i + 1u;
    }
    return a + out;
}

static __attribute__((noinline)) u32 both(u32 x)
{
    u32 sum = x;

    for (u32 i = 0; i < 4; i++)
        sum = mix(pressing(sum, i), jumping(sum));
    return sum;
}

int main(void)
{
    printf("%08x\n", both(0x8289ae35u));
}
