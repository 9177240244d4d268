// opt: -O0 -O1 -O2
// flags: -fsanitize=memory
// output: 5
// Resolvers run before the sanitizer is there.
#include <stdio.h>
__attribute__((target_clones("avx2", "default"))) int clones(int a) { return a + 1; }
int main(void)
{
    printf("%d\n", clones(4));
    return 0;
}
