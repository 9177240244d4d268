// SPDX-License-Identifier: Apache-2.0
/*
 * Threads of which one runs at a time, in an order that the program decides: the one whose turn it
 * is holds a lock, and gives it up only inside pthread_cond_wait. So whenever the program fails,
 * every other thread stands in that call, or has ended, and two runs go the same way.
 *
 *     turns_begin();                     main is number 0
 *     turns_spawn(0, 1, work, argument); runs work(argument) until it hands over, or has ended
 *     turns_hand(0, 1);                  1 goes on; returns when somebody hands over to 0
 *     turns_join(0, 1);                  1 goes on to its end
 *
 * At its end a worker hands over to 0. turns.c is not prepared to fail (programs.py, `calm`):
 * between a thread's creation and its first turn, and behind its last, the order is the kernel's.
 */
#ifndef TRUTH_TURNS_H
#define TRUTH_TURNS_H

#define TURNS_MOST 12

void turns_begin(void);
void turns_spawn(int me, int other, void *(*work)(void *), void *argument);
void turns_hand(int me, int to);
void *turns_join(int me, int other);

// Without pthread_join: waits until the kernel does not know the thread any more.
void turns_spawn_detached(int me, int other, void *(*work)(void *), void *argument);
void turns_outlive(int me, int other);

#endif
