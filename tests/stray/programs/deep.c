// SPDX-License-Identifier: Apache-2.0
// Loops in loops: a word a level. The innermost call writes to an array of the outermost frame.
#include "../stray.h"

static volatile int sink;
static int board[3][3];

__attribute__((noinline)) static void mark(int *row, int x)
{
    L;
    if (x == 1) {
        L;
        STRAY(0, row);
        CRASH;
    }
    row[x] += x;
}

__attribute__((noinline)) static void clear(void)
{
    L;
    for (int i = 0; i < 3; i++)
        board[i][i] = 0;
    STRAY(1, board);
    CRASH;
}

__attribute__((noinline)) static int search(int n)
{
    int row[5] = {0};

    for (int a = 0; a < 2; a++) {
        L;
        for (int b = 0; b < n; b++) {
            L;
            if (b == 1)
                clear();
            for (int c = b; c < 3; c++) {
                L;
                if ((a + b + c) % 3 == 0) {
                    L;
                    mark(row, c);
                } else {
                    L;
                    for (int d = 0; d < 2; d++) {
                        L;
                        board[c][d] += d;
                        if (board[c][d] > 2) {
                            L;
                            sink++;
                            mark(row, d);
                        }
                    }
                }
            }
            STRAY(2, row);
            CRASH;
        }
    }
    return row[1];
}

int main(void)
{
    L;
    if (search(2) > 50)
        L;
    else
        sink += search(3);
    CRASH;
    return 0;
}
