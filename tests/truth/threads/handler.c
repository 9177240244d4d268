// SPDX-License-Identifier: Apache-2.0
/* Workers that send themselves signals: handlers run in them, on their stacks or on stacks apart;
 * one is left by a jump. */
#include "turns.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    int number, caught;
    sigjmp_buf back;
    char note[24];
};

static struct place places[TURNS_MOST];
static __thread struct place *mine;

static void write_down(struct place *place, int number)
{
    size_t length = strlen(place->note);

    if (length + 2 < sizeof place->note) {
        place->note[length] = (char)('a' + number % 26);
        place->note[length + 1] = 0;
    }
    place->caught++;
}

static void on_user(int number)
{
    write_down(mine, number);
    if (mine->caught % 3 == 0)
        turns_hand(mine->number, 0); // the handler waits, its thread below it
    write_down(mine, number + 1);
}

static void on_other(int number)
{
    write_down(mine, number);
    if (mine->caught > 4)
        siglongjmp(mine->back, 1);
}

static void provoke(int depth, int which)
{
    char space[64];

    memset(space, depth, sizeof space);
    if (depth > 0)
        provoke(depth - 1, which);
    else
        raise(which);
    mine->note[0] |= space[depth] & 0;
}

static void *work(void *argument)
{
    stack_t stack = {.ss_size = 65536};

    mine = argument;
    stack.ss_sp = malloc(stack.ss_size);
    if (mine->number % 2)
        sigaltstack(&stack, NULL);
    for (int i = 0; i < 3; i++) {
        provoke(i + mine->number, SIGUSR1);
        if (sigsetjmp(mine->back, 1) == 0)
            provoke(i, SIGUSR2);
        else
            write_down(mine, i);
        turns_hand(mine->number, 0);
    }
    return mine;
}

static void install(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

int main(void)
{
    install(SIGUSR1, on_user, SA_ONSTACK);
    install(SIGUSR2, on_other, 0);
    turns_begin();
    for (int n = 1; n <= 3; n++) {
        places[n].number = n;
        turns_spawn(0, n, work, &places[n]);
    }
    for (int i = 0; i < 3; i++)
        for (int n = 3; n >= 1; n--)
            turns_hand(0, n);
    for (int n = 1; n <= 3; n++)
        printf("%s %d\n", places[n].note, places[n].caught);
    return 0;
}
