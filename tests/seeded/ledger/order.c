// SPDX-License-Identifier: Apache-2.0
// Orders: transfers that are done at the end of each month, until they fail twice.
#include <stdio.h>
#include <string.h>

#include "ledger.h"

// NULL: it is kept.
const char *order_add(struct ledger *ledger, const char *from, const char *to, long amount)
{
    if (account_find(ledger, from) == NULL || account_find(ledger, to) == NULL)
        return "no such account";
    if (amount <= 0)
        return "bad amount";
    if (ledger->order_count == ORDER_MOST)
        return "too many orders";
    struct order *order = &ledger->orders[ledger->order_count++];
    memset(order, 0, sizeof *order);
    snprintf(order->from, sizeof order->from, "%s", from);
    snprintf(order->to, sizeof order->to, "%s", to);
    order->amount = amount;
    order->active = true;
    return NULL;
}

static void order_failed(struct ledger *ledger, struct order *order, const char *why)
{
    ledger->rejected++;
    printf("order %s to %s: %s\n", order->from, order->to, why);
    if (++order->failures == 2)
        order->active = false;
}

static void order_run(struct ledger *ledger, struct order *order)
{
    struct account *from = account_find(ledger, order->from);
    struct account *to = account_find(ledger, order->to);
    if (from == NULL) {
        order_failed(ledger, order, "no account");
        return;
    }
    if (!account_covers(from, order->amount)) {
        order_failed(ledger, order, "not covered");
        return;
    }
    if (to->overdraft == 0 && to->balance > 100000) {
        order_failed(ledger, order, "the savings are full");
        return;
    }
    if (book(ledger, BOOKING_TRANSFER, from, to, order->amount))
        order->failures = 0;
}

void orders_run(struct ledger *ledger)
{
    for (int i = 0; i < ledger->order_count; i++) {
        if (ledger->orders[i].active)
            order_run(ledger, &ledger->orders[i]);
    }
}
