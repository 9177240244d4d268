// SPDX-License-Identifier: Apache-2.0
// Bookings, their reversal, and the audit.
#include <stdlib.h>

#include "ledger.h"

static void change(struct ledger *ledger, struct account *account, long amount)
{
    if (account == NULL)
        return;
    account->balance += amount;
    account->bookings++;
    ledger->inside += amount;
}

bool book(struct ledger *ledger, enum booking_kind kind, struct account *from, struct account *to,
          long amount)
{
    if (amount <= 0 || ledger->booking_count == BOOKING_MOST)
        return false;
    if (from != NULL && kind != BOOKING_FEE && !account_covers(from, amount))
        return false;
    ledger->bookings[ledger->booking_count++] = (struct booking){kind, from, to, amount, false};
    change(ledger, from, -amount);
    change(ledger, to, amount);
    return true;
}

// NULL: it is done.
const char *booking_reverse(struct ledger *ledger, int number)
{
    if (number < 0 || number >= ledger->booking_count)
        return "no such booking";
    struct booking *booking = &ledger->bookings[number];
    if (booking->reversed && booking->kind == BOOKING_FEE)
        return "not to be reversed";
    if ((booking->from != NULL && booking->from->closed) ||
        (booking->to != NULL && booking->to->closed))
        return "the account is closed";
    change(ledger, booking->from, booking->amount);
    change(ledger, booking->to, -booking->amount);
    booking->reversed = true;
    return NULL;
}

// What the bookings say that an account has.
static long booked(const struct ledger *ledger, const struct account *account)
{
    long sum = 0;
    for (int i = 0; i < ledger->booking_count; i++) {
        const struct booking *booking = &ledger->bookings[i];
        if (booking->reversed)
            continue;
        if (booking->from == account)
            sum -= booking->amount;
        if (booking->to == account)
            sum += booking->amount;
    }
    return sum;
}

void ledger_audit(const struct ledger *ledger)
{
    long total = 0;
    for (int i = 0; i < ACCOUNT_LISTS; i++) {
        for (const struct account *account = ledger->accounts[i]; account != NULL;
             account = account->next) {
            if (account->balance != booked(ledger, account))
                abort();
            total += account->balance;
        }
    }
    if (total != ledger->inside)
        abort();
}
