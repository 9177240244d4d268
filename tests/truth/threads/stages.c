// SPDX-License-Identifier: Apache-2.0
/* A pipeline with a barrier of its own: nobody begins a stage before all have ended the one before;
 * the last to come opens it. */
#include "turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 5
#define STAGES  4

struct stage {
    const char *name;
    void (*act)(int *cells, int count, int who);
};

static int cells[WORKERS + 1][16];
static int arrived, opened;

static void add(int *cells, int count, int who)
{
    for (int i = 0; i < count; i++)
        cells[i] += who * i;
}

static void turn_around(int *cells, int count, int who)
{
    for (int i = 0; i < count / 2; i++)
        if ((i + who) % 2) {
            int kept = cells[i];
            cells[i] = cells[count - 1 - i];
            cells[count - 1 - i] = kept;
        }
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void order(int *cells, int count, int who)
{
    qsort(cells, (size_t)count, sizeof *cells, compare);
    if (who == 3)
        cells[0]--;
}

static void fold(int *cells, int count, int who)
{
    if (count <= 1)
        return;
    cells[0] += cells[count - 1] % (who + 1);
    fold(cells, count - 1, who);
}

static const struct stage stages[STAGES] = {
    {"add", add}, {"turn", turn_around}, {"order", order}, {"fold", fold}};

// The last of the workers goes straight through and lets the others go on one by one.
static void barrier(int me)
{
    if (++arrived < WORKERS) {
        turns_hand(me, me + 1 <= WORKERS ? me + 1 : 0);
        return;
    }
    arrived = 0;
    opened++;
    turns_hand(me, 1);
}

static void *work(void *argument)
{
    int me = (int)((int(*)[16])argument - cells);

    turns_hand(me, 0);
    for (int s = 0; s < STAGES; s++) {
        stages[s].act(cells[me], 16, me);
        barrier(me);
    }
    turns_hand(me, me < WORKERS ? me + 1 : 0);
    return NULL;
}

int main(void)
{
    int total = 0;

    turns_begin();
    for (int n = 1; n <= WORKERS; n++) {
        memset(cells[n], n, sizeof cells[n]);
        turns_spawn(0, n, work, cells[n]);
    }
    turns_hand(0, 1);
    for (int n = 1; n <= WORKERS; n += 2)
        turns_join(0, n);
    for (int n = 1; n <= WORKERS; n++)
        for (int i = 0; i < 16; i++)
            total += cells[n][i];
    printf("%d %d %s\n", opened, total, stages[total & 3].name);
    return 0;
}
