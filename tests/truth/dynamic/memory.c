// SPDX-License-Identifier: Apache-2.0
// Memory through pointers, and elements of arrays: only what this very element got is in.
static int table[8];
static int *cursor;

int main(int argc, char **argv)
{
    int first = 1, second = 2;
    int *p = &first; // out
    (void)argv;
    p = &second;            // in
    *p = argc + 20;         // in, writes local
    first = 9;              // out
    table[3] = second;      // in, writes global table
    table[4] = first;       // out
    cursor = table;         // in
    cursor += 2;            // in
    cursor++;               // in, writes global cursor
    table[5] = 6;           // out
    int got = *cursor;      // in
    table[3] = 0;           // out: too late
    *(volatile int *)(long) // in
        got = 1;
    return 0;
}
