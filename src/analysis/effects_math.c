// SPDX-License-Identifier: Apache-2.0
// Mathematics. Rounding modes and flags of the processor are part of the process's state.
#include "analysis/effects_table.h"

// A function for double, float and long double.
#define OF(name) " " #name " " #name "f " #name "l"

// clang-format off
#define MAY_FAIL                                                                                   \
    OF(acos) OF(acosh) OF(asin) OF(asinh) OF(atan) OF(atan2) OF(atanh) OF(cbrt) OF(cos) OF(cosh)   \
    OF(erf) OF(erfc) OF(exp) OF(exp2) OF(exp10) OF(expm1) OF(fdim) OF(fma) OF(fmod) OF(hypot)      \
    OF(ilogb) OF(ldexp) OF(lgamma) OF(llrint) OF(llround) OF(log) OF(log10) OF(log1p) OF(log2)     \
    OF(logb) OF(lrint) OF(lround) OF(nextafter) OF(nexttoward) OF(pow) OF(remainder) OF(drem)      \
    OF(scalb) OF(scalbln) OF(scalbn) OF(sin) OF(sinh) OF(sqrt) OF(tan) OF(tanh) OF(tgamma)         \
    OF(gamma) OF(j0) OF(j1) OF(jn) OF(y0) OF(y1) OF(yn) OF(significand)                            \
    " pow10 __exp_finite __log_finite __pow_finite"
#define CANNOT_FAIL                                                                                \
    OF(ceil) OF(copysign) OF(fabs) OF(floor) OF(fmax) OF(fmin) OF(nearbyint) OF(rint) OF(round)    \
    OF(roundeven) OF(trunc) OF(finite) OF(isinf) OF(isnan) OF(__isnan) OF(__isinf) OF(__finite)    \
    OF(__fpclassify) OF(__signbit) OF(__issignaling) OF(__iseqsig)
// clang-format on

const struct effects_entry effects_math[] = {
    EFFECTS(MAY_FAIL, FAILS),
    NO_EFFECTS(CANNOT_FAIL),
    EFFECTS(OF(frexp), SETS(AT(1), BYTES(4))),
    EFFECTS("modf", SETS(AT(1), BYTES(8))),
    EFFECTS("modff", SETS(AT(1), BYTES(4))),
    EFFECTS("modfl", WRITES(AT(1), BYTES(16))),
    EFFECTS("sincos", SETS(AT(1), BYTES(8)), SETS(AT(2), BYTES(8)), FAILS),
    EFFECTS("sincosf", SETS(AT(1), BYTES(4)), SETS(AT(2), BYTES(4)), FAILS),
    EFFECTS("sincosl", WRITES(AT(1), BYTES(16)), WRITES(AT(2), BYTES(16)), FAILS),
    EFFECTS(OF(remquo), WRITES(AT(2), BYTES(4)), FAILS),
    EFFECTS("lgamma_r lgammaf_r lgammal_r gamma_r", WRITES(AT(1), BYTES(4)), FAILS),
    EFFECTS(OF(nan), READS_STRING(0)),
    EFFECTS("fegetround fetestexcept fegetexcept", USES(PROCESS)),
    EFFECTS("fesetround feclearexcept feraiseexcept feenableexcept fedisableexcept fesetexcept",
            CHANGES(PROCESS)),
    EFFECTS("fegetenv feholdexcept", WRITES(AT(0), BYTES(32)), CHANGES(PROCESS)),
    EFFECTS("fesetenv feupdateenv", READS(AT(0), BYTES(32)), CHANGES(PROCESS)),
    EFFECTS("fegetexceptflag", WRITES(AT(0), BYTES(2)), USES(PROCESS)),
    EFFECTS("fesetexceptflag", READS(AT(0), BYTES(2)), CHANGES(PROCESS)),
};
AREA_END(math)
