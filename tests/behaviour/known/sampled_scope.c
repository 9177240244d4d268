// Sampling compares with variables that are not in scope yet: no business of AddressSanitizer's.
// opt: -O0 -O2
// flags: -fsanitize=address
// levels: none,suspects paths,suspects
// sampled: 1
// output: 2 48890
#include <stdio.h>

static unsigned take(unsigned *first, unsigned *second)
{
    return (unsigned)sscanf("12 beee rest", "%u %x", first, second);
}

int main(void)
{
    unsigned first = 0, second = 0;
    unsigned got = take(&first, &second);

    printf("%u %u\n", got, first + second);
    return 0;
}
