// SPDX-License-Identifier: Apache-2.0
// timeout: 600
/*
 * Dataflow against real runs. Random programs of C are compiled twice: as a model, and with every
 * node made to log, to be run. Of each run, cut anywhere: replay finds nothing against it, its
 * value is not zero, however it is composed, and what the value says of variables is what they
 * held. The same with values of other runs combined into it, and with calls that are skipped.
 *
 * DATAFLOW_SEED, DATAFLOW_FILES: where to begin, how many files of PROGRAMS programs.
 */
#include "dataflow_fixture.h"

#include <dlfcn.h>

#include "common/hash.h"
#include "common/vec.h"
#include "path/dataflow_internal.h"
#include "program/split.h"
#include "solve/product.h"

#define PROGRAMS 40u // in one file
#define RUNS     6u  // of each
#define LOG_MOST 3000u
#define CUTS     4u // of each run

// ---- Random programs

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(hash_mix(random_state) % below);
}

struct writer {
    struct strbuf text;
    uint32_t program, function; // being written
    uint32_t functions;         // that can be called, of this program
    uint32_t counters;
    bool is_pointer; // the function returns one
};

static const char *const numbers[] = {
    "0",    "1",   "2",   "3",     "5",  "-1", "-2", "7",   "127",        "128",
    "-128", "255", "256", "65535", "10", "4",  "-7", "100", "2147483647", "-2147483647 - 1"};
static const char *const places[] = {
    "x",    "y",      "z",       "x",        "y",          "p",          "q",        "u",
    "c",    "uc",     "h",       "l",        "b",          "ga",         "gb",       "gu",
    "gc",   "gl",     "gs",      "gf",       "s.a",        "s.b",        "s.c",      "gS.a",
    "gS.b", "arr[1]", "garr[2]", "w.whole",  "w.half[0]",  "w.byte[3]",  "ga",       "sa",
    "sb",   "un",     "guc",     "gW.whole", "gW.half[1]", "gW.byte[1]", "gW.whole",
};
static const char *const pointers[] = {"r", "t", "gp", "s.n", "gS.n"};
static const char *const targets[] = {"&x",    "&y",      "&ga",  "&gb",      "&s.a",
                                      "&gS.a", "&arr[1]", "garr", "&garr[2]", "&sa"};

// Those that outlive the function may point to what does.
static const char *const global_pointers[] = {"gp", "gS.n"};
static const char *const local_pointers[] = {"r", "t", "s.n"};
static const char *const global_targets[] = {"&ga", "&gb", "&gS.a", "garr", "&garr[2]", "&sa", "0"};

#define PICK(array) ((array)[draw(sizeof(array) / sizeof(*(array)))])

static void put(struct writer *writer, const char *text)
{
    strbuf_append(&writer->text, text);
}

static void put_expression(struct writer *writer, uint32_t depth)
{
    static const char *const operators[] = {" + ", " - ", " * ", " & ", " | ", " ^ "};

    switch (depth ? draw(9) : draw(4)) {
    case 0:
    case 1:
        strbuf_printf(&writer->text, "(%s)", PICK(numbers));
        return;
    case 2:
    case 3:
        put(writer, PICK(places));
        return;
    case 4:
    case 5:
        put(writer, "(");
        put_expression(writer, depth - 1);
        put(writer, PICK(operators));
        put_expression(writer, depth - 1);
        put(writer, ")");
        return;
    case 6:
        put(writer, "(");
        put_expression(writer, depth - 1);
        strbuf_printf(&writer->text, " %s)", draw(2) ? "/ 3" : draw(2) ? "% 5" : ">> 2");
        return;
    case 7:
        strbuf_printf(&writer->text, "(%s ? ", PICK(places));
        put_expression(writer, depth - 1);
        put(writer, " : ");
        put_expression(writer, depth - 1);
        put(writer, ")");
        return;
    default:
        strbuf_printf(&writer->text, "(%s)", draw(2) ? "signed char" : "unsigned");
        put(writer, "(");
        put_expression(writer, depth - 1);
        put(writer, ")");
    }
}

static void put_condition(struct writer *writer, uint32_t depth)
{
    static const char *const compares[] = {" == ", " != ", " < ", " <= ", " > ", " >= ", " == "};

    switch (depth ? draw(9) : draw(5)) {
    case 0:
    case 1:
        strbuf_printf(&writer->text, "%s%s(%s)", PICK(places), PICK(compares), PICK(numbers));
        return;
    case 2:
        strbuf_printf(&writer->text, "%s%s%s", PICK(places), PICK(compares), PICK(places));
        return;
    case 3:
        strbuf_printf(&writer->text, "%s%s", draw(2) ? "!" : "", PICK(places));
        return;
    case 4:
        if (draw(3))
            strbuf_printf(&writer->text, "%s%s", draw(2) ? "!" : "0 != ", PICK(pointers));
        else
            strbuf_printf(&writer->text, "%s == %s", PICK(pointers),
                          draw(2) ? PICK(pointers) : PICK(targets));
        return;
    case 5:
    case 6:
        put(writer, "(");
        put_condition(writer, depth - 1);
        put(writer, draw(2) ? " && " : " || ");
        put_condition(writer, depth - 1);
        put(writer, ")");
        return;
    case 7:
        put(writer, "!(");
        put_condition(writer, depth - 1);
        put(writer, ")");
        return;
    default:
        put_expression(writer, 1);
        put(writer, PICK(compares));
        put_expression(writer, 1);
    }
}

static void put_block(struct writer *writer, uint32_t depth);

// Through a pointer to a function: a local, a global, one of a table, one that is handed on. Not
// for ever.
static void put_pointer_call(struct writer *writer)
{
    struct strbuf *text = &writer->text;
    uint32_t program = writer->program;
    char name[2][32] = {"f_first", "f_first"};

    for (int i = 0; i < 2; i++)
        if (writer->functions && draw(3))
            snprintf(name[i], sizeof(name[i]), "f%u_%u", program, draw(writer->functions));
    switch (draw(8)) {
    case 0:
        strbuf_printf(text, "gfn = %s;\n", name[0]);
        return;
    case 1:
        put(writer, "if (");
        put_condition(writer, 1);
        strbuf_printf(text, ") gfn = %s;\n", draw(3) ? "gT[1].fn" : "0");
        return;
    case 2:
        strbuf_printf(text, "gT[%u].fn = pick(%s, %s);\n", draw(2), name[0], PICK(places));
        return;
    case 3:
    case 4:
        strbuf_printf(text, "if (d > 0 && %s) %s = gfn(d - 1, %s, 1);\n",
                      draw(2) ? "gfn" : "gfn != 0", PICK(places), PICK(places));
        return;
    case 5:
        strbuf_printf(text, "if (gT[%u].fn == %s) gb++; if (d > 0 && gT[0].fn) ", draw(2), name[0]);
        strbuf_printf(text, "%s = gT[0].fn(d - 1, %s, 2);\n", PICK(places), PICK(places));
        return;
    default:
        strbuf_printf(text, "{ function *fn = %s ? %s : %s; ", PICK(places), name[0], name[1]);
        strbuf_printf(text, "%s = fn(d, %s, 3); ", PICK(places), PICK(places));
        strbuf_printf(text, "if (fn == gfn) fn = %s; if (d > 1) %s = fn(d - 2, 1, %s); }\n",
                      name[1], PICK(places), PICK(places));
    }
}

static void put_call(struct writer *writer)
{
    uint32_t function = writer->functions ? draw(writer->functions) : 0;

    if (draw(3) == 0) {
        if (writer->functions && draw(4) == 0)
            strbuf_printf(&writer->text, "qsort(%s, 4, 4, c%u_%u);\n", draw(2) ? "arr" : "garr",
                          writer->program, function);
        else
            put_pointer_call(writer);
        return;
    }

    if (!writer->functions || draw(5) == 0) {
        // itself, not for ever
        strbuf_printf(&writer->text, "if (d > 0) %s = f%u_%u(d - 1, %s, ", PICK(places),
                      writer->program, writer->function, PICK(places));
        put_expression(writer, 1);
        put(writer, ");\n");
        return;
    }
    switch (draw(4)) {
    case 0:
        strbuf_printf(&writer->text, "%s = g%u_%u(%s, ", PICK(pointers), writer->program, function,
                      PICK(places));
        break;
    case 1:
        strbuf_printf(&writer->text, "h%u_%u(%s, ", writer->program, function, PICK(targets));
        break;
    default:
        strbuf_printf(&writer->text, "%s = f%u_%u(d, %s, ", PICK(places), writer->program, function,
                      PICK(places));
    }
    put_expression(writer, 1);
    put(writer, ");\n");
}

static void put_switch(struct writer *writer, uint32_t depth)
{
    uint32_t cases = 1 + draw(4), first = draw(6);

    strbuf_printf(&writer->text, "switch (%s) {\n", PICK(places));
    for (uint32_t i = 0; i < cases; i++) {
        strbuf_printf(&writer->text, "case %d: ", (int)(first + i * 2) - 3);
        if (draw(3))
            put_block(writer, depth - 1);
        if (draw(3))
            put(writer, "break;\n");
    }
    if (draw(2)) {
        put(writer, "default: ");
        put_block(writer, depth - 1);
    } else
        put(writer, "default:;\n");
    put(writer, "}\n");
}

static void put_loop(struct writer *writer, uint32_t depth)
{
    uint32_t counter = writer->counters++;

    if (draw(2)) {
        strbuf_printf(&writer->text, "for (int i%u = 0; i%u < %u; i%u++) ", counter, counter,
                      1 + draw(3), counter);
    } else {
        strbuf_printf(&writer->text, "{ int i%u = 3; } for (unsigned i%u = %u; i%u-- > 0 && ",
                      counter, counter, 1 + draw(3), counter);
        put_condition(writer, 1);
        put(writer, ";) ");
    }
    put_block(writer, depth - 1);
}

static void put_pointer(struct writer *writer)
{
    switch (draw(8)) {
    case 0:
    case 1:
        strbuf_printf(&writer->text, "%s = %s;\n", PICK(local_pointers), PICK(targets));
        return;
    case 2:
        if (draw(2))
            strbuf_printf(&writer->text, "%s = %s;\n", PICK(local_pointers),
                          draw(3) ? PICK(pointers) : "0");
        else
            strbuf_printf(&writer->text, "%s = %s;\n", PICK(global_pointers),
                          draw(2) ? PICK(global_pointers) : PICK(global_targets));
        return;
    case 3:
        put(writer, "if (r) *r = ");
        break;
    case 4:
        put(writer, "if (gp) *gp = ");
        break;
    case 5:
        put(writer, draw(2) ? "memset(&s, 0, sizeof(s));\n" : "s = gS;\n");
        return;
    case 6:
        put(writer, "{ struct S *v = ");
        put_condition(writer, 0);
        strbuf_printf(&writer->text, " ? &s : &gS; v->%s = ", draw(2) ? "a" : "c");
        put_expression(writer, 1);
        put(writer, "; }\n");
        return;
    default:
        strbuf_printf(&writer->text, "%s[%s & 3] = ", draw(2) ? "arr" : "garr", PICK(places));
    }
    put_expression(writer, 1);
    put(writer, ";\n");
}

// A number within bounds, moved, and put into something else.
static void put_bounded(struct writer *writer, uint32_t depth)
{
    static const char *const from[] = {"p", "q", "x", "p", "q", "c", "guc", "l"};
    static const char *const to[] = {"c", "uc", "h", "guc", "gc", "ga", "gb", "gu", "y"};
    const char *place = PICK(from), *other = PICK(to);
    int low = (int)draw(300) - 150;

    strbuf_printf(&writer->text, "if (%s >= %d && %s < %d) {\n%s = %s + %d;\ngb = %s %s %d;\nif (",
                  place, low, place, low + 1 + (int)draw(200), other, place, (int)draw(300) - 100,
                  place, draw(2) ? "+" : "%", 1 + (int)draw(9));
    if (draw(2))
        strbuf_printf(&writer->text, "%s %s %d) ", other, draw(2) ? "<" : ">",
                      (int)draw(256) - 128);
    else
        strbuf_printf(&writer->text, "gb %s %s) ", draw(2) ? "<" : ">=", draw(2) ? "0" : other);
    put_block(writer, depth - 1);
    put(writer, "}\n");
}

// Library code that calls back, and moves what the callback looks at.
static void put_sort(struct writer *writer)
{
    for (uint32_t i = 0; i < 3; i++)
        strbuf_printf(&writer->text, "garr[%u] = %s;\n", i,
                      draw(2)   ? PICK(numbers)
                      : draw(2) ? "p"
                                : "q");
    strbuf_printf(&writer->text, "qsort(garr, 4, 4, c%u_%u);\n", writer->program,
                  draw(writer->functions));
}

static void put_statement(struct writer *writer, uint32_t depth)
{
    switch (depth ? draw(17) : draw(9)) {
    case 0:
    case 1:
    case 2:
        strbuf_printf(&writer->text, "%s = ", PICK(places));
        put_expression(writer, draw(3));
        put(writer, ";\n");
        return;
    case 3:
        strbuf_printf(&writer->text, "%s = %s;\n", PICK(places), PICK(places));
        return;
    case 4:
        strbuf_printf(&writer->text, "%s%s;\n", PICK(places), draw(2) ? "++" : " -= 3");
        return;
    case 5:
    case 6:
        put_pointer(writer);
        return;
    case 7:
        put_call(writer);
        return;
    case 8:
        strbuf_printf(&writer->text, "%s = ", PICK(places));
        put_condition(writer, 1);
        put(writer, ";\n");
        return;
    case 9:
        put_switch(writer, depth);
        return;
    case 16:
        if (writer->functions && draw(3) == 0)
            put_sort(writer);
        else
            put_bounded(writer, depth);
        return;
    case 10:
        put_loop(writer, depth);
        return;
    case 11:
        if (draw(3) == 0) {
            put(writer, "if (");
            put_condition(writer, 1);
            put(writer, writer->is_pointer ? ") return gp; (void)(" : ") return (");
            put_expression(writer, 1);
            put(writer, ");\n");
            return;
        }
        // fall through
    default:
        put(writer, "if (");
        put_condition(writer, 2);
        put(writer, ") ");
        put_block(writer, depth - 1);
        if (draw(2)) {
            put(writer, "else ");
            put_block(writer, depth - 1);
        }
    }
}

static void put_block(struct writer *writer, uint32_t depth)
{
    put(writer, "{\n");
    for (uint32_t i = 0, count = 1 + draw(3); i < count; i++)
        put_statement(writer, depth);
    put(writer, "}\n");
}

static void put_function(struct writer *writer, uint32_t number)
{
    static const char *const locals =
        "int x = q, y = 1, z, *r = 0, *t = &x; unsigned u = p; signed char c = p;\n"
        "unsigned char uc = q; short h = 3; long l = p; _Bool b = q; struct S s = {p}; int arr[4] "
        "= "
        "{0};\nunion W w; w.whole = 0; z = 2; static int sa = 4, sb; int un;\n";
    uint32_t program = writer->program;

    writer->function = number;
    writer->is_pointer = false;
    strbuf_printf(&writer->text, "static int f%u_%u(int d, int p, int q) {\n%s", program, number,
                  locals);
    for (uint32_t i = 0, count = 3 + draw(5); i < count; i++)
        put_statement(writer, 2);
    put(writer, "return ");
    put_expression(writer, 1);
    strbuf_printf(&writer->text, ";\n}\nstatic int *g%u_%u(int p, int q) {\nint d = 0;\n%s",
                  program, number, locals);
    writer->is_pointer = true;
    put_statement(writer, 2);
    put(writer, "if (");
    put_condition(writer, 1);
    strbuf_printf(&writer->text, ") return 0;\nreturn %s;\n}\n", draw(2) ? "&ga" : "garr + 2");
    strbuf_printf(&writer->text,
                  "static int c%u_%u(const void *left, const void *right) {\nint d = 0, p = *(int "
                  "*)left, q = *(int *)right;\n%s",
                  program, number, locals);
    writer->is_pointer = false;
    put_statement(writer, 1);
    put(writer, "if (garr[1] > garr[2]) gb++;\nreturn p < q ? -1 : p > q;\n}\n");
    strbuf_printf(&writer->text, "static void h%u_%u(int *p, int q) {\n", program, number);
    put(writer, draw(2) ? "if (p && q != 3) *p = q;\n}\n" : "*p = *p + q;\nga = q;\n}\n");
}

static char *draw_file(uint64_t seed)
{
    struct writer writer = {.text = STRBUF_INIT};

    random_state = seed;
    put(&writer,
        "#include <string.h>\n#include <stdlib.h>\n"
        "struct S { int a; short b; char c; int *n; };\n"
        "union W { unsigned whole; short half[2]; signed char byte[4]; };\n"
        "int ga = 1, gb, garr[4] = {0, 5, 2}; unsigned gu = 3; signed char gc = -1;\n"
        "long gl; short gs = 300; _Bool gf; int *gp; struct S gS = {7, -2, 'c'};\n"
        "unsigned char guc = 200; union W gW;\n"
        "typedef int function(int, int, int);\n"
        "static int f_first(int d, int p, int q) { if (p > 2) ga = q; return d + q; }\n"
        "function *gfn = f_first; struct { int id; function *fn; } gT[2] = {{1, f_first}};\n"
        "static function *pick(function *f, int i) "
        "{ return i == 2 ? gfn : i < 0 ? 0 : f; }\n");
    for (writer.program = 0; writer.program < PROGRAMS; writer.program++) {
        uint32_t count = 1 + draw(3);
        for (uint32_t f = 0; f < count; f++) {
            writer.functions = f;
            put_function(&writer, f);
        }
        strbuf_printf(&writer.text, "static int run%u(int a, int b) { return f%u_%u(2, a, b); }\n",
                      writer.program, writer.program, count - 1);
    }
    put(&writer, "int main(int argc, char **argv) {\n"
                 "int a = atoi(argv[2]), b = atoi(argv[3]);\nswitch (atoi(argv[1])) {\n");
    for (uint32_t i = 0; i < PROGRAMS; i++)
        strbuf_printf(&writer.text, "case %u: return run%u(a, b);\n", i, i);
    put(&writer, "}\nreturn 0;\n}\n");
    return strbuf_steal(&writer.text);
}

// ---- Running them

static const struct {
    const char *name;
    size_t size;
} observed[] = {{"ga", 4}, {"gb", 4}, {"garr", 16}, {"gu", 4},  {"gc", 1},  {"gl", 8},
                {"gs", 2}, {"gf", 1}, {"gp", 8},    {"gS", 16}, {"guc", 1}, {"gW", 4}};

#define OBSERVED (sizeof(observed) / sizeof(*observed))
#define LEAVES   UINT32_MAX

struct moment {
    uint32_t function, node;
    unsigned char bytes[OBSERVED][16]; // before the node
};

static struct moment *moments;
static uint32_t moment_count;
static const void *addresses[OBSERVED];

static void hook(uint32_t function, uint32_t node)
{
    if (moment_count == LOG_MOST)
        return;
    struct moment *moment = &moments[moment_count++];
    moment->function = function;
    moment->node = node;
    for (size_t i = 0; i < OBSERVED; i++)
        memcpy(moment->bytes[i], addresses[i], observed[i].size);
}

static void insert_log(LLVMBuilderRef builder, LLVMModuleRef module, LLVMValueRef before,
                       uint32_t function, uint32_t node)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef number = LLVMInt32TypeInContext(context);
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(context), (LLVMTypeRef[]){number, number}, 2, false);
    LLVMValueRef log = LLVMGetNamedFunction(module, "dataflow_log");

    if (!log)
        log = LLVMAddFunction(module, "dataflow_log", type);
    LLVMPositionBuilderBefore(builder, before);
    LLVMBuildCall2(
        builder, type, log,
        (LLVMValueRef[]){LLVMConstInt(number, function, false), LLVMConstInt(number, node, false)},
        2, "");
}

static void log_function(LLVMBuilderRef builder, LLVMModuleRef module, LLVMValueRef function,
                         uint32_t number)
{
    struct split split;

    split_init(&split, function);
    for (uint32_t n = 0; n < split.graph.node_count; n++) {
        LLVMValueRef first = split.nodes[n].first;
        while (LLVMIsAPHINode(first))
            first = LLVMGetNextInstruction(first);
        insert_log(builder, module, first, number, n);
        if (LLVMIsAReturnInst(split.nodes[n].last))
            insert_log(builder, module, split.nodes[n].last, number, LEAVES);
    }
    split_deinit(&split);
}

static char *build_logged(const struct subject *subject)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
        subject->assembly, strlen(subject->assembly), "test.ll");
    LLVMModuleRef module;
    char *message = NULL;
    uint32_t number = 0;

    if (LLVMParseIRInContext(context, buffer, &module, &message))
        fail_msg("%s", message);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            log_function(builder, module, f, number++);
    LLVMDisposeBuilder(builder);
    char *path = file_join(subject->directory, "logged.bc");
    assert_int_equal(LLVMWriteBitcodeToFile(module, path), 0);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    free(path);
    char *command = xasprintf(
        "cd '%s' && echo 'void (*dataflow_hook)(unsigned, unsigned); void dataflow_log(unsigned f, "
        "unsigned n) { dataflow_hook(f, n); }' > hook.c && clang-19 -w -g0 -O0 -fPIC -shared "
        "logged.bc hook.c -o logged.so",
        subject->directory);
    assert_int_equal(system(command), 0);
    free(command);
    return file_join(subject->directory, "logged.so");
}

static void run_logged(const char *path, uint32_t program, int a, int b)
{
    char first[16], second[16], third[16];
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        fail_msg("%s", dlerror());
    *(void (**)(uint32_t, uint32_t))dlsym(library, "dataflow_hook") = hook;
    int (*main_function)(int, char **) = (int (*)(int, char **))dlsym(library, "main");
    for (size_t i = 0; i < OBSERVED; i++)
        addresses[i] = dlsym(library, observed[i].name);
    snprintf(first, sizeof(first), "%u", program);
    snprintf(second, sizeof(second), "%d", a);
    snprintf(third, sizeof(third), "%d", b);
    char *arguments[] = {"prog", first, second, third, NULL};
    moment_count = 0;
    main_function(4, arguments);
    dlclose(library);
}

// ---- Runs

VEC_DEFINE(event_vec, struct run_event);

struct checker {
    struct subject *subject;
    struct dataflow *dataflow;
    const struct flow *flow;
    struct event_vec events;
    uint32_t *moment_of_event;   // NONE: of no node that logs
    struct dataflow_value *seen; // by function: of some completed call of it
    bool joins, skips;           // how calls are composed
    uint64_t composed, differing, said;
};

static void push_event(struct checker *checker, enum run_letter letter, uint32_t node,
                       uint32_t function)
{
    event_vec_push(&checker->events, (struct run_event){letter, node, function, 0});
}

// The function of the flow that stands for library code which the node runs and which may call
// `function`; NONE: the node calls that itself.
static uint32_t library_between(const struct checker *checker, uint32_t node, uint32_t function)
{
    struct flow_callees callees = flow_callees(checker->flow, node);
    uint32_t found = NONE;

    for (uint32_t i = 0; i < callees.count; i++) {
        if (callees.data[i] == function)
            return NONE;
        if (callees.data[i] >= checker->subject->model->function_count)
            found = callees.data[i];
    }
    assert_int_not_equal(found, NONE);
    return found;
}

static bool is_foreign(const struct checker *checker, uint32_t node)
{
    return node >= checker->subject->model->node_count && node != checker->flow->main_call;
}

// The function is entered from the innermost frame, by way of library code where need be.
static void enter_function(struct checker *checker, struct u32_vec *stack, uint32_t function)
{
    const struct flow *flow = checker->flow;
    uint32_t node = stack->data[stack->length - 1];

    if (is_foreign(checker, node)) { // one more callback
        uint32_t hub = flow->functions[flow->node_function[node]].entry;
        push_event(checker, RUN_STEP, hub, FLOW_NONE);
        push_event(checker, RUN_STEP, hub + 1, FLOW_NONE);
    } else {
        uint32_t library = library_between(checker, node, function);
        if (library != NONE) {
            uint32_t hub = flow->functions[library].entry;
            push_event(checker, RUN_CALL, node, library);
            push_event(checker, RUN_STEP, hub, FLOW_NONE);
            push_event(checker, RUN_STEP, hub + 1, FLOW_NONE);
            u32_vec_push(stack, hub + 1);
        }
    }
    push_event(checker, RUN_CALL, stack->data[stack->length - 1], function);
    u32_vec_push(stack, NONE);
}

// Library code comes back to what called it.
static void leave_library(struct checker *checker, struct u32_vec *stack)
{
    uint32_t node = stack->data[stack->length - 1];

    if (!is_foreign(checker, node))
        return;
    push_event(checker, RUN_STEP, node - 1, FLOW_NONE);
    stack->length--;
    push_event(checker, RUN_LEAVE, stack->data[stack->length - 1],
               checker->flow->node_function[node]);
}

static void make_events(struct checker *checker)
{
    const struct flow *flow = checker->flow;
    const struct model *model = checker->subject->model;
    struct u32_vec stack = VEC_INIT; // current nodes

    checker->events.length = 0;
    checker->moment_of_event = xrealloc(checker->moment_of_event, 8 * LOG_MOST * sizeof(uint32_t));
    memset(checker->moment_of_event, 0xff, 8 * LOG_MOST * sizeof(uint32_t));
    push_event(checker, RUN_STEP, flow->functions[flow->start].entry, FLOW_NONE);
    push_event(checker, RUN_STEP, flow->main_call, FLOW_NONE);
    u32_vec_push(&stack, flow->main_call);
    for (uint32_t i = 0; i < moment_count; i++) {
        uint32_t function = moments[i].function;
        if (moments[i].node == LEAVES) {
            stack.length--;
            push_event(checker, RUN_LEAVE, stack.data[stack.length - 1], function);
            continue;
        }
        if (moments[i].node == 0)
            enter_function(checker, &stack, function);
        else
            leave_library(checker, &stack);
        uint32_t node = model->functions[function].first_node + moments[i].node;
        stack.data[stack.length - 1] = node;
        checker->moment_of_event[checker->events.length] = i;
        push_event(checker, RUN_STEP, node, FLOW_NONE);
    }
    u32_vec_deinit(&stack);
}

// ---- Values

VEC_DEFINE(piece_vec, struct dataflow_value);

// In any association.
static struct dataflow_value fold(struct checker *checker, const struct dataflow_value *pieces,
                                  size_t count)
{
    if (count == 0)
        return DATAFLOW_ONE;
    if (count == 1)
        return pieces[0];
    size_t first = 1 + draw((uint32_t)count - 1);
    struct dataflow_value a = fold(checker, pieces, first);
    return dataflow_extend(checker->dataflow, a, fold(checker, pieces + first, count - first));
}

static struct dataflow_value fold_twice(struct checker *checker, const struct piece_vec *pieces)
{
    struct dataflow_value a = fold(checker, pieces->data, pieces->length), b = DATAFLOW_ONE;

    for (size_t i = 0; i < pieces->length; i++)
        b = dataflow_extend(checker->dataflow, b, pieces->data[i]);
    checker->composed++;
    checker->differing += a.number != b.number;
    return draw(2) ? a : b;
}

// Over whichever edges lead there.
static struct dataflow_value step_to(struct checker *checker, uint32_t node, uint32_t target)
{
    struct flow_edges edges = flow_edges(checker->flow, node);
    struct dataflow_value value = DATAFLOW_ZERO;

    for (uint32_t e = 0; e < edges.count; e++)
        if (edges.data[e].target == target)
            value = dataflow_combine(checker->dataflow, value,
                                     dataflow_step(checker->dataflow, node, e));
    return value;
}

static struct dataflow_value pass_to(struct checker *checker, struct dataflow_value callee,
                                     uint32_t node, uint32_t function, uint32_t target)
{
    struct flow_edges edges = flow_edges(checker->flow, node);
    struct dataflow_value *seen = &checker->seen[function];
    bool skips = checker->skips && draw(3) == 0;

    if (checker->joins && !dataflow_is_zero(*seen))
        callee = dataflow_combine(checker->dataflow, callee, *seen);
    *seen = draw(2) ? callee : *seen;
    for (uint32_t e = 0; e < edges.count; e++)
        if (edges.data[e].target == target)
            return skips
                       ? dataflow_skip(checker->dataflow, node, e)
                       : dataflow_merge(checker->dataflow, DATAFLOW_ONE, callee, node, function, e);
    fail_msg("a call does not go on");
    return DATAFLOW_ZERO;
}

// From event *at on, within one frame, up to the end or where the frame is left (*left): its value.
static struct dataflow_value compose(struct checker *checker, uint32_t *at, uint32_t end,
                                     bool *left)
{
    struct piece_vec pieces = VEC_INIT;
    uint32_t node = checker->events.data[(*at)++].node;

    *left = false;
    while (*at < end && !*left) {
        struct run_event event = checker->events.data[*at];
        if (event.letter == RUN_STEP) {
            piece_vec_push(&pieces, step_to(checker, node, event.node));
            node = event.node;
            ++*at;
        } else if (event.letter == RUN_LEAVE) {
            piece_vec_push(&pieces, dataflow_leave(checker->dataflow, node));
            *left = true;
        } else {
            bool returned = false;
            ++*at;
            struct dataflow_value callee =
                *at < end ? compose(checker, at, end, &returned) : DATAFLOW_ONE;
            if (!returned || *at + 1 >= end) {
                // pending, or just back
                piece_vec_push(&pieces, dataflow_call(checker->dataflow, node, event.function));
                piece_vec_push(&pieces, callee);
                *at = end;
                break;
            }
            uint32_t target = checker->events.data[++*at].node;
            piece_vec_push(&pieces, pass_to(checker, callee, node, event.function, target));
            node = target;
            ++*at;
        }
    }
    struct dataflow_value value = fold_twice(checker, &pieces);
    piece_vec_deinit(&pieces);
    return value;
}

static struct dataflow_value compose_run(struct checker *checker, uint32_t end)
{
    uint32_t at = 0;
    bool left;
    struct dataflow_value value = compose(checker, &at, end, &left);

    return dataflow_extend(checker->dataflow, dataflow_begin(checker->dataflow), value);
}

// ---- What values say

static bool observe(const struct checker *checker, uint32_t variable, const struct moment *moment,
                    uint64_t *ret)
{
    const struct dataflow *dataflow = checker->dataflow;

    if (variable >= dataflow->memory_count)
        return false;
    const struct tracked *tracked = &dataflow->variables.data[variable];
    const struct slot *slot = &dataflow->slots.data[tracked->index];
    const struct memory_object *object = &dataflow->objects.data[slot->object];
    const struct code *code = dataflow->model->modules[object->module].code;
    const char *name = code_string(code, code->globals[object->index].name);
    for (size_t i = 0; i < OBSERVED; i++) {
        if (strcmp(observed[i].name, name) != 0)
            continue;
        *ret = 0;
        for (uint32_t k = 0; k < slot->bytes; k++)
            *ret |= (uint64_t)moment->bytes[i][slot->offset + k] << (8 * k);
        return true;
    }
    return false;
}

static void assert_said(struct checker *checker, struct dataflow_value number,
                        const struct moment *moment, const char *source)
{
    const struct value *value = value_at(checker->dataflow, number);
    uint64_t *unknowns = xcalloc(value->unknown_count + 1u, sizeof(*unknowns));
    bool *known = xcalloc(value->unknown_count + 1u, sizeof(*known));

    for (uint32_t i = 0; i < value->entry_count; i++) {
        const struct expression *e = &value->entries[i].expression;
        uint64_t real;
        bool is_right = true;
        if (!observe(checker, value->entries[i].variable, moment, &real))
            continue;
        if (e->kind == EXPRESSION_CONSTANT)
            is_right = e->constant == real;
        else if (e->kind == EXPRESSION_COPY && e->base & BASE_UNKNOWN) {
            uint32_t u = e->base & ~BASE_UNKNOWN;
            uint64_t base = (real - e->constant) & width_mask(e->width);
            is_right = range_holds(range_at(checker->dataflow, value->unknowns[u].range), base) &&
                       (!known[u] || unknowns[u] == base);
            known[u] = true;
            unknowns[u] = base;
        }
        checker->said++;
        if (!is_right) {
            struct strbuf text = STRBUF_INIT;
            dataflow_print(checker->dataflow, number, &text);
            fail_msg("%s\nbut entry %u is %llx really:\n%s", text.data, i, (unsigned long long)real,
                     source);
        }
    }
    free(unknowns);
    free(known);
}

static void check_cut(struct checker *checker, uint32_t end, const char *source)
{
    struct run run = {checker->events.data, end};
    uint32_t against = dataflow_replay(checker->dataflow, &run);

    if (against != UINT32_MAX)
        fail_msg("replay finds event %u of %u impossible (node %u):\n%s", against, end,
                 run.events[against].node, source);
    struct dataflow_value value = compose_run(checker, end);
    if (dataflow_is_zero(value))
        fail_msg("a real run is worth zero (%u events):\n%s", end, source);
    uint32_t moment = checker->moment_of_event[end - 1];
    if (moment != NONE)
        assert_said(checker, value, &moments[moment], source);
}

static void check_run(struct checker *checker, const char *source)
{
    make_events(checker);
    for (uint32_t i = 0; i < CUTS; i++) {
        uint32_t end = i == 0 ? (uint32_t)checker->events.length
                              : 3 + draw((uint32_t)checker->events.length - 3);
        checker->joins = draw(2);
        checker->skips = draw(3) == 0;
        check_cut(checker, end, source);
    }
}

static void check_file(uint64_t seed, struct checker *totals)
{
    static const int inputs[] = {0, 1, 2, 3, -1, 7, 100, 127, 200, 256, -128, 65535};
    char *source = draw_file(seed);
    struct subject subject;
    uint32_t options = (uint32_t)(seed % 4);

    subject_init(&subject, source, options);
    char *path = build_logged(&subject);
    struct checker checker = {
        .subject = &subject, .dataflow = subject.dataflow, .flow = subject.flow};
    checker.seen = xcalloc(subject.flow->function_count + 1u, sizeof(*checker.seen));
    for (uint32_t program = 0; program < PROGRAMS; program++)
        for (uint32_t i = 0; i < RUNS; i++) {
            run_logged(path, program, PICK(inputs), PICK(inputs));
            check_run(&checker, source);
        }
    totals->composed += checker.composed;
    totals->differing += checker.differing;
    totals->said += checker.said;
    event_vec_deinit(&checker.events);
    free(checker.moment_of_event);
    free(checker.seen);
    free(path);
    free(source);
    subject_deinit(&subject);
}

static uint64_t setting(const char *name, uint64_t missing)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : missing;
}

static void real_runs(void **unused)
{
    struct checker totals = {0};
    uint64_t seed = setting("DATAFLOW_SEED", 1), files = setting("DATAFLOW_FILES", 8);

    (void)unused;
    moments = xcalloc(LOG_MOST, sizeof(*moments));
    for (uint64_t i = 0; i < files; i++)
        check_file(seed + i, &totals);
    print_message("%llu compositions, %llu that depend on the order, %llu statements checked\n",
                  (unsigned long long)totals.composed, (unsigned long long)totals.differing,
                  (unsigned long long)totals.said);
    assert_true(totals.said > 1000 * files);
    free(moments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(real_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
