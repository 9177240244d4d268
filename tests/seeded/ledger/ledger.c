// SPDX-License-Identifier: Apache-2.0
/*
 * A bank, driven by commands: open NAME [OVERDRAFT], close NAME, deposit NAME N, withdraw NAME N,
 * transfer NAME NAME N, reverse NUMBER, order NAME NAME N, month, statement NAME, audit.
 *
 *     ledger [-f FEE]     what an account costs a month
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"

struct words {
    char *word[4];
    int count;
};

static void reject(struct ledger *ledger, const char *why)
{
    ledger->rejected++;
    printf("rejected: %s\n", why);
}

static long amount_of(const struct words *words, int number)
{
    return number < words->count ? atol(words->word[number]) : 0;
}

static void command_open(struct ledger *ledger, const struct words *words)
{
    if (account_open(ledger, words->word[1], amount_of(words, 2)) == NULL)
        reject(ledger, "cannot open");
}

static void command_close(struct ledger *ledger, const struct words *words)
{
    struct account *account = account_find(ledger, words->word[1]);
    if (account == NULL) {
        reject(ledger, "no such account");
        return;
    }
    if (account->balance < 0) {
        reject(ledger, "in debt");
        return;
    }
    if (account->balance > 0)
        book(ledger, BOOKING_WITHDRAWAL, account, NULL, account->balance);
    if (account->balance == 0)
        account->closed = true;
}

static void command_deposit(struct ledger *ledger, const struct words *words)
{
    struct account *account = account_find(ledger, words->word[1]);
    if (account == NULL)
        reject(ledger, "no such account");
    else if (!book(ledger, BOOKING_DEPOSIT, NULL, account, amount_of(words, 2)))
        reject(ledger, "bad deposit");
    else
        printf("booking %d\n", ledger->booking_count - 1);
}

static void command_withdraw(struct ledger *ledger, const struct words *words)
{
    struct account *account = account_find(ledger, words->word[1]);
    if (account == NULL)
        reject(ledger, "no such account");
    else if (!book(ledger, BOOKING_WITHDRAWAL, account, NULL, amount_of(words, 2)))
        reject(ledger, "not covered");
    else
        printf("booking %d\n", ledger->booking_count - 1);
}

static void command_transfer(struct ledger *ledger, const struct words *words)
{
    struct account *from = account_find(ledger, words->word[1]);
    struct account *to = words->count > 2 ? account_find(ledger, words->word[2]) : NULL;
    if (from == NULL || to == NULL || from == to)
        reject(ledger, "no such account");
    else if (!book(ledger, BOOKING_TRANSFER, from, to, amount_of(words, 3)))
        reject(ledger, "not covered");
    else
        printf("booking %d\n", ledger->booking_count - 1);
}

static void command_reverse(struct ledger *ledger, const struct words *words)
{
    const char *problem = booking_reverse(ledger, atoi(words->word[1]));
    if (problem != NULL)
        reject(ledger, problem);
}

static void command_order(struct ledger *ledger, const struct words *words)
{
    const char *problem = "too few words";
    if (words->count == 4)
        problem = order_add(ledger, words->word[1], words->word[2], amount_of(words, 3));
    if (problem != NULL)
        reject(ledger, problem);
}

static void command_statement(struct ledger *ledger, const struct words *words)
{
    const struct account *account = account_find(ledger, words->word[1]);
    if (account == NULL) {
        reject(ledger, "no such account");
        return;
    }
    printf("%s: %ld after %d bookings\n", account->name, account->balance, account->bookings);
    for (int i = 0; i < ledger->booking_count; i++) {
        const struct booking *booking = &ledger->bookings[i];
        if (booking->from != account && booking->to != account)
            continue;
        printf("  %d: %s%ld%s\n", i, booking->from == account ? "-" : "+", booking->amount,
               booking->reversed ? " (reversed)" : "");
    }
}

static void month(struct ledger *ledger, long fee)
{
    orders_run(ledger);
    for (int i = 0; i < ACCOUNT_LISTS; i++) {
        for (struct account *account = ledger->accounts[i]; account != NULL;
             account = account->next) {
            if (!account->closed && fee > 0)
                book(ledger, BOOKING_FEE, account, NULL, fee);
        }
    }
    ledger->month++;
    printf("month %d: %ld inside\n", ledger->month, ledger->inside);
}

static void command(struct ledger *ledger, char *line, long fee)
{
    static const struct {
        const char *name;
        void (*run)(struct ledger *ledger, const struct words *words);
    } commands[] = {
        {"open", command_open},         {"close", command_close},
        {"deposit", command_deposit},   {"withdraw", command_withdraw},
        {"transfer", command_transfer}, {"reverse", command_reverse},
        {"order", command_order},       {"statement", command_statement},
    };
    struct words words = {0};
    for (char *word = strtok(line, " \n"); word != NULL && words.count < 4;
         word = strtok(NULL, " \n"))
        words.word[words.count++] = word;
    if (words.count == 0)
        return;
    if (strcmp(words.word[0], "month") == 0) {
        month(ledger, fee);
        return;
    }
    if (strcmp(words.word[0], "audit") == 0) {
        ledger_audit(ledger);
        return;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (words.count > 1 && strcmp(words.word[0], commands[i].name) == 0) {
            commands[i].run(ledger, &words);
            return;
        }
    }
    reject(ledger, "what?");
}

int main(int argc, char **argv)
{
    static struct ledger ledger;
    char line[128];
    long fee = argc > 2 && strcmp(argv[1], "-f") == 0 ? atol(argv[2]) : 0;
    while (fgets(line, sizeof line, stdin) != NULL)
        command(&ledger, line, fee);
    ledger_audit(&ledger);
    printf("%d bookings, %d rejected\n", ledger.booking_count, ledger.rejected);
    accounts_free(&ledger);
    return 0;
}
