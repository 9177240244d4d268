// SPDX-License-Identifier: Apache-2.0
/*
 * What a signal means, in words.
 *
 *     struct strbuf text = STRBUF_INIT;
 *     signal_describe(&text, &evidence->signal);
 *     // SIGSEGV: invalid memory access at address 0x0 (nothing is mapped there): a null pointer
 */
#ifndef REPORT_SIGNAL_H
#define REPORT_SIGNAL_H

struct evidence_signal;
struct strbuf;

// "SIGSEGV"; "SIGRTMIN+2"; "signal 99" where there is none. Appended.
void signal_append_name(struct strbuf *text, int number);
// "SEGV_MAPERR", "SI_TKILL"; NULL where unknown.
const char *signal_code_name(int number, int code);
// What the code says, as "nothing is mapped there"; NULL where unknown.
const char *signal_code_meaning(int number, int code);
// What the signal says, as "invalid memory access"; NULL where unknown.
const char *signal_meaning(int number);
// All of it, in one line. Number 0: no signal.
void signal_describe(struct strbuf *text, const struct evidence_signal *signal);

#endif
