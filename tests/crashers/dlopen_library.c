// SPDX-License-Identifier: Apache-2.0
// The library of dlopen_host.c.
static volatile int sink;
int library_work(int (*callback)(int), int n);
int library_never(void);

__attribute__((noinline)) int library_never(void)
{
    return sink;
}

int library_work(int (*callback)(int), int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) {
        sum += callback(i);
        if (i > 20)
            sum += library_never();
    }
    return sum + 1;
}
