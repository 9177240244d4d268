// SPDX-License-Identifier: Apache-2.0
// More than 2^62 paths without a loop: 70 ifs in a row, and 24 switches of 9 ways.
// signal: SIGSEGV
// expect: stack ifs main
static volatile long sink;

#define IF(n)                                                                                      \
    if (bits >> ((n) % 37) & 1)                                                                      \
        sum += n;
#define IF5(n) IF(n) IF(n + 1) IF(n + 2) IF(n + 3) IF(n + 4)
#define IF35(n) IF5(n) IF5(n + 5) IF5(n + 10) IF5(n + 15) IF5(n + 20) IF5(n + 25) IF5(n + 30)
#define SWITCH(n)                                                                                  \
    switch (bits >> ((n) % 29) & 7) {                                                                \
    case 0:                                                                                        \
        sum += 1;                                                                                  \
        break;                                                                                     \
    case 1:                                                                                        \
        sum ^= n;                                                                                  \
        break;                                                                                     \
    case 2:                                                                                        \
        sum *= 3;                                                                                  \
        break;                                                                                     \
    case 3:                                                                                        \
        sum -= n;                                                                                  \
        break;                                                                                     \
    case 4:                                                                                        \
        sum = -sum;                                                                                \
        break;                                                                                     \
    case 5:                                                                                        \
        sum |= 1;                                                                                  \
        break;                                                                                     \
    case 6:                                                                                        \
        sink++;                                                                                    \
        break;                                                                                     \
    default:                                                                                       \
        sum += sink;                                                                               \
    }
#define SWITCH6(n) SWITCH(n) SWITCH(n + 1) SWITCH(n + 2) SWITCH(n + 3) SWITCH(n + 4) SWITCH(n + 5)

__attribute__((noinline)) static long switches(unsigned long bits)
{
    long sum = 0;

    SWITCH6(0) SWITCH6(6) SWITCH6(12) SWITCH6(18)
    return sum;
}

__attribute__((noinline)) static long ifs(unsigned long bits, const long *p)
{
    long sum = 0;

    IF35(0) IF35(35)
    sum += p[switches(bits) & 3];
    return sum;
}

int main(void)
{
    long sum = ifs(0x5a5a1234f00dul, (const long[]){1, 2, 3, 4});

    sink = sum;
    return (int)ifs(0x123456789abul, (const long *)16);
}
