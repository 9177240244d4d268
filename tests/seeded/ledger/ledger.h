// SPDX-License-Identifier: Apache-2.0
// Accounts of a bank, what is booked on them, and orders that are done every month.
#ifndef LEDGER_H
#define LEDGER_H

#include <stdbool.h>

#define NAME_LENGTH   16
#define BOOKING_MOST  256
#define ORDER_MOST    16
#define ACCOUNT_LISTS 8

struct account {
    char name[NAME_LENGTH];
    long balance, overdraft;
    bool closed;
    int bookings;
    struct account *next;
};

enum booking_kind { BOOKING_DEPOSIT, BOOKING_WITHDRAWAL, BOOKING_TRANSFER, BOOKING_FEE };

struct booking {
    enum booking_kind kind;
    struct account *from, *to; // NULL: the outside
    long amount;
    bool reversed;
};

struct order {
    char from[NAME_LENGTH], to[NAME_LENGTH];
    long amount;
    int failures;
    bool active;
};

struct ledger {
    struct account *accounts[ACCOUNT_LISTS];
    struct booking bookings[BOOKING_MOST];
    int booking_count;
    struct order orders[ORDER_MOST];
    int order_count;
    long inside; // what all accounts have together
    int month, rejected;
};

// account.c
struct account *account_find(const struct ledger *ledger, const char *name);
struct account *account_open(struct ledger *ledger, const char *name, long overdraft);
bool account_covers(const struct account *account, long amount);
void accounts_free(struct ledger *ledger);

// booking.c
bool book(struct ledger *ledger, enum booking_kind kind, struct account *from, struct account *to,
          long amount);
const char *booking_reverse(struct ledger *ledger, int number);
void ledger_audit(const struct ledger *ledger);

// order.c
const char *order_add(struct ledger *ledger, const char *from, const char *to, long amount);
void orders_run(struct ledger *ledger);

#endif
