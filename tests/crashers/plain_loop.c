// SPDX-License-Identifier: Apache-2.0
// In a plain copy a loop of an inlined function becomes a multiplication by what it loads, with the place of the call.
// opt: -O1 -O2 -O3
// build: off=*
// build: -finquest=full off=*
// signal: SIGSEGV
#include <stdio.h>
#include <stdlib.h>

struct item { int tag; unsigned value; };

static void note(unsigned n)
{
  fprintf(stderr, "note: %u\n", n);
}

static unsigned total(struct item *p, unsigned n)
{
  unsigned sum = 0;
  note(n);
  for (unsigned i = 0, m = n & 3;
       i < m;
       i++)
    sum += p->value;
  return sum;
}

int main(int argc, char **argv)
{
  struct item *it = argc > 5 ? calloc(1, sizeof *it) : (struct item *)0x10000000000;
  unsigned t = argc;
  t += total(it, t);
  printf("%u\n", t);
  return 0;
}
