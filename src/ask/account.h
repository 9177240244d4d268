// SPDX-License-Identifier: Apache-2.0
/*
 * What became of the activations of a run.
 *
 *     struct account account;
 *     account_init(&account, ask);
 *     ... account.stands, account.once ...
 *     account_deinit(&account);
 *
 * All of them are accounted for, when each has returned or stands on the stack. They are not where
 * there were several threads, where frames may be missing, or where code runs of which it is not
 * known what it does to stacks: assembly, functions that are not known and may call back, calls
 * that switch contexts or that leave a child of vfork(). Whatever else runs, main stands where its
 * frame says, and so does what it called once.
 */
#ifndef ASK_ACCOUNT_H
#define ASK_ACCOUNT_H

#include "common/bitset.h"

struct ask_case;

struct account {
    struct bitset stands; // by node of the flow: a pending activation stands there
    struct bitset once;   // by function: entered once, and that activation is pending
    bool is_complete;     // all are accounted for
};

// Where control can jump (longjmp) nothing is accounted for.
void account_init(struct account *account, const struct ask_case *ask);
void account_deinit(struct account *account);

#endif
