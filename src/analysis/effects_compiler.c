// SPDX-License-Identifier: Apache-2.0
/*
 * Intrinsics of LLVM, and what compilers call on their own. Not here, so that nobody takes them for
 * harmless: intrinsics whose operands are more than numbers and pointers (llvm.eh.*, coroutines,
 * statepoints), and those of one processor that touch memory.
 */
#include "analysis/effects_table.h"

// Functions of whole numbers, which may be addresses, and of vectors of them.
#define INTEGERS                                                                                   \
    "llvm.abs.* llvm.smax.* llvm.smin.* llvm.umax.* llvm.umin.* llvm.sadd.* llvm.uadd.*"           \
    " llvm.ssub.* llvm.usub.* llvm.smul.* llvm.umul.* llvm.sdiv.* llvm.udiv.* llvm.sshl.*"         \
    " llvm.ushl.* llvm.fshl.* llvm.fshr.* llvm.bswap.* llvm.bitreverse.* llvm.vector.*"
#define NUMBERS                                                                                    \
    "llvm.ctpop.* llvm.ctlz.* llvm.cttz.* llvm.fabs.* llvm.sqrt.* llvm.pow.* llvm.powi.*"          \
    " llvm.exp.* llvm.exp2.* llvm.exp10.* llvm.log.* llvm.log2.* llvm.log10.* llvm.sin.*"          \
    " llvm.cos.* llvm.tan.* llvm.asin.* llvm.acos.* llvm.atan.* llvm.sinh.* llvm.cosh.*"           \
    " llvm.tanh.* llvm.fma.* llvm.fmuladd.* llvm.floor.* llvm.ceil.* llvm.trunc.* llvm.rint.*"     \
    " llvm.nearbyint.* llvm.round.* llvm.roundeven.* llvm.lround.* llvm.llround.* llvm.lrint.*"    \
    " llvm.llrint.* llvm.copysign.* llvm.minnum.* llvm.maxnum.* llvm.minimum.* llvm.maximum.*"     \
    " llvm.canonicalize.* llvm.ldexp.* llvm.frexp.* llvm.is.fpclass.* llvm.fptosi.sat.*"           \
    " llvm.fptoui.sat.* llvm.convert.* llvm.stepvector.* llvm.scmp.* llvm.ucmp.*"                  \
    " llvm.get.active.lane.mask.* llvm.vscale.* llvm.arithmetic.fence.*"                           \
    " llvm.get.dynamic.area.offset.*"
#define HINTS                                                                                      \
    "llvm.lifetime.* llvm.dbg.* llvm.assume* llvm.donothing* llvm.sideeffect* llvm.prefetch.*"     \
    " llvm.invariant.end.* llvm.experimental.noalias.scope.decl* llvm.pseudoprobe*"                \
    " llvm.var.annotation* llvm.codeview.annotation* llvm.is.constant.* llvm.objectsize.*"         \
    " llvm.type.test* llvm.public.type.test* llvm.allow.* llvm.stackrestore* llvm.va_end*"         \
    " llvm.instrprof.* llvm.fake.use* llvm.localescape* llvm.set.rounding*"                        \
    " llvm.get.rounding* llvm.flt.rounds*"

const struct effects_entry effects_compiler[] = {
    EFFECTS("llvm.memcpy.* llvm.memmove.*", COPIES(AT(1), AT(0), TIMES(2)), READS(AT(1), TIMES(2)),
            SETS(AT(0), TIMES(2))),
    EFFECTS("llvm.memset.*", SETS(AT(0), TIMES(2))),
    NO_EFFECTS(NUMBERS),
    EFFECTS(INTEGERS, RETURNS_WITHIN(ARG(0)), RETURNS_WITHIN(ARG(1)), RETURNS_WITHIN(ARG(2))),
    NO_EFFECTS(HINTS),
    // The value itself goes through.
    EFFECTS("llvm.expect.* llvm.expect.with.probability.* llvm.ssa.copy.* llvm.annotation.*"
            " llvm.ptr.annotation.* llvm.threadlocal.address.* llvm.launder.invariant.group.*"
            " llvm.strip.invariant.group.*",
            RETURNS(ARG(0))),
    EFFECTS("llvm.ptrmask.* llvm.preserve.*", RETURNS_WITHIN(ARG(0))),
    // Addresses of frames and of code: no objects of the program.
    EFFECTS("llvm.frameaddress.* llvm.returnaddress* llvm.addressofreturnaddress.*"
            " llvm.sponentry.*",
            RETURNS_WITHIN(STATE(PROCESS))),
    EFFECTS("llvm.thread.pointer*", RETURNS(STATE(THREADS))),
    // Where the stack was; an address that is only given back.
    NO_EFFECTS("llvm.stacksave*"),
    EFFECTS("llvm.invariant.start.*", RETURNS(STATE(STRINGS))),
    // The variadic arguments of the function that it stands in: who asks has to know which.
    EFFECTS("llvm.va_start*", SETS(AT(0), BYTES(24))),
    EFFECTS("llvm.va_copy*", COPIES(AT(1), AT(0), BYTES(32)), READS(AT(1), BYTES(32)),
            WRITES(AT(0), BYTES(32))),
    NEVER_RETURNS("llvm.trap* llvm.ubsantrap*", CHANGES(PROCESS)),
    EFFECTS("llvm.debugtrap*", CHANGES(PROCESS)),
    EFFECTS("llvm.readcyclecounter* llvm.readsteadycounter*", USES(TIME)),
    EFFECTS("llvm.clear_cache* llvm.x86.sse2.mfence llvm.x86.sse2.lfence llvm.x86.sse.sfence"
            " llvm.x86.sse2.pause",
            CHANGES(THREADS)),
    // The value that is stored comes first; masks say which elements.
    EFFECTS("llvm.masked.store.* llvm.masked.compressstore.*", COPIES(ARG(0), AT(1), ANY),
            WRITES(AT(1), ANY)),
    EFFECTS("llvm.masked.load.* llvm.masked.expandload.*", READS(AT(0), ANY),
            COPIES(AT(0), RESULT, ANY), RETURNS(ARG(2)), RETURNS(ARG(3))),
    EFFECTS("llvm.masked.gather.*", READS(AT(0), ANY), COPIES(AT(0), RESULT, ANY), RETURNS(ARG(3))),
    EFFECTS("llvm.masked.scatter.*", COPIES(ARG(0), AT(1), ANY), WRITES(AT(1), ANY)),

    NO_EFFECTS("__udivti3 __umodti3 __divti3 __modti3 __udivmodti4 __multi3 __muloti4 __mulodi4"
               " __mulosi4 __ashlti3 __ashrti3 __lshrti3 __popcountdi2 __clzdi2 __ctzdi2"
               " __bswapdi2 __fixunsdfdi __fixdfti __fixunsdfti __fixsfti __fixunssfti"
               " __fixunsxfti __fixxfti __floattidf __floattisf __floattixf __floatuntidf"
               " __floatuntisf __floatuntixf __powidf2 __powisf2 __powixf2 __muldc3 __mulsc3"
               " __mulxc3 __divdc3 __divsc3 __divxc3 __addtf3 __subtf3 __multf3 __divtf3 __eqtf2"
               " __netf2 __lttf2 __letf2 __gttf2 __getf2 __unordtf2 __extenddftf2"
               " __extendsftf2 __extendxftf2 __trunctfdf2 __trunctfsf2 __trunctfxf2"
               " __floatsitf __floatditf __floatunsitf __floatunditf __fixtfsi __fixtfdi"
               " __fixunstfsi __fixunstfdi __extendhfsf2 __truncsfhf2 __truncdfhf2"
               " __cpu_indicator_init"),
};
AREA_END(compiler)
