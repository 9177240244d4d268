// SPDX-License-Identifier: Apache-2.0
// A load that the linker's optimiser takes out of a function, to pass what it loads: control is in that function.
// opt: -O1 -O2 -O3
// build: -flto
// build: -flto -fuse-ld=lld
// build: -flto -finquest=calls
// build: -finquest=none
// signal: SIGSEGV
#include <stdio.h>
#include <stdlib.h>

struct item { int tag; int value; };

static __attribute__((noinline)) int value_of(struct item *p, int x)
{
  puts("value_of was entered");
  return x;
}

static __attribute__((noinline)) int weigh(struct item *p, int x)
{
  int sum = x * 3;
  sum += p->value;
  printf("%d\n", sum);
  return sum;
}

int main(int argc, char **argv)
{
  struct item *it = argc > 5 ? calloc(1, sizeof *it) : (struct item *)0x10000000000;
  int r = weigh(it, argc);
  if (r > 100)
    r += value_of(it, r);
  return weigh(it, argc + 1) + r;
}
