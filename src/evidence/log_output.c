// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_output.h"

#include <stdlib.h>
#include <sys/syscall.h>

#include "common/hash.h"
#include "evidence/log_uses.h"
#include "program/model.h"

enum output_kind {
    OUTPUT_FORMAT,      // format, arguments
    OUTPUT_FORMAT_LIST, // format, va_list
    OUTPUT_TEXT,        // text
    OUTPUT_LINE,        // text, then a line break
    OUTPUT_CHAR,
    OUTPUT_BYTES,       // text, size, [count]
    OUTPUT_ERRNO,       // perror: text, ": ", what errno says
    OUTPUT_ASSERT,      // assertion, file, line, function
    OUTPUT_OPTION,      // getopt's complaints
    OUTPUT_NUMBER,      // as the stream formats it
    OUTPUT_MANIPULATOR, // std::endl, or any other
    OUTPUT_ANY,
};

// What is written around a format.
enum output_frame {
    FRAME_NONE,
    FRAME_SYSLOG,  // one line break at the end
    FRAME_PROGRAM, // "PROGRAM: ", a line break at the end
    FRAME_PROGRAM_ERRNO,
    FRAME_PROGRAM_MAY_ERRNO,
    FRAME_PLACE_MAY_ERRNO, // "PROGRAM:FILE:LINE: "
};

#define OUT    (-1) // stdout
#define ERR    (-2) // stderr
#define LOG    (-3) // syslog
#define ANYOUT (-4)

struct output {
    const char *name;
    enum output_kind kind;
    enum output_frame frame;
    int stream;       // an argument that is a FILE *, or one of the above
    bool is_number;   // the stream is a file descriptor
    uint32_t operand; // argument: format, text or character
};

static const struct output outputs[] = {
    {"printf", OUTPUT_FORMAT, FRAME_NONE, OUT, false, 0},
    {"fprintf", OUTPUT_FORMAT, FRAME_NONE, 0, false, 1},
    {"dprintf", OUTPUT_FORMAT, FRAME_NONE, 0, true, 1},
    {"vprintf", OUTPUT_FORMAT_LIST, FRAME_NONE, OUT, false, 0},
    {"vfprintf", OUTPUT_FORMAT_LIST, FRAME_NONE, 0, false, 1},
    {"vdprintf", OUTPUT_FORMAT_LIST, FRAME_NONE, 0, true, 1},
    {"__printf_chk", OUTPUT_FORMAT, FRAME_NONE, OUT, false, 1},
    {"__fprintf_chk", OUTPUT_FORMAT, FRAME_NONE, 0, false, 2},
    {"__dprintf_chk", OUTPUT_FORMAT, FRAME_NONE, 0, true, 2},
    {"__vprintf_chk", OUTPUT_FORMAT_LIST, FRAME_NONE, OUT, false, 1},
    {"__vfprintf_chk", OUTPUT_FORMAT_LIST, FRAME_NONE, 0, false, 2},
    {"__vdprintf_chk", OUTPUT_FORMAT_LIST, FRAME_NONE, 0, true, 2},
    {"syslog", OUTPUT_FORMAT, FRAME_SYSLOG, LOG, false, 1},
    {"vsyslog", OUTPUT_FORMAT_LIST, FRAME_SYSLOG, LOG, false, 1},
    {"__syslog_chk", OUTPUT_FORMAT, FRAME_SYSLOG, LOG, false, 2},
    {"__vsyslog_chk", OUTPUT_FORMAT_LIST, FRAME_SYSLOG, LOG, false, 2},
    {"puts", OUTPUT_LINE, FRAME_NONE, OUT, false, 0},
    {"fputs", OUTPUT_TEXT, FRAME_NONE, 1, false, 0},
    {"fputs_unlocked", OUTPUT_TEXT, FRAME_NONE, 1, false, 0},
    {"putchar", OUTPUT_CHAR, FRAME_NONE, OUT, false, 0},
    {"putchar_unlocked", OUTPUT_CHAR, FRAME_NONE, OUT, false, 0},
    {"putc", OUTPUT_CHAR, FRAME_NONE, 1, false, 0},
    {"_IO_putc", OUTPUT_CHAR, FRAME_NONE, 1, false, 0},
    {"fputc", OUTPUT_CHAR, FRAME_NONE, 1, false, 0},
    {"putc_unlocked", OUTPUT_CHAR, FRAME_NONE, 1, false, 0},
    {"fputc_unlocked", OUTPUT_CHAR, FRAME_NONE, 1, false, 0},
    {"__overflow", OUTPUT_CHAR, FRAME_NONE, ANYOUT, false, 1},
    {"fwrite", OUTPUT_BYTES, FRAME_NONE, 3, false, 0},
    {"fwrite_unlocked", OUTPUT_BYTES, FRAME_NONE, 3, false, 0},
    {"write", OUTPUT_BYTES, FRAME_NONE, 0, true, 1},
    {"perror", OUTPUT_ERRNO, FRAME_NONE, ERR, false, 0},
    {"psignal", OUTPUT_ERRNO, FRAME_NONE, ERR, false, 1},
    {"err", OUTPUT_FORMAT, FRAME_PROGRAM_ERRNO, ERR, false, 1},
    {"errx", OUTPUT_FORMAT, FRAME_PROGRAM, ERR, false, 1},
    {"warn", OUTPUT_FORMAT, FRAME_PROGRAM_ERRNO, ERR, false, 0},
    {"warnx", OUTPUT_FORMAT, FRAME_PROGRAM, ERR, false, 0},
    {"verr", OUTPUT_FORMAT_LIST, FRAME_PROGRAM_ERRNO, ERR, false, 1},
    {"verrx", OUTPUT_FORMAT_LIST, FRAME_PROGRAM, ERR, false, 1},
    {"vwarn", OUTPUT_FORMAT_LIST, FRAME_PROGRAM_ERRNO, ERR, false, 0},
    {"vwarnx", OUTPUT_FORMAT_LIST, FRAME_PROGRAM, ERR, false, 0},
    {"error", OUTPUT_FORMAT, FRAME_PROGRAM_MAY_ERRNO, ERR, false, 2},
    {"error_at_line", OUTPUT_FORMAT, FRAME_PLACE_MAY_ERRNO, ERR, false, 4},
    {"__assert_fail", OUTPUT_ASSERT, FRAME_NONE, ERR, false, 0},
    {"__assert", OUTPUT_ASSERT, FRAME_NONE, ERR, false, 0},
    {"__assert_perror_fail", OUTPUT_ANY, FRAME_NONE, ERR, false, 0},
    {"getopt", OUTPUT_OPTION, FRAME_NONE, ERR, false, 0},
    {"getopt_long", OUTPUT_OPTION, FRAME_NONE, ERR, false, 0},
    {"getopt_long_only", OUTPUT_OPTION, FRAME_NONE, ERR, false, 0},
    {"wprintf", OUTPUT_ANY, FRAME_NONE, OUT, false, 0},
    {"vwprintf", OUTPUT_ANY, FRAME_NONE, OUT, false, 0},
    {"fwprintf", OUTPUT_ANY, FRAME_NONE, 0, false, 0},
    {"vfwprintf", OUTPUT_ANY, FRAME_NONE, 0, false, 0},
    {"__wprintf_chk", OUTPUT_ANY, FRAME_NONE, OUT, false, 0},
    {"__fwprintf_chk", OUTPUT_ANY, FRAME_NONE, 0, false, 0},
    {"__vwprintf_chk", OUTPUT_ANY, FRAME_NONE, OUT, false, 0},
    {"__vfwprintf_chk", OUTPUT_ANY, FRAME_NONE, 0, false, 0},
    {"putwchar", OUTPUT_ANY, FRAME_NONE, OUT, false, 0},
    {"putwc", OUTPUT_ANY, FRAME_NONE, 1, false, 0},
    {"fputwc", OUTPUT_ANY, FRAME_NONE, 1, false, 0},
    {"fputws", OUTPUT_ANY, FRAME_NONE, 1, false, 0},
    {"putw", OUTPUT_ANY, FRAME_NONE, 1, false, 0},
    {"writev", OUTPUT_ANY, FRAME_NONE, 0, true, 0},
    {"sendfile", OUTPUT_ANY, FRAME_NONE, 0, true, 0},
    {"sendfile64", OUTPUT_ANY, FRAME_NONE, 0, true, 0},
    {"splice", OUTPUT_ANY, FRAME_NONE, 2, true, 0},
    {"copy_file_range", OUTPUT_ANY, FRAME_NONE, 2, true, 0},
    {"backtrace_symbols_fd", OUTPUT_ANY, FRAME_NONE, 2, true, 0},
    {"malloc_stats", OUTPUT_ANY, FRAME_NONE, ERR, false, 0},
    {"argp_parse", OUTPUT_ANY, FRAME_NONE, ANYOUT, false, 0},
    {"putpwent", OUTPUT_ANY, FRAME_NONE, 1, false, 0},
    {"syscall", OUTPUT_ANY, FRAME_NONE, ANYOUT, false, 0},
    {"mcheck", OUTPUT_ANY, FRAME_NONE, ERR, false, 0},
};

// C++: ostream's members and operators, by the start of their names.
static const struct output stream_outputs[] = {
    {"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", OUTPUT_TEXT, FRAME_NONE, ANYOUT,
     false, 1},
    {"_ZNSolsEPFRSoS_E", OUTPUT_MANIPULATOR, FRAME_NONE, ANYOUT, false, 1},
    {"_ZNSolsE", OUTPUT_NUMBER, FRAME_NONE, ANYOUT, false, 1},
    {"_ZStls", OUTPUT_ANY, FRAME_NONE, ANYOUT, false, 0},
    {"_ZSt16__ostream_insert", OUTPUT_ANY, FRAME_NONE, ANYOUT, false, 0},
    {"_ZNSo5write", OUTPUT_ANY, FRAME_NONE, ANYOUT, false, 0},
    {"_ZNSo3put", OUTPUT_ANY, FRAME_NONE, ANYOUT, false, 0},
    {"_ZNSo9_M_insert", OUTPUT_NUMBER, FRAME_NONE, ANYOUT, false, 1},
    {"_ZSt4endl", OUTPUT_MANIPULATOR, FRAME_NONE, ANYOUT, false, 0},
};

static const struct output *find_stream_output(const char *name)
{
    for (size_t i = 0; i < sizeof(stream_outputs) / sizeof(*stream_outputs); i++) {
        if (strncmp(stream_outputs[i].name, name, strlen(stream_outputs[i].name)) == 0)
            return &stream_outputs[i];
    }
    return NULL;
}

static const struct output *find_output(const char *name)
{
    if (name[0] == '_' && name[1] == 'Z')
        return find_stream_output(name);
    for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs); i++) {
        if (strcmp(outputs[i].name, name) == 0)
            return &outputs[i];
    }
    return NULL;
}

bool log_is_output(const char *name)
{
    return find_output(name) != NULL;
}

// ---- Streams

bool log_stream_equal(struct log_stream a, struct log_stream b)
{
    return a.kind == b.kind && a.value == b.value;
}

// The FILE * in a global variable: the C library's, or one of the program's.
static struct log_stream variable_stream(const struct log_resolver *resolver, uint32_t module,
                                         const struct global *global)
{
    const struct code *code = resolver->model->modules[module].code;
    const char *name = code_string(code, global->name);
    if (global->kind != GLOBAL_VARIABLE)
        return (struct log_stream){LOG_STREAM_UNKNOWN, 0};
    if (global->flags & GLOBAL_DECLARED && strcmp(name, "stdout") == 0)
        return (struct log_stream){LOG_STREAM_STDOUT, 0};
    if (global->flags & GLOBAL_DECLARED && strcmp(name, "stderr") == 0)
        return (struct log_stream){LOG_STREAM_STDERR, 0};
    uint64_t hash = hash_string(HASH_SEED, name);
    if (global->linkage == LINKAGE_INTERNAL)
        hash = hash_u64(hash, module);
    return (struct log_stream){LOG_STREAM_VARIABLE, hash};
}

static struct log_stream find_stream(struct log_resolver *resolver, struct log_place place,
                                     struct operand operand, bool is_number, unsigned depth);

// What was stored in a local variable, when it is one stream only.
static struct log_stream stored_stream(struct log_resolver *resolver, struct log_place place,
                                       uint32_t alloca, bool is_number, unsigned depth)
{
    struct log_operands values = VEC_INIT;
    struct log_stream stream = {LOG_STREAM_UNKNOWN, 0};
    if (log_stored_values(resolver, place, alloca, &values)) {
        stream = find_stream(resolver, place, values.data[0], is_number, depth + 1);
        for (size_t i = 1; i < values.length; i++) {
            if (!log_stream_equal(
                    stream, find_stream(resolver, place, values.data[i], is_number, depth + 1)))
                stream = (struct log_stream){LOG_STREAM_UNKNOWN, 0};
        }
    }
    log_operands_deinit(&values);
    return stream;
}

static struct log_stream find_stream(struct log_resolver *resolver, struct log_place place,
                                     struct operand operand, bool is_number, unsigned depth)
{
    const struct code *code = log_code(resolver, place);
    uint32_t index = operand_index(operand);
    struct log_stream unknown = {LOG_STREAM_UNKNOWN, 0};
    if (depth > 8)
        return unknown;
    if (operand_kind(operand) == OPERAND_ARGUMENT)
        return (struct log_stream){LOG_STREAM_PARAMETER,
                                   index - code->functions[place.function].first_argument};
    if (operand_kind(operand) == OPERAND_CONSTANT && is_number &&
        code->constants[index].kind == CONSTANT_INT)
        return (struct log_stream){LOG_STREAM_DESCRIPTOR, code->constants[index].value};
    if (operand_kind(operand) != OPERAND_INSN || code->insns[index].opcode != INSN_LOAD)
        return unknown;
    struct operand from = code_operand(code, &code->insns[index], 0);
    if (operand_kind(from) == OPERAND_GLOBAL && !is_number)
        return variable_stream(resolver, place.module, &code->globals[operand_index(from)]);
    if (operand_kind(from) == OPERAND_INSN &&
        code->insns[operand_index(from)].opcode == INSN_ALLOCA)
        return stored_stream(resolver, place, operand_index(from), is_number, depth);
    return unknown;
}

struct log_stream log_stream_bind(struct log_resolver *resolver, struct log_stream stream,
                                  struct log_place place, uint32_t call)
{
    const struct code *code = log_code(resolver, place);
    const struct insn *insn = &code->insns[call];
    if (stream.kind != LOG_STREAM_PARAMETER)
        return stream;
    if (stream.value >= code_call(code, insn)->argument_count)
        return (struct log_stream){LOG_STREAM_UNKNOWN, 0};
    struct operand operand = code_operand(code, insn, (uint32_t)stream.value);
    bool is_number = code_type(code, code_operand_type(code, operand))->kind == TYPE_INT;
    return find_stream(resolver, place, operand, is_number, 0);
}

static struct log_stream output_stream(struct log_resolver *resolver, struct log_place place,
                                       const struct output *output, const struct insn *insn)
{
    const struct code *code = log_code(resolver, place);
    switch (output->stream) {
    case OUT:
        return (struct log_stream){LOG_STREAM_STDOUT, 0};
    case ERR:
        return (struct log_stream){LOG_STREAM_STDERR, 0};
    case LOG:
        return (struct log_stream){LOG_STREAM_SYSLOG, 0};
    case ANYOUT:
        return (struct log_stream){LOG_STREAM_UNKNOWN, 0};
    default:
        break;
    }
    if ((uint32_t)output->stream >= code_call(code, insn)->argument_count)
        return (struct log_stream){LOG_STREAM_UNKNOWN, 0};
    return find_stream(resolver, place, code_operand(code, insn, (uint32_t)output->stream),
                       output->is_number, 0);
}

// ---- Texts

static void add_any(struct log_resolver *resolver, struct log_patterns *out)
{
    log_patterns_add(&resolver->arena, out, log_pattern_hole(&resolver->arena, LOG_TEXT));
}

static void write_char(struct log_resolver *resolver, const struct code *code,
                       struct operand character, struct log_patterns *out)
{
    const struct constant *constant = &code->constants[operand_index(character)];
    if (operand_kind(character) == OPERAND_CONSTANT && constant->kind == CONSTANT_INT) {
        char *byte = arena_alloc(&resolver->arena, 1);
        *byte = (char)constant->value;
        log_patterns_add(&resolver->arena, out, log_pattern_literal(&resolver->arena, byte, 1));
    } else {
        log_patterns_add(&resolver->arena, out, log_pattern_hole(&resolver->arena, LOG_CHAR));
    }
}

// Is the size the length of this very text?
static bool is_length_of(struct log_resolver *resolver, struct log_place place, struct operand size,
                         const struct log_patterns *texts)
{
    const struct code *code = log_code(resolver, place);
    uint32_t index = operand_index(size);
    if (operand_kind(size) != OPERAND_INSN || code->insns[index].opcode != INSN_CALL)
        return false;
    const char *name = log_library_callee(resolver, place.module, index);
    if (!name || strcmp(name, "strlen") != 0)
        return false;
    struct log_patterns measured = VEC_INIT;
    log_resolve_text(resolver, place, code_operand(code, &code->insns[index], 0), &measured);
    bool is_same = measured.length == 1 && texts->length == 1 &&
                   log_pattern_equal(measured.data[0], texts->data[0]);
    log_patterns_deinit(&measured);
    return is_same;
}

static bool is_constant(const struct code *code, struct operand operand, uint64_t *ret)
{
    if (operand_kind(operand) != OPERAND_CONSTANT ||
        code->constants[operand_index(operand)].kind != CONSTANT_INT)
        return false;
    *ret = code->constants[operand_index(operand)].value;
    return true;
}

// A literal cut at the size that is written; the literal's NUL is not known to be followed.
static void cut_literal(struct log_resolver *resolver, struct log_pattern text, uint64_t size,
                        struct log_patterns *out)
{
    bool is_literal = text.count == 1 && text.elements[0].kind == LOG_LITERAL;
    if (is_literal && size <= text.elements[0].length)
        log_patterns_add(
            &resolver->arena, out,
            log_pattern_literal(&resolver->arena, text.elements[0].bytes, (size_t)size));
    else
        add_any(resolver, out);
}

static void write_bytes(struct log_resolver *resolver, struct log_place place,
                        const struct insn *insn, uint32_t text, bool has_count,
                        struct log_patterns *out)
{
    const struct code *code = log_code(resolver, place);
    struct log_patterns texts = VEC_INIT;
    struct operand size = code_operand(code, insn, text + 1);
    uint64_t first = 0, second = 1;
    bool is_known = is_constant(code, size, &first);
    log_resolve_text(resolver, place, code_operand(code, insn, text), &texts);
    if (has_count) {
        struct operand count = code_operand(code, insn, text + 2);
        bool count_known = is_constant(code, count, &second);
        if (is_known && first == 1 && !count_known)
            size = count;
        is_known = is_known && count_known;
    }
    if (is_known && first < UINT32_MAX && second < UINT32_MAX) {
        for (size_t i = 0; i < texts.length; i++)
            cut_literal(resolver, texts.data[i], first * second, out);
    } else if (is_length_of(resolver, place, size, &texts)) {
        for (size_t i = 0; i < texts.length; i++)
            log_patterns_add(&resolver->arena, out, texts.data[i]);
    } else {
        add_any(resolver, out);
    }
    log_patterns_deinit(&texts);
}

static void begin(struct log_patterns *made)
{
    log_patterns_push(made, (struct log_pattern){NULL, 0});
}

static void append_argument(struct log_resolver *resolver, struct log_place place,
                            const struct insn *insn, uint32_t argument, struct log_patterns *made)
{
    struct log_patterns texts = VEC_INIT;
    log_resolve_text(resolver, place, code_operand(log_code(resolver, place), insn, argument),
                     &texts);
    log_patterns_join(&resolver->arena, made, &texts);
    log_patterns_deinit(&texts);
}

// glibc's assert/assert.c: "%s%s%s:%u: %s%sAssertion `%s' failed.\n"
static void write_assertion(struct log_resolver *resolver, struct log_place place,
                            const struct insn *insn, struct log_patterns *made)
{
    struct arena *arena = &resolver->arena;
    log_patterns_join_hole(arena, made, LOG_LINE);
    append_argument(resolver, place, insn, 1, made);
    log_patterns_join_literal(arena, made, ":");
    log_patterns_join_hole(arena, made, LOG_INTEGER);
    log_patterns_join_literal(arena, made, ": ");
    log_patterns_join_hole(arena, made, LOG_LINE);
    log_patterns_join_literal(arena, made, "Assertion `");
    append_argument(resolver, place, insn, 0, made);
    log_patterns_join_literal(arena, made, "' failed.\n");
}

static void write_errno(struct log_resolver *resolver, struct log_place place,
                        const struct insn *insn, uint32_t text, struct log_patterns *out)
{
    struct arena *arena = &resolver->arena;
    struct log_patterns made = VEC_INIT;
    begin(&made);
    append_argument(resolver, place, insn, text, &made);
    log_patterns_join_literal(arena, &made, ": ");
    log_patterns_join_hole(arena, &made, LOG_LINE);
    log_patterns_join_literal(arena, &made, "\n");
    for (size_t i = 0; i < made.length; i++)
        log_patterns_add(arena, out, made.data[i]);
    log_patterns_deinit(&made);
}

// "PROGRAM: text[: errno]\n"; without the text where it is NULL.
static void frame_error(struct log_resolver *resolver, enum output_frame frame, bool with_errno,
                        const struct log_patterns *texts, struct log_patterns *out)
{
    struct arena *arena = &resolver->arena;
    struct log_patterns made = VEC_INIT;
    begin(&made);
    log_patterns_join_hole(arena, &made, LOG_LINE);
    log_patterns_join_literal(arena, &made, frame == FRAME_PLACE_MAY_ERRNO ? ":" : ": ");
    if (frame == FRAME_PLACE_MAY_ERRNO) {
        log_patterns_join_hole(arena, &made, LOG_LINE);
        log_patterns_join_literal(arena, &made, ": ");
    }
    log_patterns_join(arena, &made, texts);
    if (with_errno) {
        log_patterns_join_literal(arena, &made, ": ");
        log_patterns_join_hole(arena, &made, LOG_LINE);
    }
    log_patterns_join_literal(arena, &made, "\n");
    for (size_t i = 0; i < made.length; i++)
        log_patterns_add(arena, out, made.data[i]);
    log_patterns_deinit(&made);
}

// err(1, NULL) writes no text.
static void frame_without_text(struct log_resolver *resolver, struct log_patterns *out)
{
    struct arena *arena = &resolver->arena;
    struct log_pattern pattern = log_pattern_hole(arena, LOG_LINE);
    pattern = log_pattern_join(arena, pattern, log_pattern_literal(arena, ": ", 2));
    pattern = log_pattern_join(arena, pattern, log_pattern_hole(arena, LOG_LINE));
    pattern = log_pattern_join(arena, pattern, log_pattern_literal(arena, "\n", 1));
    log_patterns_add(arena, out, pattern);
}

static bool is_null_text(struct log_pattern text)
{
    return text.count == 1 && text.elements[0].kind == LOG_LITERAL &&
           text.elements[0].length == 6 && memcmp(text.elements[0].bytes, "(null)", 6) == 0;
}

// A message of syslog is one line, whether or not its text ends with a line break.
static void frame_syslog(struct log_resolver *resolver, struct log_pattern text,
                         struct log_patterns *out)
{
    struct arena *arena = &resolver->arena;
    const struct log_element *last = text.count ? &text.elements[text.count - 1] : NULL;
    if (!last || last->kind != LOG_LITERAL || last->bytes[last->length - 1] != '\n')
        text = log_pattern_join(arena, text, log_pattern_literal(arena, "\n", 1));
    log_patterns_add(arena, out, text);
    // With LOG_PERROR on stderr as well, behind the program's name.
    struct log_pattern name = log_pattern_join(arena, log_pattern_hole(arena, LOG_LINE),
                                               log_pattern_literal(arena, ": ", 2));
    log_patterns_add(arena, out, log_pattern_join(arena, name, text));
}

static void write_framed(struct log_resolver *resolver, enum output_frame frame,
                         const struct log_patterns *texts, struct log_patterns *out)
{
    for (size_t i = 0; i < texts->length; i++) {
        if (frame == FRAME_NONE)
            log_patterns_add(&resolver->arena, out, texts->data[i]);
        else if (frame == FRAME_SYSLOG)
            frame_syslog(resolver, texts->data[i], out);
        else if (is_null_text(texts->data[i]))
            frame_without_text(resolver, out);
    }
    if (frame == FRAME_NONE || frame == FRAME_SYSLOG)
        return;
    if (frame != FRAME_PROGRAM)
        frame_error(resolver, frame, true, texts, out);
    if (frame != FRAME_PROGRAM_ERRNO)
        frame_error(resolver, frame, false, texts, out);
}

static void write_option(struct log_resolver *resolver, struct log_patterns *out)
{
    struct arena *arena = &resolver->arena;
    struct log_pattern pattern = log_pattern_hole(arena, LOG_LINE);
    pattern = log_pattern_join(arena, pattern, log_pattern_literal(arena, "option ", 7));
    pattern = log_pattern_join(arena, pattern, log_pattern_hole(arena, LOG_LINE));
    pattern = log_pattern_join(arena, pattern, log_pattern_literal(arena, "\n", 1));
    log_patterns_add(arena, out, pattern);
}

// std::endl is a line break; what others write is not known.
static void write_manipulator(struct log_resolver *resolver, const struct code *code,
                              const struct insn *insn, uint32_t argument, struct log_patterns *out)
{
    struct operand given = code_operand(code, insn, argument);
    const char *name = argument == 0 ? "_ZSt4endl" : "";
    if (operand_kind(given) == OPERAND_GLOBAL)
        name = code_string(code, code->globals[operand_index(given)].name);
    if (strncmp(name, "_ZSt4endl", 9) == 0)
        log_patterns_add(&resolver->arena, out, log_pattern_literal(&resolver->arena, "\n", 1));
    else
        add_any(resolver, out);
}

static uint32_t arguments_needed(const struct output *output)
{
    switch (output->kind) {
    case OUTPUT_BYTES:
        return output->operand + (output->is_number ? 2 : 3);
    case OUTPUT_ASSERT:
        return 2;
    case OUTPUT_OPTION:
    case OUTPUT_ANY:
        return 0;
    default:
        return output->operand + 1;
    }
}

static void write_text(struct log_resolver *resolver, struct log_place place, uint32_t call,
                       const struct output *output, struct log_patterns *out)
{
    const struct code *code = log_code(resolver, place);
    const struct insn *insn = &code->insns[call];
    struct log_patterns made = VEC_INIT;
    switch (output->kind) {
    case OUTPUT_FORMAT:
    case OUTPUT_FORMAT_LIST:
        log_resolve_format(resolver, place, call, code_operand(code, insn, output->operand),
                           output->kind == OUTPUT_FORMAT ? output->operand + 1 : CODE_NONE, &made);
        write_framed(resolver, output->frame, &made, out);
        break;
    case OUTPUT_TEXT:
    case OUTPUT_LINE:
        begin(&made);
        append_argument(resolver, place, insn, output->operand, &made);
        if (output->kind == OUTPUT_LINE)
            log_patterns_join_literal(&resolver->arena, &made, "\n");
        write_framed(resolver, FRAME_NONE, &made, out);
        break;
    case OUTPUT_CHAR:
        write_char(resolver, code, code_operand(code, insn, output->operand), out);
        break;
    case OUTPUT_BYTES:
        write_bytes(resolver, place, insn, output->operand, !output->is_number, out);
        break;
    case OUTPUT_ERRNO:
        write_errno(resolver, place, insn, output->operand, out);
        break;
    case OUTPUT_ASSERT:
        begin(&made);
        write_assertion(resolver, place, insn, &made);
        write_framed(resolver, FRAME_NONE, &made, out);
        break;
    case OUTPUT_OPTION:
        write_option(resolver, out);
        break;
    case OUTPUT_NUMBER:
        log_patterns_add(&resolver->arena, out, log_pattern_hole(&resolver->arena, LOG_LINE));
        break;
    case OUTPUT_MANIPULATOR:
        write_manipulator(resolver, code, insn, output->operand, out);
        break;
    case OUTPUT_ANY:
        add_any(resolver, out);
        break;
    }
    log_patterns_deinit(&made);
}

// syscall() with a number that is neither write nor writev.
static bool is_other_system_call(const struct code *code, const struct insn *insn, const char *name)
{
    uint64_t number;
    return strcmp(name, "syscall") == 0 && code_call(code, insn)->argument_count > 0 &&
           is_constant(code, code_operand(code, insn, 0), &number) && number != SYS_write &&
           number != SYS_writev;
}

bool log_output_step(struct log_resolver *resolver, struct log_place place, uint32_t site,
                     struct log_step *ret)
{
    const struct code *code = log_code(resolver, place);
    uint32_t call = code->sites[site].insn;
    const char *name = log_library_callee(resolver, place.module, call);
    const struct output *output = name ? find_output(name) : NULL;
    if (!output || is_other_system_call(code, &code->insns[call], name))
        return false;
    *ret = (struct log_step){
        .node = code->sites[site].node - code->functions[place.function].first_node,
        .call = call,
        .stream = output_stream(resolver, place, output, &code->insns[call]),
        .may_be_silent = output->kind == OUTPUT_OPTION,
        .is_ordered = true};
    if (code_call(code, &code->insns[call])->argument_count < arguments_needed(output))
        add_any(resolver, &ret->patterns);
    else
        write_text(resolver, place, call, output, &ret->patterns);
    return true;
}
