// SPDX-License-Identifier: Apache-2.0
// Local variables: a value that was overwritten, and one that is not used, are out.
int main(int argc, char **argv)
{
    int a = 3;               // in
    int b = 4;               // out: overwritten
    int c = 5;               // out
    b = a + argc;            // in
    c = c * b;               // out
    int d = b > 100 ? c : b; // in
    a = 77;                  // out: after its use
    (void)argv;
    int stored = argc;         // in: what could not be stored counts as well
    *(volatile int *)(long)d = // in
        stored;
    return a + c; // out
}
