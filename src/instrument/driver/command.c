#include "instrument/driver/command.h"

#include <stdlib.h>
#include <string.h>

#include "instrument/driver/prefix_map.h"

/*
 * The options of clang-19 whose value is the next argument; that argument is then not looked at.
 * Found by asking clang-19 for each option it knows ("argument to '-o' is missing"); sorted.
 */
static const char *const separate_options[] = {
    "--CLASSPATH",
    "--analyzer-output",
    "--assert",
    "--config",
    "--define-macro",
    "--dyld-prefix",
    "--for-linker",
    "--force-link",
    "--imacros",
    "--include",
    "--include-directory",
    "--include-directory-after",
    "--include-prefix",
    "--include-with-prefix",
    "--include-with-prefix-after",
    "--include-with-prefix-before",
    "--language",
    "--library-directory",
    "--mhwdiv",
    "--output",
    "--param",
    "--prefix",
    "--resource",
    "--rtlib",
    "--serialize-diagnostics",
    "--specs",
    "--std",
    "--sysroot",
    "--undefine-macro",
    "--vfsoverlay",
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-U",
    "-Xanalyzer",
    "-Xarch_device",
    "-Xarch_host",
    "-Xarch_x86_64",
    "-Xassembler",
    "-Xclang",
    "-Xcuda-fatbinary",
    "-Xcuda-ptxas",
    "-Xlinker",
    "-Xoffload-linker",
    "-Xopenmp-target",
    "-Xpreprocessor",
    "-allowable_client",
    "-arch",
    "-arcmt-migrate-report-output",
    "-b",
    "-bundle_loader",
    "-ccc-arcmt-migrate",
    "-ccc-gcc-name",
    "-ccc-install-dir",
    "-ccc-objcmt-migrate",
    "-client_name",
    "-current_version",
    "-cxx-isystem",
    "-darwin-target-variant",
    "-darwin-target-variant-triple",
    "-dependency-dot",
    "-dependency-file",
    "-dsym-dir",
    "-dumpdir",
    "-e",
    "-exported_symbols_list",
    "-fdebug-compilation-dir",
    "-fexperimental-openacc-macro-override",
    "-filelist",
    "-fmodules-user-build-path",
    "-framework",
    "-ftrapv-handler",
    "-gen-cdb-fragment-path",
    "-hlsl-entry",
    "-iapinotes-modules",
    "-idirafter",
    "-iframework",
    "-iframeworkwithsysroot",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-install_name",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-l",
    "-meabi",
    "-mllvm",
    "-mmlir",
    "-module-dependency-dir",
    "-mthread-model",
    "-multiply_defined",
    "-o",
    "-resource-dir",
    "-rpath",
    "-serialize-diagnostics",
    "-specs",
    "-stdlib++-isystem",
    "-target",
    "-u",
    "-umbrella",
    "-undefined",
    "-validator-version",
    "-vfsoverlay",
    "-weak_framework",
    "-working-directory",
    "-x",
    "-z",
};

static const struct {
    const char *name;
    enum command_kind kind;
} kind_options[] = {
    {"--version", COMMAND_VERSION},
    {"--help", COMMAND_HELP},
    {"-help", COMMAND_HELP},
    {"--help-hidden", COMMAND_HELP},
    {"-E", COMMAND_PLAIN},
    {"--preprocess", COMMAND_PLAIN},
    {"-M", COMMAND_PLAIN},
    {"--dependencies", COMMAND_PLAIN},
    {"-MM", COMMAND_PLAIN},
    {"--user-dependencies", COMMAND_PLAIN},
    {"-fsyntax-only", COMMAND_PLAIN},
    {"-dumpversion", COMMAND_PLAIN},
    {"-dumpmachine", COMMAND_PLAIN},
    {"-c", COMMAND_COMPILE},
    {"--compile", COMMAND_COMPILE},
    {"-S", COMMAND_COMPILE},
    {"--assemble", COMMAND_COMPILE},
    {"--precompile", COMMAND_COMPILE},
    {"--analyze", COMMAND_COMPILE},
    {"-###", COMMAND_COMPILE},
};

/* -g options that say how much debug information there is; all others leave that as it is. */
enum debug_amount { DEBUG_UNSAID, DEBUG_NONE, DEBUG_LINES, DEBUG_FULL };

static const struct {
    const char *name;
    enum debug_amount amount;
} debug_options[] = {
    {"-g", DEBUG_FULL},
    {"--debug", DEBUG_FULL},
    {"-g0", DEBUG_NONE},
    {"-g1", DEBUG_LINES},
    {"-g2", DEBUG_FULL},
    {"-g3", DEBUG_FULL},
    {"-ggdb", DEBUG_FULL},
    {"-ggdb0", DEBUG_NONE},
    {"-ggdb1", DEBUG_LINES},
    {"-ggdb2", DEBUG_FULL},
    {"-ggdb3", DEBUG_FULL},
    {"-glldb", DEBUG_FULL},
    {"-gsce", DEBUG_FULL},
    {"-gdbx", DEBUG_FULL},
    {"-gfull", DEBUG_FULL},
    {"-gused", DEBUG_FULL},
    {"-gdwarf", DEBUG_FULL},
    {"-gmlt", DEBUG_LINES},
    {"-gline-tables-only", DEBUG_LINES},
    {"-gline-directives-only", DEBUG_LINES},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void command_deinit(struct command *command)
{
    options_deinit(&command->options);
    arguments_deinit(&command->arguments);
}

static int compare_names(const void *key, const void *element)
{
    return strcmp(key, *(const char *const *)element);
}

static bool takes_next(const char *argument)
{
    return bsearch(argument, separate_options, COUNT(separate_options), sizeof(separate_options[0]),
                   compare_names) ||
           has_prefix(argument, "-Xopenmp-target=");
}

static enum command_kind kind_of(const char *argument)
{
    for (size_t i = 0; i < COUNT(kind_options); i++) {
        if (strcmp(argument, kind_options[i].name) == 0)
            return kind_options[i].kind;
    }
    if (has_prefix(argument, "-print-") || has_prefix(argument, "--print-"))
        return COMMAND_PLAIN;
    return COMMAND_DRIVE;
}

/* Of the commands that make no code, those that read sources. */
static bool preprocesses(const char *argument)
{
    static const char *const names[] = {
        "-E",  "--preprocess",        "-M",           "--dependencies",
        "-MM", "--user-dependencies", "-fsyntax-only"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(argument, names[i]) == 0)
            return true;
    }
    return false;
}

static enum debug_amount debug_amount_of(const char *argument)
{
    for (size_t i = 0; i < COUNT(debug_options); i++) {
        if (strcmp(argument, debug_options[i].name) == 0)
            return debug_options[i].amount;
    }
    return has_prefix(argument, "-gdwarf-") ? DEBUG_FULL : DEBUG_UNSAID;
}

/* Questions win over work, and what ends earlier wins over what ends later, as in clang. */
static void lower_kind(struct command *command, enum command_kind kind)
{
    static const int rank[] = {
        [COMMAND_VERSION] = 0, [COMMAND_HELP] = 1,  [COMMAND_PLAIN] = 2,
        [COMMAND_COMPILE] = 3, [COMMAND_DRIVE] = 4,
    };
    if (rank[kind] < rank[command->kind])
        command->kind = kind;
}

/* One argument that is not ours and not another option's value. */
static void take(struct command *command, const char *argument)
{
    lower_kind(command, kind_of(argument));
    enum debug_amount amount = debug_amount_of(argument);
    if (amount != DEBUG_UNSAID)
        command->debug_given = true;
    if (preprocesses(argument))
        command->preprocesses = true;
    if (strcmp(argument, "-w") == 0)
        command->warnings_off = true;
    const char *map = prefix_map_pair(argument);
    if (map) /* for paths in the bitcode that is stored */
        arguments_push(&command->options.maps, map);
    if (strcmp(argument, "-fno-integrated-as") == 0 && !command->binutils_given)
        command->assembles_outside = true;
    if (has_prefix(argument, "-fbinutils-version=")) {
        command->binutils_given = true;
        command->assembles_outside = false;
    }
    if (has_prefix(argument, "-mllvm=-use-unknown-locations"))
        command->unknown_locations_given = true;
    /* Lines without variables hide the frame words: more is needed, and changes no code. */
    arguments_push(&command->arguments, amount == DEBUG_LINES ? "-g" : argument);
}

/* The value of an option that takes the next argument. */
static void take_value(struct command *command, const char *option, const char *value)
{
    if (strcmp(option, "-mllvm") == 0 && strstr(value, "-use-unknown-locations"))
        command->unknown_locations_given = true;
    if (strcmp(option, "-Xclang") == 0 && has_prefix(value, "-disable-llvm-"))
        command->passes_disabled = true;
    arguments_push(&command->arguments, value);
}

struct error *command_parse(struct command *command, struct arena *arena,
                            const struct arguments *arguments)
{
    size_t count = arguments->length;
    if (count && has_prefix(arguments->data[0], "-cc1")) {
        command->kind = COMMAND_PLAIN;
        arguments_append(&command->arguments, arguments->data, count);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const char *argument = arguments->data[i];
        bool taken = false;
        struct error *err = options_parse(&command->options, arena, argument, &taken);
        if (err)
            return err;
        if (taken)
            continue;
        take(command, argument);
        if (takes_next(argument) && i + 1 < count)
            take_value(command, argument, arguments->data[++i]);
    }
    return NULL;
}
