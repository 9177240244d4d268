// SPDX-License-Identifier: Apache-2.0
#include "report/signal.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/strbuf.h"
#include "evidence/evidence.h"

struct code {
    int number; // 0: any signal
    int code;
    const char *name;
    const char *meaning;
};

// sigaction(2). Those of any signal come last: a signal's own meaning is found first.
static const struct code codes[] = {
    {SIGSEGV, SEGV_MAPERR, "SEGV_MAPERR", "nothing is mapped there"},
    {SIGSEGV, SEGV_ACCERR, "SEGV_ACCERR", "the mapping there does not allow this access"},
    {SIGSEGV, SEGV_BNDERR, "SEGV_BNDERR", "a bound check failed"},
    {SIGSEGV, SEGV_PKUERR, "SEGV_PKUERR", "a memory protection key forbids it"},
    {SIGSEGV, SI_KERNEL, "SI_KERNEL",
     "general protection fault; mostly a pointer that is not a canonical address, which the "
     "processor does not tell"},
    {SIGBUS, BUS_ADRALN, "BUS_ADRALN", "misaligned address"},
    {SIGBUS, BUS_ADRERR, "BUS_ADRERR",
     "no such memory; often a mapped file that has become shorter"},
    {SIGBUS, BUS_OBJERR, "BUS_OBJERR", "hardware error of the object"},
    {SIGBUS, BUS_MCEERR_AR, "BUS_MCEERR_AR", "hardware memory error"},
    {SIGBUS, BUS_MCEERR_AO, "BUS_MCEERR_AO", "hardware memory error, not touched yet"},
    {SIGFPE, FPE_INTDIV, "FPE_INTDIV", "integer division by zero, or its result does not fit"},
    {SIGFPE, FPE_INTOVF, "FPE_INTOVF", "integer overflow"},
    {SIGFPE, FPE_FLTDIV, "FPE_FLTDIV", "floating-point division by zero"},
    {SIGFPE, FPE_FLTOVF, "FPE_FLTOVF", "floating-point overflow"},
    {SIGFPE, FPE_FLTUND, "FPE_FLTUND", "floating-point underflow"},
    {SIGFPE, FPE_FLTRES, "FPE_FLTRES", "inexact floating-point result"},
    {SIGFPE, FPE_FLTINV, "FPE_FLTINV", "invalid floating-point operation"},
    {SIGFPE, FPE_FLTSUB, "FPE_FLTSUB", "subscript out of range"},
    {SIGILL, ILL_ILLOPC, "ILL_ILLOPC", "illegal opcode"},
    {SIGILL, ILL_ILLOPN, "ILL_ILLOPN", "illegal operand"},
    {SIGILL, ILL_ILLADR, "ILL_ILLADR", "illegal addressing mode"},
    {SIGILL, ILL_ILLTRP, "ILL_ILLTRP", "illegal trap"},
    {SIGILL, ILL_PRVOPC, "ILL_PRVOPC", "privileged opcode"},
    {SIGILL, ILL_PRVREG, "ILL_PRVREG", "privileged register"},
    {SIGILL, ILL_COPROC, "ILL_COPROC", "coprocessor error"},
    {SIGILL, ILL_BADSTK, "ILL_BADSTK", "internal stack error"},
    {SIGTRAP, TRAP_BRKPT, "TRAP_BRKPT", "breakpoint"},
    {SIGTRAP, TRAP_TRACE, "TRAP_TRACE", "single step"},
    {SIGTRAP, SI_KERNEL, "SI_KERNEL", "breakpoint instruction"},
    {SIGABRT, SI_TKILL, "SI_TKILL", "sent by tgkill(), as abort() and failed assertions do"},
    {0, SI_USER, "SI_USER", "sent by kill()"},
    {0, SI_KERNEL, "SI_KERNEL", "sent by the kernel"},
    {0, SI_QUEUE, "SI_QUEUE", "sent by sigqueue()"},
    {0, SI_TIMER, "SI_TIMER", "a timer ran out"},
    {0, SI_MESGQ, "SI_MESGQ", "a message arrived"},
    {0, SI_ASYNCIO, "SI_ASYNCIO", "asynchronous input or output ended"},
    {0, SI_SIGIO, "SI_SIGIO", "input or output became possible"},
    {0, SI_TKILL, "SI_TKILL", "sent by tkill() or tgkill()"},
};

static const struct {
    int number;
    const char *meaning;
} meanings[] = {
    {SIGSEGV, "invalid memory access"},
    {SIGBUS, "memory access that cannot be done"},
    {SIGFPE, "arithmetic error"},
    {SIGILL, "illegal instruction"},
    {SIGTRAP, "trap"},
    {SIGABRT, "the program gave up"},
    {SIGSYS, "system call that is not allowed"},
    {SIGQUIT, "quit, with a core, was asked for"},
    {SIGINT, "interrupted from the terminal"},
    {SIGTERM, "termination was asked for"},
    {SIGKILL, "killed"},
    {SIGHUP, "the terminal was closed"},
    {SIGPIPE, "wrote to a pipe that nobody reads"},
    {SIGALRM, "alarm clock"},
    {SIGXCPU, "limit of processor time exceeded"},
    {SIGXFSZ, "limit of file size exceeded"},
    {SIGUSR1, "user-defined signal"},
    {SIGUSR2, "user-defined signal"},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

// glibc keeps the first two real-time signals for itself; the numbers below are the kernel's and
// those of the failed process, not of this one.
#define RT_FIRST 34
#define RT_LAST  64

void signal_append_name(struct strbuf *text, int number)
{
    const char *name = sigabbrev_np(number);
    if (name)
        strbuf_printf(text, "SIG%s", name);
    else if (number == RT_FIRST)
        strbuf_append(text, "SIGRTMIN");
    else if (number > RT_FIRST && number <= RT_LAST)
        strbuf_printf(text, "SIGRTMIN+%d", number - RT_FIRST);
    else
        strbuf_printf(text, "signal %d", number);
}

static const struct code *find_code(int number, int code)
{
    for (size_t i = 0; i < LENGTH(codes); i++) {
        if ((codes[i].number == 0 || codes[i].number == number) && codes[i].code == code)
            return &codes[i];
    }
    return NULL;
}

const char *signal_code_name(int number, int code)
{
    const struct code *found = find_code(number, code);
    return found ? found->name : NULL;
}

const char *signal_code_meaning(int number, int code)
{
    const struct code *found = find_code(number, code);
    return found ? found->meaning : NULL;
}

const char *signal_meaning(int number)
{
    for (size_t i = 0; i < LENGTH(meanings); i++) {
        if (meanings[i].number == number)
            return meanings[i].meaning;
    }
    return NULL;
}

static bool is_memory_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS;
}

// With SI_KERNEL the address is not the one that was accessed: the kernel leaves it 0.
static bool address_is_told(const struct evidence_signal *signal)
{
    return signal->has_address && signal->code != SI_KERNEL &&
           (signal->code > 0 || signal->code == EVIDENCE_CODE_UNTOLD);
}

void signal_describe(struct strbuf *text, const struct evidence_signal *signal)
{
    if (signal->number == 0) {
        strbuf_append(text, signal->code == EVIDENCE_CODE_UNTOLD
                                ? "no signal is told of"
                                : "no signal: the process was alive");
        return;
    }
    signal_append_name(text, signal->number);
    const char *meaning = signal_meaning(signal->number);
    if (meaning)
        strbuf_printf(text, ": %s", meaning);
    bool told = address_is_told(signal);
    if (told)
        strbuf_printf(text, " at %s 0x%" PRIx64,
                      is_memory_fault(signal->number) ? "address" : "instruction", signal->address);
    const char *why = signal_code_meaning(signal->number, signal->code);
    if (why)
        strbuf_printf(text, " (%s)", why);
    else if (signal->code != EVIDENCE_CODE_UNTOLD)
        strbuf_printf(text, " (code %d)", signal->code);
    if (told && is_memory_fault(signal->number) && signal->address < 4096)
        strbuf_append(text, signal->address ? ": close to a null pointer" : ": a null pointer");
}
