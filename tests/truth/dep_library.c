// SPDX-License-Identifier: Apache-2.0
/*
 * What calls of the C library read and wrote, in this very run: by actual lengths, before and after
 * the call. Known to the oracle alone; src/analysis has a table of its own. What is not here is
 * taken to define nothing: a dynamic slice is then too small, never too large.
 *
 * Effects are words; digits are numbers of arguments.
 *
 *   before                                  after
 *   s0    reads the string at 0             S0    wrote the string that is at 0 now
 *   n01   the string at 0, at most 1 bytes  G0    the same, if the result is not 0
 *   b01   1 bytes at 0                      B01   wrote 1 bytes at 0
 *   m012  1 * 2 bytes at 0                  O01   wrote what was printed at 0, of 1 bytes room
 *   f0    the format at 0 and its strings   R0    wrote as many bytes at 0 as the result says
 *   v0    the same, its list is at 0 + 1    K01   the same, times 1
 *   t0    the stream at 0 and its state     P0    wrote a pointer at 0, if 0 is one
 *   d0    the descriptor 0 and its state    Q0    wrote an int at 0
 *   i, o  stdin, stdout                     U0    wrote a stat at 0
 *                                           C01   copied the string at 1 to 0
 *   q0    state 0 of the library            E01   appended the string at 1 to that at 0
 *   x0    frees 0                           N012  the same as C, exactly 2 bytes (strncpy)
 *   y0    will be moved at 0: 1 * 2 bytes   Y012  copied 2 bytes from 1 to 0
 *                                           A0    allocated 0 bytes
 *                                           Z01   allocated 0 * 1 bytes of zeros
 *                                           D0    allocated a copy of the string at 0
 *                                           r01   moved the allocation at 0 to one of 1 bytes
 *                                           T0    strtok: of the string at 0, or of the last one
 *                                           H0    scanf: format at 0
 *                                           L01   getline: a line at *0, of *1 bytes room
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "dep_runtime.h"

static const struct dep_effects known[] = {
    {"memcpy", "Y012"},
    {"memmove", "Y012"},
    {"mempcpy", "Y012"},
    {"memset", "B02"},
    {"memcmp", "b02 b12"},
    {"bcmp", "b02 b12"},
    {"strlen", "s0"},
    {"strnlen", "n01"},
    {"strcmp", "s0 s1"},
    {"strncmp", "n02 n12"},
    {"strcoll", "s0 s1"},
    {"strcasecmp", "s0 s1"},
    {"strncasecmp", "n02 n12"},
    {"strchr", "s0"},
    {"strrchr", "s0"},
    {"strchrnul", "s0"},
    {"strstr", "s0 s1"},
    {"strspn", "s0 s1"},
    {"strcspn", "s0 s1"},
    {"strpbrk", "s0 s1"},
    {"strcpy", "C01"},
    {"stpcpy", "C01"},
    {"strcat", "s0 E01"},
    {"strncpy", "N012"},
    {"strdup", "D0"},
    {"strtok", "q1 T0"},
    {"atoi", "s0"},
    {"atol", "s0"},
    {"atoll", "s0"},
    {"atof", "s0"},
    {"strtol", "s0 P1"},
    {"strtoul", "s0 P1"},
    {"strtoll", "s0 P1"},
    {"strtoull", "s0 P1"},
    {"strtod", "s0 P1"},
    {"strtof", "s0 P1"},
    {"printf", "o f0"},
    {"fprintf", "t0 f1"},
    {"sprintf", "f1 S0"},
    {"snprintf", "f2 O01"},
    {"vprintf", "o v0"},
    {"vfprintf", "t0 v1"},
    {"vsprintf", "v1 S0"},
    {"vsnprintf", "v2 O01"},
    {"puts", "o s0"},
    {"fputs", "s0 t1"},
    {"putchar", "o"},
    {"fputc", "t1"},
    {"putc", "t1"},
    {"fwrite", "m012 t3"},
    {"fflush", ""},
    {"perror", "s0"},
    {"fgets", "t2 G0"},
    {"fgetc", "t0"},
    {"getc", "t0"},
    {"getchar", "i"},
    {"ungetc", "t1"},
    {"fread", "t3 K01"},
    {"getline", "t2 L01"},
    {"scanf", "i H0"},
    {"fscanf", "t0 H1"},
    {"sscanf", "s0 H1"},
    {"feof", "t0"},
    {"ferror", "t0"},
    {"clearerr", "t0"},
    {"fopen", "s0 s1"},
    {"fopen64", "s0 s1"},
    {"fseeko", "t0"},
    {"ftello", "t0"},
    {"access", "s0"},
    {"getuid", ""},
    {"geteuid", ""},
    {"getpid", ""},
    {"fclose", "t0"},
    {"fseek", "t0"},
    {"ftell", "t0"},
    {"rewind", "t0"},
    {"fileno", ""},
    {"setvbuf", ""},
    {"read", "d0 R1"},
    {"write", "b12 d0"},
    {"open", "s0"},
    {"close", "d0"},
    {"lseek", "d0"},
    {"isatty", ""},
    {"fstat", "U1"},
    {"stat", "s0 U1"},
    {"lstat", "s0 U1"},
    {"malloc", "A0"},
    {"calloc", "Z01"},
    {"realloc", "r01"},
    {"free", "x0"},
    {"qsort", "m012 y0"},
    {"bsearch", ""},
    {"rand", "q2"},
    {"srand", "q2"},
    {"time", "P0"},
    {"clock", ""},
    {"getenv", "s0"},
    {"strerror", ""},
    {"exit", ""},
    {"abort", ""},
    {"raise", ""},
    {"__assert_fail", "s0 s1"},
    {"longjmp", ""},
    {"_longjmp", ""},
    {"siglongjmp", ""},
    {"setjmp", ""},
    {"_setjmp", ""},
    {"__sigsetjmp", ""},
    {"signal", ""},
    {"localeconv", ""},
    {"__ctype_b_loc", ""},
    {"__ctype_tolower_loc", ""},
    {"__ctype_toupper_loc", ""},
    {"__errno_location", ""},
    {"tolower", ""},
    {"toupper", ""},
    {"isalpha", ""},
    {"isdigit", ""},
    {"isalnum", ""},
    {"isspace", ""},
    {"isupper", ""},
    {"islower", ""},
    {"ispunct", ""},
    {"isprint", ""},
    {"isxdigit", ""},
    {"iscntrl", ""},
    {"isgraph", ""},
    {"abs", ""},
    {"labs", ""},
    {"pow", ""},
    {"fmod", ""},
    {"floor", ""},
    {"ceil", ""},
    {"sqrt", ""},
    {"log", ""},
    {"log2", ""},
    {"log10", ""},
    {"exp", ""},
    {"sin", ""},
    {"cos", ""},
    {"tan", ""},
    {"ldexp", ""},
    {"frexp", "Q1"},
    {"fabs", ""},
};

const struct dep_effects *dep_find_effects(const char *name)
{
    if (strncmp(name, "__isoc99_", 9) == 0 || strncmp(name, "__isoc23_", 9) == 0)
        name += 9;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    return NULL;
}

static uint64_t argument(const struct dep_call *call, char digit)
{
    uint32_t index = (uint32_t)(digit - '0');

    return index < call->count ? call->arguments[index] : 0;
}

static uint64_t string_length(uint64_t address)
{
    return strlen((const char *)address);
}

static void reads(const struct dep_call *call, uint64_t address, uint64_t length)
{
    if (address && length)
        dep_log(DEP_READ, call->insn, (uint32_t)length, address);
}

static void writes(const struct dep_call *call, uint64_t address, uint64_t length)
{
    if (address && length)
        dep_log(DEP_WRITE, call->insn, (uint32_t)length, address);
}

static void reads_string(const struct dep_call *call, uint64_t address)
{
    if (address)
        reads(call, address, string_length(address) + 1);
}

static void copies(const struct dep_call *call, uint64_t to, uint64_t from, uint64_t length)
{
    if (!length)
        return;
    dep_log(DEP_COPY, call->insn, (uint32_t)length, to);
    dep_log(DEP_MORE, call->insn, 0, from);
}

// ---------------------------------------------------------------- formats

// One conversion of a format: %[flags][width][.precision][modifiers]letter. Returns what follows.
struct conversion {
    char letter;
    int stars, precision, width; // -1: none; precision -2: the last star
    int longs, shorts;           // l, ll, z, j, t count as long; h, hh
    int suppressed;              // scanf's *
};

static const char *next_conversion(const char *at, int of_scanf, struct conversion *ret)
{
    while (*at && (at[0] != '%' || at[1] == '%'))
        at += at[0] == '%' ? 2 : 1;
    *ret = (struct conversion){.precision = -1, .width = -1};
    if (!*at)
        return NULL;
    at++;
    for (int dot = 0; *at && strchr("-+ #0123456789.*'lhzjtLqm", *at); at++) {
        if (*at == '*' && of_scanf)
            ret->suppressed = 1;
        else if (*at == '*')
            ret->stars++, ret->precision = dot ? -2 : ret->precision;
        else if (*at == '.')
            dot = 1, ret->precision = 0;
        else if (*at >= '0' && *at <= '9' && dot)
            ret->precision = ret->precision * 10 + *at - '0';
        else if (*at >= '0' && *at <= '9')
            ret->width = (ret->width < 0 ? 0 : ret->width * 10) + *at - '0';
        else if (*at == 'h')
            ret->shorts++;
        else if (strchr("lzjtLq", *at))
            ret->longs++;
    }
    ret->letter = *at;
    if (*at == '[') {
        at += at[1] == '^' ? 2 : 1;
        at += *at == ']';
        while (*at && *at != ']')
            at++;
    }
    return *at ? at + 1 : at;
}

static void reads_printed(const struct dep_call *call, const struct conversion *conversion,
                          uint64_t value, uint64_t star)
{
    int64_t most = conversion->precision == -2 ? (int)star : conversion->precision;

    if (conversion->letter != 's' || conversion->longs || !value)
        return;
    uint64_t length =
        most < 0 ? string_length(value) + 1 : strnlen((const char *)value, (size_t)most);
    reads(call, value, length);
}

static void reads_format(const struct dep_call *call, char digit)
{
    uint32_t next = (uint32_t)(digit - '0') + 1;
    const char *at = (const char *)argument(call, digit);
    struct conversion conversion;

    reads_string(call, (uint64_t)at);
    while (at && (at = next_conversion(at, 0, &conversion)) != NULL) {
        next += (uint32_t)conversion.stars;
        uint64_t star = conversion.stars && next <= call->count ? call->arguments[next - 1] : 0;
        if (conversion.letter != 'm' && next < call->count)
            reads_printed(call, &conversion, call->arguments[next++], star);
    }
}

// Where the next argument of the list is: the registers that were saved, or the stack (x86-64).
static uint64_t next_in_list(va_list list, int is_double)
{
    struct {
        uint32_t general, floating;
        uint64_t stack, registers;
    } at;

    memcpy(&at, list, sizeof(at));
    if (is_double)
        return at.floating < 176 ? at.registers + at.floating : at.stack;
    return at.general < 48 ? at.registers + at.general : at.stack;
}

static void reads_format_list(const struct dep_call *call, char digit)
{
    const char *at = (const char *)argument(call, digit);
    uint64_t passed = argument(call, (char)(digit + 1));
    va_list list;
    struct conversion conversion;

    reads_string(call, (uint64_t)at);
    reads(call, passed, sizeof(va_list));
    va_copy(list, *(va_list *)passed);
    while (at && (at = next_conversion(at, 0, &conversion)) != NULL) {
        int star = 0;
        for (int i = 0; i < conversion.stars; i++) {
            reads(call, next_in_list(list, 0), 8);
            star = va_arg(list, int);
        }
        int is_double = conversion.letter && strchr("aAeEfFgG", conversion.letter);
        if (conversion.letter == 'm')
            continue;
        reads(call, next_in_list(list, is_double), 8);
        if (is_double)
            (void)va_arg(list, double);
        else
            reads_printed(call, &conversion, va_arg(list, uint64_t), (uint64_t)star);
    }
    va_end(list);
}

static uint64_t scanned_size(const struct conversion *conversion, uint64_t address)
{
    switch (conversion->letter) {
    case 's':
    case '[':
        return string_length(address) + 1;
    case 'c':
        return conversion->width > 0 ? (uint64_t)conversion->width : 1;
    case 'a':
    case 'e':
    case 'f':
    case 'g':
        return conversion->longs ? 8 : 4;
    case 'p':
        return 8;
    default:
        return conversion->longs ? 8 : conversion->shorts == 2 ? 1 : conversion->shorts ? 2 : 4;
    }
}

static void wrote_scanned(const struct dep_call *call, char digit)
{
    uint32_t next = (uint32_t)(digit - '0') + 1;
    const char *at = (const char *)argument(call, digit);
    int left = (int)call->result;
    struct conversion conversion;

    while (left > 0 && next < call->count && (at = next_conversion(at, 1, &conversion)) != NULL) {
        if (conversion.suppressed)
            continue;
        uint64_t address = call->arguments[next++];
        writes(call, address, scanned_size(&conversion, address));
        left -= conversion.letter != 'n';
    }
}

// ---------------------------------------------------------------- memory of the heap

static uint64_t size_before; // of what realloc is given

static void allocated(const struct dep_call *call, uint64_t address, uint64_t size)
{
    if (address)
        dep_log(DEP_ALLOCATE, call->insn, (uint32_t)size, address);
}

static void moved(const struct dep_call *call, uint64_t from, uint64_t size)
{
    uint64_t to = call->result, kept = size < size_before ? size : size_before;

    if (!to)
        return;
    if (from && from != to)
        copies(call, to, from, kept); // before it is told as new: its contents stay
    if (from)
        dep_log(DEP_FREE, call->insn, from == to, from);
    dep_log(DEP_ALLOCATE, call->insn | DEP_KEEPS, (uint32_t)size, to);
}

// ---------------------------------------------------------------- effects

static void state(const struct dep_call *call, uint64_t address)
{
    reads(call, address, 1);
    writes(call, address, 1);
}

static void before(const char *w, const struct dep_call *call)
{
    uint64_t first = w[0] && w[1] ? argument(call, w[1]) : 0;

    switch (w[0]) {
    case 's':
        reads_string(call, first);
        break;
    case 'n':
        reads(call, first, strnlen((const char *)first, argument(call, w[2])));
        break;
    case 'b':
        reads(call, first, argument(call, w[2]));
        break;
    case 'm':
        reads(call, first, argument(call, w[2]) * argument(call, w[3]));
        break;
    case 'f':
        reads_format(call, w[1]);
        break;
    case 'v':
        reads_format_list(call, w[1]);
        break;
    case 't':
        state(call, first);
        break;
    case 'd':
        state(call, DEP_STATE + 256 + (first & 0xffff));
        break;
    case 'i':
        state(call, (uint64_t)stdin);
        break;
    case 'o':
        state(call, (uint64_t)stdout);
        break;
    case 'q':
        state(call, DEP_STATE + (uint64_t)(w[1] - '0'));
        break;
    case 'x':
        dep_log(DEP_FREE, call->insn, 0, first);
        break;
    case 'y':
        writes(call, first, call->arguments[1] * call->arguments[2]);
        break;
    case 'r':
        size_before = first ? malloc_usable_size((void *)first) : 0;
        break;
    default:
        break;
    }
}

static void copied(const char *w, const struct dep_call *call, uint64_t first, uint64_t second)
{
    uint64_t length = w[0] == 'Y' ? argument(call, w[3]) : string_length(second) + 1;

    if (w[0] == 'N') {
        uint64_t room = argument(call, w[3]);
        writes(call, first, room);
        length = length < room ? length : room;
    } else if (w[0] == 'E') {
        first += string_length(first) + 1 - length;
    }
    copies(call, first, second, length);
}

static void tokenized(const struct dep_call *call, uint64_t text)
{
    if (text)
        reads_string(call, text);
    if (!call->result)
        return;
    uint64_t length = string_length(call->result);
    if (!text)
        reads(call, call->result, length + 1);
    dep_log(DEP_FORGET, call->insn, 1, call->result + length);
}

static void after_memory(const char *w, const struct dep_call *call, uint64_t first,
                         uint64_t second)
{
    switch (w[0]) {
    case 'A':
        allocated(call, call->result, first);
        break;
    case 'Z':
        allocated(call, call->result, first * second);
        writes(call, call->result, first * second);
        break;
    case 'D':
        if (!call->result)
            break;
        allocated(call, call->result, string_length(call->result) + 1);
        copies(call, call->result, first, string_length(call->result) + 1);
        break;
    case 'r':
        moved(call, first, second);
        break;
    case 'C':
    case 'E':
    case 'N':
    case 'Y':
        copied(w, call, first, second);
        break;
    default:
        break;
    }
}

static void after(const char *w, const struct dep_call *call)
{
    uint64_t first = w[0] && w[1] ? argument(call, w[1]) : 0;
    uint64_t second = w[0] && w[1] && w[2] > ' ' ? argument(call, w[2]) : 0;
    int64_t result = (int64_t)call->result;

    switch (w[0]) {
    case 'S':
        writes(call, first, string_length(first) + 1);
        break;
    case 'G':
        writes(call, first, result ? string_length(first) + 1 : 0);
        break;
    case 'B':
        writes(call, first, second);
        break;
    case 'O':
        if ((int)result >= 0)
            writes(call, first, (uint64_t)result + 1 < second ? (uint64_t)result + 1 : second);
        break;
    case 'R':
        writes(call, first, result > 0 ? (uint64_t)result : 0);
        break;
    case 'K':
        writes(call, first, (uint64_t)result * second);
        break;
    case 'P':
        writes(call, first, 8);
        break;
    case 'Q':
        writes(call, first, 4);
        break;
    case 'U':
        writes(call, first, (int)result == 0 ? sizeof(struct stat) : 0);
        break;
    case 'T':
        tokenized(call, first);
        break;
    case 'H':
        wrote_scanned(call, w[1]);
        break;
    case 'L':
        writes(call, first, 8);
        writes(call, second, 8);
        if (result >= 0) {
            allocated(call, *(uint64_t *)first, *(uint64_t *)second);
            writes(call, *(uint64_t *)first, (uint64_t)result + 1);
        }
        break;
    default:
        after_memory(w, call, first, second);
        break;
    }
}

static void each_word(const struct dep_effects *effects, const struct dep_call *call,
                      void (*take)(const char *, const struct dep_call *))
{
    for (const char *w = effects->effects; w && *w; w = strchr(w, ' ')) {
        w += *w == ' ';
        take(w, call);
    }
}

void dep_before(const struct dep_effects *effects, const struct dep_call *call)
{
    each_word(effects, call, before);
}

void dep_after(const struct dep_effects *effects, const struct dep_call *call)
{
    each_word(effects, call, after);
}
