// What the fuzz targets take apart: calls, loops, inlining, recursion, a signal handler, an
// indirect call and a switch, without a library, so that its core is small.
typedef int (*operation)(int);

struct action {
    void *handler;
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

extern void restorer(void);
// As in glibc, a nop before it: unwinders look up the byte before a return address.
__asm__("nop; restorer: mov $15, %rax; syscall");

static int *volatile cell;
static volatile int sink;

static inline int twice(int n)
{
    if (n > 5)
        sink++;
    return 2 * n;
}

__attribute__((noinline)) static int add(int n)
{
    for (int i = 0; i < n; i++)
        if (i & 1)
            sink += twice(i);
    return n + 1;
}

__attribute__((noinline)) static int subtract(int n)
{
    switch (n & 3) {
    case 0:
        return add(n - 1);
    case 1:
        sink = n;
        return n;
    default:
        return n - 1;
    }
}

static const operation operations[] = {add, subtract};

__attribute__((noinline)) static int work(int n, int depth)
{
    int total = 0;

    for (int i = 0; i < n; i++) {
        total += operations[i & 1](i);
        if (total > 100)
            total = twice(total) - 50;
    }
    if (depth == 0)
        return *cell + total;
    return work(n + 1, depth - 1) + add(total);
}

static void handle(int number)
{
    if (number != 11)
        add(number);
    work(2, 1);
    __builtin_trap();
}

static void install(void)
{
    static struct action action = {handle, 0x04000000, restorer, 0};
    register long size __asm__("r10") = 8;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(13), "D"(11), "S"(&action), "d"(0), "r"(size)
                     : "rcx", "r11", "memory");
}

__attribute__((force_align_arg_pointer)) void _start(void)
{
    install();
    work(3, 4);
    __builtin_trap();
}
