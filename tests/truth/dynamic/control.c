// SPDX-License-Identifier: Apache-2.0
// Choices: early returns, goto, switch, loops left by break. A loop that changes nothing is out.
static int early(int n)
{
    if (n > 50)    // in: had it been so, it had returned
        return 0;  // out: was not executed
    if (n == 49) { // out: both ways lead to what follows
        n = n * 2; // out
    }
    n += 0;   // in
    return n; // in
}

static int jumpy(int n)
{
    int sum = 0;   // in
    int noise = 0; // out
again:
    noise += n; // out
    if (n <= 0) // in
        goto done;
    sum += 2; // in
    n--;      // in
    goto again;
done:
    (void)noise;
    return sum; // in
}

static int pick(int kind)
{
    int result = 0; // out: always set
    switch (kind) { // in
    case 1:
        result = 111; // out
        break;
    case 2:
        result = 16; // in
        break;
    default:
        result = 222; // out
    }
    return result; // in
}

static int same(int n)
{
    return n; // in
}

static int alternate(int a, int b)
{
    int last = 0;               // out
    for (int i = 0; i < 2; i++) // in
        last = i == 0           // in
                   ? same(a)    // out: the value of the round before
                   : same(b);   // in
    return last;                // in
}

int main(int argc, char **argv)
{
    int found = 0, steps = 0, noise = 0;
    (void)argv;
    for (int i = 0; i < 10; i++) // out: what it finds is not used
        noise += i;              // out
    for (int i = 0; i < 10; i++) // in
        steps += i;              // in
    for (int k = 0;; k++) {      // in
        if (k * k > 3 + argc) {  // in
            found = k;           // in
            break;
        }
    }
    int a = early(found);    // in
    int b = pick(argc + 1);  // in
    int c = jumpy(3);        // in
    int e = noise + 3;       // out
    int d = alternate(e, c); // in
    if (steps > 1000)        // in: the failure is behind it only when it does not return
        return 7;            // out
    *(volatile int *)(long)  // in
        (a + b + d) = 0;
    return noise;
}
