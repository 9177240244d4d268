// SPDX-License-Identifier: Apache-2.0
/*
 * What clang's counters prove where macros stand; `selftest` looks. A comment on a line says what the oracle has to find:
 * "ran", "did not", or "either", of what ran or not without the counters of its line being able to tell.
 */
#include <assert.h>

#define WHEN(condition, body) if (condition) { body } else { n++; }
#define ONCE(body) do { body } while (0)
#define STOP(value) { n = value; goto end; }
#define LEAVE_AND_CASE(value) return n; case value: n++; break

static int n;

static int behind_return(int x)
{
    if (x >= 0)
        return 3;
    ONCE(n++;); // did not
    n += 2; // did not
    return 8; // did not
}

static int behind_switch(int x)
{
    switch (x) {
    case 1:
        return 1;
    default:
        STOP(2);
    }

    ONCE (n++;); // did not

    end:
    n++; // did not
    return 3; // did not
}

static int of_system_headers(int x)
{
    if (x >= 0)
        return 3;
    assert(n == 0); // did not
    n++; // did not
    return 8; // did not
}

static int in_arguments(int x)
{
    WHEN(x > 100, { // ran
        n += 3; // either
        n += 4; // either
    })
    ONCE(
        n += 4; // either
        if (n > 0)
            return 8; // either
        n += 5; // either
    );
    n += 1; // did not
    return n; // did not
}

static int in_the_middle(int x)
{
    switch (x) {
    case 2:
        n++; // did not
        LEAVE_AND_CASE(1); // either
    default:
        n--; // did not
    }
    ONCE(n++;); // ran
    assert(n > -100); // ran
    return n; // ran
}

int main(int argc, char **argv)
{
    (void)argv;
    return (behind_return(argc) + behind_switch(argc) + of_system_headers(argc) + in_arguments(argc) + in_the_middle(argc)) & 0;
}
