// SPDX-License-Identifier: Apache-2.0
// timeout: 600
/*
 * Logs of real programs against the truth: programs are generated, built with inquest-cc, run until
 * they abort, and note in shared memory which lines wrote, in which order. Everything that is read
 * from their logs has to hold of that.
 *
 * LOG_TRUTH_SEEDS=N checks N programs; LOG_TRUTH_KEEP=1 leaves the directories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "evidence/evidence.h"
#include "evidence/log.h"
#include "evidence/log_catalogue.h"

// ---- The programs

// HERE stands on the line of each output and of each call of a wrapper.
static const char head[] =
    "#define _GNU_SOURCE\n"
    "#include <err.h>\n#include <errno.h>\n#include <fcntl.h>\n#include <pthread.h>\n"
    "#include <setjmp.h>\n#include <signal.h>\n#include <stdarg.h>\n#include <stdio.h>\n"
    "#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n#include <time.h>\n"
    "#include <unistd.h>\n"
    "static int *truth;\n"
    "#define HERE (truth[++truth[0]] = __LINE__)\n"
    "static const char *const names[] = {\"DEBUG\", \"INFO\", \"ERROR\"};\n"
    "static const struct { int code; const char *text; } table[] = {{1, \"ready\"}, {2, \"busy\"},"
    " {3, \"item 1\"}};\n"
    "static FILE *file;\n"
    "static jmp_buf away;\n"
    "static volatile int poke;\n"
    "static const char *color(int l) { switch (l) { case 0: return \"red\"; default: return "
    "\"green\"; } }\n"
    "static void stamp(FILE *to) { char b[64]; time_t t = 1700000000; struct tm tm;\n"
    "    gmtime_r(&t, &tm); strftime(b, sizeof(b), \"%H:%M:%S\", &tm);\n"
    "    HERE; fprintf(to, \"%s \", b); }\n"
    "static void log_at(int l, const char *fmt, ...) { va_list ap;\n"
    "    if (l == 0) return;\n"
    "    HERE; stamp(stderr);\n"
    "    HERE; fprintf(stderr, \"[%s] \", names[l]);\n"
    "    if (poke && poke-- > 0) raise(SIGUSR1);\n"
    "    va_start(ap, fmt);\n"
    "    HERE; vfprintf(stderr, fmt, ap);\n"
    "    va_end(ap);\n"
    "    HERE; fputc('\\n', stderr); }\n"
    "static void vnote(const char *fmt, va_list ap) { char buf[256]; vsnprintf(buf, sizeof(buf), "
    "fmt, ap);\n"
    "    HERE; fprintf(file, \"app %s: %s\\n\", color(1), buf); }\n"
    "static void note(const char *fmt, ...) { va_list ap; va_start(ap, fmt);\n"
    "    HERE; vnote(fmt, ap);\n"
    "    va_end(ap); }\n"
    "static void say(const char *text) {\n"
    "    HERE; puts(text);\n"
    "}\n"
    "static void emit(const char *text, int end) {\n"
    "    HERE; fputs(text, stdout);\n"
    "    if (!end) return;\n"
    "    HERE; putchar('\\n');\n"
    "}\n"
    "static void deep(int n, const char *fmt) {\n"
    "    if (n) { HERE; deep(n - 1, fmt); return; }\n"
    "    HERE; printf(fmt, n);\n"
    "}\n"
    "static void repeat(const char *text, int n) {\n"
    "    while (n-- > 0) {\n"
    "        HERE; fputs(text, stdout);\n"
    "    }\n"
    "}\n"
    "static void both(const char *fmt, ...) { va_list ap; va_start(ap, fmt);\n"
    "    HERE; vfprintf(stderr, fmt, ap);\n"
    "    va_end(ap); va_start(ap, fmt);\n"
    "    HERE; vprintf(fmt, ap);\n"
    "    va_end(ap); }\n"
    "static void check(int x) { if (x) longjmp(away, 1); }\n"
    "static void risky(int x, const char *fmt) {\n"
    "    HERE; printf(\"risky: \");\n"
    "    check(x);\n"
    "    HERE; printf(fmt, x);\n"
    "}\n"
    "static int tell(const void *a, const void *b) { (void)b;\n"
    "    HERE; puts(a);\n"
    "    return 0; }\n"
    "static void usage(void) {\n"
    "    HERE; printf(\"usage: app\\n  item 1\\n\");\n"
    "}\n"
    "static void begin(char **argv) {\n"
    "    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666);\n"
    "    if (ftruncate(fd, 1 << 16)) exit(3);\n"
    "    truth = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);\n"
    "    file = fopen(argv[2], \"w\");\n"
    "    if (!argv[3]) { setvbuf(stdout, 0, _IONBF, 0); setvbuf(file, 0, _IONBF, 0); }\n"
    "}\n";

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = hash_mix(random_state + UINT64_C(0x9e3779b97f4a7c15));
    return (uint32_t)(random_state >> 33) % limit;
}

static const char *random_word(void)
{
    static const char *const words[] = {"ready",  "busy",   "item", "item 1", "open failed",
                                        "closed", "state:", "done", "next",   "app green: done"};
    return words[random_below(sizeof(words) / sizeof(words[0]))];
}

// A statement that writes; `x` is a number in scope.
static void random_output(struct strbuf *text, bool is_wild)
{
    const char *a = random_word(), *b = random_word(), *end = random_below(3) ? "\\n" : "";
    strbuf_append(text, "    HERE; ");
    uint32_t kind = random_below(is_wild ? 24 : 19);
    if (!is_wild && kind >= 17)
        kind += 4; // those in between write any text
    switch (kind) {
    case 0:
        strbuf_printf(text, "printf(\"%s %%d%s\", x);\n", a, end);
        break;
    case 1:
        strbuf_printf(text, "printf(\"%s\\n%s %%x%s\", x);\n", a, b, end);
        break;
    case 2:
        strbuf_printf(text, "printf(x & 1 ? \"%s\\n\" : \"%s%s\");\n", a, b, end);
        break;
    case 3:
        strbuf_printf(text, "puts(\"%s\");\n", a);
        break;
    case 4:
        strbuf_printf(text, "fputs(\"%s%s\", stderr);\n", a, end);
        break;
    case 5:
        strbuf_printf(text, "fprintf(stderr, \"%s: %%s%s\", \"%s\");\n", a, end, b);
        break;
    case 6:
        strbuf_printf(text, "log_at(x %% 3, \"%s %%d\", x);\n", a);
        break;
    case 7:
        strbuf_printf(text, "note(\"%s\");\n", a);
        break;
    case 8:
        strbuf_printf(text, "hook(\"%s %%d\", x);\n", a);
        break;
    case 9:
        strbuf_printf(text, "say(\"%s\");\n", a);
        break;
    case 10:
        strbuf_printf(text, "emit(x ? \"%s\" : \"%s\", x & 1);\n", a, b);
        break;
    case 11:
        strbuf_printf(text, "warnx(\"%s\");\n", a);
        break;
    case 12:
        strbuf_printf(text, "repeat(\"%s%s\", x & 3);\n", a, end);
        break;
    case 13:
        strbuf_printf(text, "both(\"%s %%d\\n\", x);\n", a);
        break;
    case 14:
        strbuf_printf(text, "if (!setjmp(away)) risky(x & 1, \"%s\\n\");\n", a);
        break;
    case 15:
        strbuf_append(text, "usage();\n");
        break;
    case 16:
        strbuf_append(text, "fprintf(file, \"state: %s\\n\", table[x % 3].text);\n");
        break;
    case 17:
        strbuf_printf(text, "deep(x & 1, \"%s\\n\");\n", a);
        break;
    case 18:
        strbuf_printf(text, "printf(\"%s%s\", getenv(\"TEXT\"));\n", "%s", end);
        break;
    case 19:
        strbuf_printf(text, "if (write(1 + x %% 2, \"%s\\n\", %zu)) {}\n", a, strlen(a) + 1);
        break;
    case 20:
        strbuf_printf(text, "printf(\"%s %%s%s\", getenv(\"WORD\"));\n", a, end);
        break;
    case 21:
        strbuf_printf(text, "tell(\"%s\", 0);\n", a);
        break;
    case 22:
        strbuf_printf(text, "bsearch(\"%s\", &x, 1, sizeof(x), tell);\n", a);
        break;
    default:
        strbuf_append(text, "putchar(x & 1 ? '\\n' : 'd');\n");
        break;
    }
}

enum variant { PLAIN, WILD, THREADS, SIGNAL, VARIANT_COUNT };

static void random_program(struct strbuf *text, enum variant variant)
{
    uint32_t functions = 2 + random_below(3);
    strbuf_append(text, head);
    strbuf_append(text, "static void (*volatile hook)(const char *, ...) = note;\n");
    for (uint32_t f = 0; f < functions; f++) {
        strbuf_printf(text, "static void work%u(int x) {\n", f);
        uint32_t count = 1 + random_below(5);
        for (uint32_t i = 0; i < count; i++) {
            if (random_below(3) == 0)
                strbuf_printf(text, "    if (x %% %u == 0)\n    {", 1 + random_below(3));
            else
                strbuf_append(text, "    {");
            random_output(text, variant == WILD);
            strbuf_append(text, "    }\n");
            if (f && random_below(4) == 0)
                strbuf_printf(text, "    work%u(x / 2);\n", random_below(f));
        }
        strbuf_append(text, "}\n");
    }
    if (variant == THREADS)
        strbuf_append(text, "static void *thread(void *p) { (void)p; work0(3); return 0; }\n");
    if (variant == SIGNAL)
        strbuf_append(text, "static void handler(int s) { work0(s); }\n");
    strbuf_append(text, "int main(int argc, char **argv) {\n    int x = argc;\n    begin(argv);\n");
    if (variant == SIGNAL)
        strbuf_append(text, "    signal(SIGUSR1, handler);\n    poke = 3;\n");
    strbuf_printf(text, "    for (int i = 0; i < %u; i++) {\n", 2 + random_below(6));
    strbuf_printf(text, "        work%u(i);\n", functions - 1);
    if (variant == THREADS)
        strbuf_append(text, "        pthread_t t; pthread_create(&t, 0, thread, 0); "
                            "pthread_join(t, 0);\n");
    if (variant == SIGNAL)
        strbuf_append(text, "        raise(SIGUSR1);\n");
    strbuf_append(text, "    }\n");
    random_output(text, variant == WILD);
    strbuf_append(text, "    abort();\n}\n");
}

// ---- Running them

struct run {
    char *directory;
    struct model *model;
    int32_t truth[1 << 14]; // count, then lines
};

static int shell(const struct run *run, const char *format, ...)
    __attribute__((__format__(__printf__, 2, 3)));

static int shell(const struct run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    _cleanup_free_ char *command = xvasprintf(format, arguments);
    va_end(arguments);
    _cleanup_free_ char *whole = xasprintf("cd '%s' && %s", run->directory, command);
    return system(whole);
}

static void check_error(struct error *err)
{
    if (err)
        fail_msg("%s", error_text(err));
}

static void run_init(struct run *run, const char *source, const char *flags)
{
    const char *build = getenv("INQUEST_BUILD"), *parent = getenv("TMPDIR");
    run->directory = xasprintf("%s/test_log.XXXXXX", parent ? parent : "/tmp");
    assert_non_null(mkdtemp(run->directory));
    _cleanup_free_ char *path = file_join(run->directory, "prog.c");
    check_error(file_write(path, source, strlen(source), 0666));
    assert_int_equal(
        shell(run, "'%s/bin/inquest-cc' -g -w %s prog.c -o prog -lpthread", build, flags), 0);
    _cleanup_free_ char *program = file_join(run->directory, "prog");
    check_error(model_open(program, &(struct model_options){.no_cache = true}, &run->model));
    check_error(model_complete(run->model));
}

static void run_deinit(struct run *run)
{
    model_destroy(run->model);
    if (!getenv("LOG_TRUTH_KEEP"))
        shell(run, "rm -rf '%s'", run->directory);
    free(run->directory);
}

static void run_program(struct run *run, const char *arguments)
{
    // The shell's word about the signal may be in the log: a line of another program.
    shell(run, "{ TEXT='item 1\nready' WORD=busy ./prog truth file.log %s; } 2>/dev/null; true",
          arguments);
    _cleanup_free_ char *path = file_join(run->directory, "truth");
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    check_error(file_read(path, &bytes));
    assert_int_equal(bytes.size, sizeof(run->truth));
    memcpy(run->truth, bytes.data, sizeof(run->truth));
    assert_true(run->truth[0] > 0);
}

// ---- Comparing

// The line of the call that ends the node.
static int32_t line_of(const struct model *model, struct evidence_point point)
{
    struct module_id module;
    struct function_id function;
    assert_true(model_find_module(model, point.module_id, &module));
    assert_true(model_find_function(model, module, point.function, &function));
    const struct code *code = model_code(model, function);
    const struct code_node *node =
        model_code_node(model, model_node_at(model, function, point.node));
    assert_int_not_equal(node->site, CODE_NONE);
    const struct place *place = code_place(code, code->insns[code->sites[node->site].insn].place);
    assert_non_null(place);
    return (int32_t)place->line;
}

static bool is_among(const struct model *model, const struct evidence_points *points, int32_t line)
{
    for (uint32_t i = 0; i < points->count; i++) {
        if (line_of(model, points->points[i]) == line)
            return true;
    }
    return false;
}

static bool is_subsequence(const struct run *run, const struct evidence_observation *trace)
{
    int32_t at = 1;
    for (uint32_t e = 0; e < trace->entry_count; e++, at++) {
        while (at <= run->truth[0] && !is_among(run->model, &trace->entries[e], run->truth[at]))
            at++;
        if (at > run->truth[0])
            return false;
    }
    return true;
}

static bool is_stretch(const struct run *run, const struct evidence_observation *trace)
{
    static int32_t seen[1 << 14];
    uint32_t count = 0;
    for (int32_t i = 1; i <= run->truth[0]; i++) {
        if (is_among(run->model, &trace->alphabet, run->truth[i]))
            seen[count++] = run->truth[i];
    }
    for (uint32_t start = 0; start + trace->entry_count <= count; start++) {
        uint32_t e = 0;
        while (e < trace->entry_count && is_among(run->model, &trace->entries[e], seen[start + e]))
            e++;
        if (e == trace->entry_count)
            return true;
    }
    return false;
}

static struct evidence *read_log(struct run *run, const char *name,
                                 const struct log_options *options)
{
    _cleanup_free_ char *path = file_join(run->directory, name);
    struct evidence *evidence = evidence_create();
    check_error(log_read(run->model, path, options, evidence));
    return evidence;
}

// The number of entries that name one point, all of which hold.
static uint32_t check_log(struct run *run, const char *name, const struct log_options *options)
{
    struct evidence *evidence = read_log(run, name, options);
    uint32_t exact = 0;
    for (uint32_t i = 0; i < evidence->observation_count; i++) {
        const struct evidence_observation *found = &evidence->observations[i];
        bool is_weak = found->kind == EVIDENCE_RAN || found->reliability == EVIDENCE_UNRELIABLE;
        if (is_weak ? !is_subsequence(run, found) : !is_stretch(run, found))
            fail_msg("%s/%s: observation %u (%s) does not hold", run->directory, name, i,
                     found->origin);
        for (uint32_t e = 0; e < found->entry_count; e++)
            exact += found->entries[e].count == 1;
    }
    evidence_destroy(evidence);
    return exact;
}

static void skip_without_compiler(void)
{
    const char *build = getenv("INQUEST_BUILD");
    _cleanup_free_ char *compiler = xasprintf("%s/bin/inquest-cc", build ? build : "");
    if (!build || access(compiler, X_OK) != 0)
        skip();
}

static uint32_t check_logs(struct run *run, enum variant variant)
{
    const struct log_options usual = {0}, any = {.any_text = true};
    // Several lines in one text: only `any` promises nothing of it.
    const struct log_options complete = {.complete = variant == PLAIN};
    uint32_t exact = 0;
    run_program(run, ">out.log 2>err.log");
    static const char *const names[] = {"out.log", "err.log", "file.log"};
    for (size_t i = 0; i < 3; i++) {
        exact += check_log(run, names[i], &usual);
        check_log(run, names[i], &any);
        check_log(run, names[i], &complete);
    }
    check_log(run, "out.log", &(struct log_options){.kind = LOG_FILE_STDOUT});
    check_log(run, "err.log", &(struct log_options){.kind = LOG_FILE_STDERR});
    check_log(run, "file.log", &(struct log_options){.kind = LOG_FILE_ONE});
    run_program(run, ">both.log 2>&1");
    check_log(run, "both.log", &usual);
    check_log(run, "both.log", &complete);
    run_program(run, "buffered >out.log 2>err.log");
    check_log(run, "out.log", &usual);
    check_log(run, "file.log", &usual);
    return exact;
}

static void test_random_programs(void **state)
{
    const char *count = getenv("LOG_TRUTH_SEEDS");
    uint64_t seeds = count ? strtoull(count, NULL, 10) : 8;
    uint32_t exact = 0;
    (void)state;
    skip_without_compiler();
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct run run;
        struct strbuf text = STRBUF_INIT;
        enum variant variant = (enum variant)(seed % VARIANT_COUNT);
        random_state = seed;
        random_program(&text, variant);
        run_init(&run, text.data, seed & 4 ? "-O2" : "-O0");
        exact += check_logs(&run, variant);
        run_deinit(&run);
        strbuf_deinit(&text);
    }
    print_message("%u exact entries\n", exact);
    assert_true(exact > seeds); // something is learnt
}

// ---- What is found in one program, to the letter

static const char whole_program[] = "int main(int argc, char **argv) {\n"
                                    "    begin(argv);\n"
                                    "    HERE; printf(\"starting with %d arguments\\n\", argc);\n"
                                    "    HERE; usage();\n"
                                    "    for (int i = 1; i < 3; i++) {\n"
                                    "        HERE; printf(\"item %d:\", i);\n"
                                    "        HERE; printf(i & 1 ? \"odd\\n\" : \"even\\n\");\n"
                                    "        HERE; log_at(i, \"looking at %d\", i);\n"
                                    "        HERE; note(\"%d notes\", i);\n"
                                    "    }\n"
                                    "    HERE; note(\"opened %s\", \"config\");\n"
                                    "    if (argc > 50) { HERE; note(\"never %d\", argc); }\n"
                                    "    HERE; perror(\"open\");\n"
                                    "    HERE; say(\"almost done\");\n"
                                    "    abort();\n}\n";

static uint32_t trace_length(const struct evidence *evidence)
{
    uint32_t length = 0;
    for (uint32_t i = 0; i < evidence->observation_count; i++) {
        if (evidence->observations[i].kind == EVIDENCE_TRACE)
            length += evidence->observations[i].entry_count;
    }
    return length;
}

static void assert_exact(struct run *run, const char *name, uint32_t entries)
{
    struct evidence *evidence = read_log(run, name, &(struct log_options){0});
    assert_int_equal(trace_length(evidence), entries);
    assert_int_equal(evidence->warning_count, 1);
    for (uint32_t i = 0; i < evidence->observation_count; i++) {
        for (uint32_t e = 0; e < evidence->observations[i].entry_count; e++)
            assert_int_equal(evidence->observations[i].entries[e].count, 1);
    }
    evidence_destroy(evidence);
    check_log(run, name, &(struct log_options){0});
}

// A wrapper in pieces, a buffer, parts of lines: each line leads to its call.
static void test_program(void **state)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
    struct run run;
    (void)state;
    skip_without_compiler();
    strbuf_append(&text, head);
    strbuf_append(&text, whole_program);
    run_init(&run, text.data, "-O2");
    run_program(&run, ">out.log 2>err.log");
    assert_exact(&run, "out.log", 7);
    assert_exact(&run, "err.log", 3);
    assert_exact(&run, "file.log", 3);
    // The same with what other programs add before, and their own lines.
    assert_int_equal(shell(&run, "sed 's/^/Mar  1 12:00:00 host prog[7]: /' err.log >sys.log && "
                                 "echo 'Mar  1 12:00:01 host cron[8]: job' >>sys.log && "
                                 "sed 's/^/[2024-03-01T12:00:00Z] /' out.log >ts.log"),
                     0);
    assert_exact(&run, "ts.log", 7);
    struct evidence *evidence = evidence_create();
    _cleanup_free_ char *path = file_join(run.directory, "sys.log");
    evidence->pid = 7;
    check_error(log_read(run.model, path, &(struct log_options){0}, evidence));
    assert_int_equal(trace_length(evidence), 3);
    evidence->pid = 9; // another process
    check_error(log_read(run.model, path, &(struct log_options){0}, evidence));
    assert_int_equal(trace_length(evidence), 3);
    evidence_destroy(evidence);
    evidence = read_log(&run, "sys.log", &(struct log_options){0}); // which one failed?
    assert_int_equal(evidence->observation_count, 0);
    evidence_destroy(evidence);
    run_deinit(&run);
}

static void test_catalogue(void **state)
{
    static const char *const expected[] = {
        "starting with <integer> arguments\\n  <- main#1:stdout\n",
        "app green: opened <text>\\n  <- main#",
        "[INFO] looking at <integer>\\n  <- main#",
        "open: <line>\\n  <- main#",
        "almost done\\n  <- main#",
        "usage: app\\n  item 1\\n  <- usage#0:stdout\n",
    };
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT, printed = STRBUF_INIT;
    struct log_catalogue *catalogue;
    struct run run;
    (void)state;
    skip_without_compiler();
    strbuf_append(&text, head);
    strbuf_append(&text, whole_program);
    run_init(&run, text.data, "-O0");
    check_error(log_catalogue_create(run.model, &catalogue));
    log_catalogue_print(catalogue, &printed);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        if (!strstr(printed.data, expected[i]))
            fail_msg("no '%s' in:\n%s", expected[i], printed.data);
    }
    log_catalogue_destroy(catalogue);
    run_deinit(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_catalogue),
        cmocka_unit_test(test_random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
