// SPDX-License-Identifier: Apache-2.0
// Accounts by name, in short lists.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"

static unsigned list_of(const char *name)
{
    unsigned sum = 0;
    for (; *name != '\0'; name++)
        sum = sum * 7 + (unsigned char)*name;
    return sum % ACCOUNT_LISTS;
}

// Closed accounts are not found.
struct account *account_find(const struct ledger *ledger, const char *name)
{
    for (struct account *account = ledger->accounts[list_of(name)]; account != NULL;
         account = account->next) {
        if (!account->closed && strcmp(account->name, name) == 0)
            return account;
    }
    return NULL;
}

struct account *account_open(struct ledger *ledger, const char *name, long overdraft)
{
    if (account_find(ledger, name) != NULL || strlen(name) >= NAME_LENGTH)
        return NULL;
    struct account *account = calloc(1, sizeof *account);
    if (account == NULL)
        exit(3);
    snprintf(account->name, sizeof account->name, "%s", name);
    account->overdraft = overdraft;
    struct account **list = &ledger->accounts[list_of(name)];
    account->next = *list;
    *list = account;
    return account;
}

bool account_covers(const struct account *account, long amount)
{
    return account->balance + account->overdraft >= amount;
}

void accounts_free(struct ledger *ledger)
{
    for (int i = 0; i < ACCOUNT_LISTS; i++) {
        while (ledger->accounts[i] != NULL) {
            struct account *next = ledger->accounts[i]->next;
            free(ledger->accounts[i]);
            ledger->accounts[i] = next;
        }
    }
}
