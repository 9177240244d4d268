// SPDX-License-Identifier: Apache-2.0
/*
 * Gaps between samples: geometric, with mean `rate`, from one 64-bit random number and integer
 * arithmetic. For U uniform in (0, 1), 1 + floor(log(U) / log(1 - 1 / rate)) is geometric; the
 * logarithm comes from a table with linear interpolation, wrong by at most 2^-16.
 */
#include "runtime/runtime.h"

enum { TABLE_BITS = 7, SMALL_RATE = 16 };

// 2^32 log2(1 + i / 128)
static const uint32_t log2_table[(1 << TABLE_BITS) + 1] = {
    0u,          48220695u,   96069025u,   143550699u,  190671291u,  237436253u,  283850912u,
    329920477u,  375650043u,  421044590u,  466108993u,  510848017u,  555266330u,  599368495u,
    643158981u,  686642163u,  729822324u,  772703658u,  815290272u,  857586191u,  899595355u,
    941321628u,  982768792u,  1023940559u, 1064840562u, 1105472367u, 1145839467u, 1185945290u,
    1225793196u, 1265386481u, 1304728379u, 1343822060u, 1382670639u, 1421277169u, 1459644648u,
    1497776018u, 1535674166u, 1573341930u, 1610782092u, 1647997388u, 1684990500u, 1721764068u,
    1758320682u, 1794662886u, 1830793181u, 1866714024u, 1902427829u, 1937936969u, 1973243777u,
    2008350545u, 2043259528u, 2077972941u, 2112492963u, 2146821738u, 2180961373u, 2214913940u,
    2248681479u, 2282265995u, 2315669461u, 2348893820u, 2381940981u, 2414812824u, 2447511201u,
    2480037932u, 2512394810u, 2544583599u, 2576606038u, 2608463835u, 2640158677u, 2671692221u,
    2703066101u, 2734281925u, 2765341278u, 2796245722u, 2826996792u, 2857596005u, 2888044853u,
    2918344806u, 2948497313u, 2978503803u, 3008365682u, 3038084339u, 3067661140u, 3097097433u,
    3126394546u, 3155553791u, 3184576458u, 3213463820u, 3242217134u, 3270837638u, 3299326552u,
    3327685082u, 3355914416u, 3384015725u, 3411990165u, 3439838878u, 3467562987u, 3495163602u,
    3522641820u, 3549998721u, 3577235372u, 3604352825u, 3631352118u, 3658234277u, 3685000315u,
    3711651229u, 3738188006u, 3764611620u, 3790923031u, 3817123189u, 3843213029u, 3869193478u,
    3895065449u, 3920829844u, 3946487554u, 3972039458u, 3997486426u, 4022829316u, 4048068976u,
    4073206244u, 4098241947u, 4123176902u, 4148011918u, 4172747791u, 4197385310u, 4221925255u,
    4246368396u, 4270715492u, 4294967295u,
};

RUNTIME_CALLED uint64_t __inquest_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// -log2(x / 2^64), with 32 bits behind the point.
static uint64_t minus_log2(uint64_t x)
{
    uint32_t zeros = (uint32_t)__builtin_clzll(x | 1);
    uint64_t fraction = zeros == 63 ? 0 : (x | 1) << (zeros + 1); // of the mantissa, 1 taken off
    uint32_t index = (uint32_t)(fraction >> (64 - TABLE_BITS));
    uint64_t rest = fraction << TABLE_BITS >> 32; // 32 bits
    uint64_t step = (uint64_t)log2_table[index + 1] - log2_table[index];

    return ((uint64_t)(zeros + 1) << 32) - (log2_table[index] + (step * rest >> 32));
}

// 1 / -ln(1 - x) = 1/x - 1/2 - x/12 - x^2/24 - ..., x = 1 / rate; times ln 2.
uint64_t __inquest_gap_scale(uint64_t rate)
{
    const uint64_t ln2 = 0xb17217f7d1cf79acu; // 2^64 ln 2
    unsigned __int128 value;

    if (rate <= SMALL_RATE)
        return 0;
    if (rate > UINT32_MAX)
        rate = UINT32_MAX;
    value = (unsigned __int128)rate << 32;
    value -= 1u << 31;
    value -= ((uint64_t)1 << 32) / (12 * rate);
    value -= ((uint64_t)1 << 32) / (24 * rate * rate);
    return (uint64_t)(value * ln2 >> 64);
}

RUNTIME_CALLED uint64_t __inquest_gap(uint64_t *random, uint64_t rate, uint64_t scale)
{
    uint64_t gap = 1;

    if (rate <= 1)
        return 1;
    if (scale)
        return 1 +
               (uint64_t)((unsigned __int128)minus_log2(__inquest_random(random)) * scale >> 64);
    while ((uint64_t)((unsigned __int128)__inquest_random(random) * rate >> 64) != 0)
        gap++;
    return gap;
}
