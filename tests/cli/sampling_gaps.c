// The gaps between samples against the geometric distribution: mean, and chi-squared over classes of about equal weight.
#include <math.h>
#include <stdint.h>
#include <stdio.h>

uint64_t __inquest_gap_scale(uint64_t rate);
uint64_t __inquest_gap(uint64_t *random, uint64_t rate, uint64_t scale);

enum { DRAWS = 400000, CLASSES = 20 };

static int check(uint64_t rate, uint64_t seed)
{
    uint64_t scale = __inquest_gap_scale(rate), bound[CLASSES + 1] = {0}, found[CLASSES] = {0};
    double q = 1 - 1.0 / (double)rate, sum = 0, chi = 0;
    int classes = 0;

    // P(gap > n) = q^n
    for (int c = 1; c < CLASSES; c++) {
        uint64_t next = (uint64_t)ceil(log(1 - (double)c / CLASSES) / log(q));
        if (next > bound[classes])
            bound[++classes] = next;
    }
    bound[++classes] = UINT64_MAX;
    for (int i = 0; i < DRAWS; i++) {
        uint64_t gap = __inquest_gap(&seed, rate, scale);
        int c = 0;
        if (gap == 0)
            return printf("a gap of 0 at 1/%llu\n", (unsigned long long)rate), 1;
        while (gap > bound[c + 1])
            c++;
        found[c]++;
        sum += (double)gap;
    }
    for (int c = 0; c < classes; c++) {
        double above = c + 1 == classes ? 0 : pow(q, (double)bound[c + 1]);
        double expected = DRAWS * (pow(q, (double)bound[c]) - above);
        chi += ((double)found[c] - expected) * ((double)found[c] - expected) / expected;
    }
    double deviation = sqrt(q) * (double)rate / sqrt(DRAWS), mean = sum / DRAWS;
    // 1 in 10^6: mean + 5 sigma, and about the same for chi-squared
    int bad = fabs(mean - (double)rate) > 5 * deviation || chi > classes + 5 * sqrt(2.0 * classes) + 15;
    printf("1/%llu: mean %.3f, chi-squared %.1f of %d%s\n", (unsigned long long)rate, mean, chi, classes - 1, bad ? " BAD" : "");
    return bad;
}

int main(void)
{
    static const uint64_t rates[] = {2, 3, 7, 16, 17, 50, 100, 333, 1000, 10000, 1000000, 4000000000u};
    uint64_t seed = 5;
    int bad = 0;

    for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
        bad |= check(rates[i], seed++);
    for (int i = 0; i < 1000; i++)
        bad |= __inquest_gap(&seed, 1, __inquest_gap_scale(1)) != 1;
    return bad;
}
