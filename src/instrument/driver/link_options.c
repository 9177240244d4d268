/* The options of GNU ld, gold and lld that have a value. See link_walk.h. */
#include <stdlib.h>
#include <string.h>

#include "instrument/driver/link_walk.h"

/* Without dashes; sorted. Those of one letter may have their value joined, others have it behind a
 * '=' or as the next argument. */
static const struct known_option {
    const char *name;
    enum option_use use;
} known_options[] = {
    {"A", OPTION_OTHER},
    {"F", OPTION_OTHER},
    {"G", OPTION_OTHER},
    {"I", OPTION_OTHER},
    {"L", OPTION_DIRECTORY},
    {"Map", OPTION_OTHER},
    {"R", OPTION_OBJECT},
    {"T", OPTION_SCRIPT},
    {"Tbss", OPTION_OTHER},
    {"Tdata", OPTION_OTHER},
    {"Tldata-segment", OPTION_OTHER},
    {"Trodata-segment", OPTION_OTHER},
    {"Ttext", OPTION_OTHER},
    {"Ttext-segment", OPTION_OTHER},
    {"Y", OPTION_OTHER},
    {"a", OPTION_OTHER},
    {"architecture", OPTION_OTHER},
    {"assert", OPTION_OTHER},
    {"auxiliary", OPTION_OTHER},
    {"b", OPTION_FORMAT},
    {"c", OPTION_COMMANDS},
    {"call-graph-ordering-file", OPTION_FILE},
    {"chroot", OPTION_OTHER},
    {"dT", OPTION_SCRIPT},
    {"default-script", OPTION_SCRIPT},
    {"defsym", OPTION_EXPRESSION},
    {"dependency-file", OPTION_OTHER},
    {"dynamic-linker", OPTION_OTHER},
    {"dynamic-list", OPTION_FILE},
    {"e", OPTION_SYMBOL},
    {"entry", OPTION_SYMBOL},
    {"exclude-libs", OPTION_OTHER},
    {"export-dynamic-symbol", OPTION_SYMBOL},
    {"export-dynamic-symbol-list", OPTION_FILE},
    {"f", OPTION_OTHER},
    {"filter", OPTION_OTHER},
    {"fini", OPTION_SYMBOL},
    {"format", OPTION_FORMAT},
    {"h", OPTION_OTHER},
    {"hash-style", OPTION_OTHER},
    {"ignore-unresolved-symbol", OPTION_OTHER},
    {"image-base", OPTION_OTHER},
    {"init", OPTION_SYMBOL},
    {"just-symbols", OPTION_OBJECT},
    {"l", OPTION_LIBRARY},
    {"library", OPTION_LIBRARY},
    {"library-path", OPTION_DIRECTORY},
    {"m", OPTION_OTHER},
    {"mllvm", OPTION_OTHER},
    {"mri-script", OPTION_COMMANDS},
    {"o", OPTION_OUTPUT},
    {"oformat", OPTION_OTHER},
    {"out-implib", OPTION_OTHER},
    {"output", OPTION_OUTPUT},
    {"plugin", OPTION_PLUGIN},
    {"plugin-opt", OPTION_OTHER},
    {"remap-inputs-file", OPTION_COMMANDS},
    {"reproduce", OPTION_OTHER},
    {"require-defined", OPTION_SYMBOL},
    {"retain-symbols-file", OPTION_FILE},
    {"rpath", OPTION_RUN_PATH},
    {"rpath-link", OPTION_RUN_PATH},
    {"script", OPTION_SCRIPT},
    {"section-ordering-file", OPTION_FILE},
    {"section-start", OPTION_OTHER},
    {"soname", OPTION_OTHER},
    {"sort-section", OPTION_OTHER},
    {"symbol-ordering-file", OPTION_FILE},
    {"sysroot", OPTION_SYSROOT},
    {"trace-symbol", OPTION_OTHER},
    {"u", OPTION_SYMBOL},
    {"undefined", OPTION_SYMBOL},
    {"undefined-glob", OPTION_ANY_SYMBOL},
    {"unresolved-symbols", OPTION_OTHER},
    {"version-script", OPTION_FILE},
    {"why-extract", OPTION_OTHER},
    {"wrap", OPTION_WRAP},
    {"y", OPTION_OTHER},
    {"z", OPTION_OTHER},
};
#define KNOWN_COUNT (sizeof(known_options) / sizeof(known_options[0]))

struct name {
    const char *text;
    size_t length;
};

static int compare_names(const void *key, const void *element)
{
    const struct name *name = key;
    const struct known_option *known = element;
    int order = strncmp(name->text, known->name, name->length);
    return order ? order : -(int)(unsigned char)known->name[name->length];
}

static const struct known_option *find_option(const char *text, size_t length)
{
    struct name name = {text, length};
    return bsearch(&name, known_options, KNOWN_COUNT, sizeof(known_options[0]), compare_names);
}

/* The value in the argument from `before` on, or the next argument. */
static struct option with_value(const struct arguments *arguments, size_t index,
                                enum option_use use, size_t before)
{
    const char *argument = arguments->data[index];
    struct option option = {.use = use, .value = argument + before, .before = before};
    if (!argument[before]) {
        option.before = 0;
        option.is_next = index + 1 < arguments->length;
        option.value = option.is_next ? arguments->data[index + 1] : NULL;
    }
    return option;
}

struct option walk_option(const struct arguments *arguments, size_t index)
{
    const char *argument = arguments->data[index];
    size_t dashes = strspn(argument, "-");
    size_t length = strcspn(argument + dashes, "=");
    const struct known_option *known = find_option(argument + dashes, length);
    if (known && length > 1 && argument[dashes + length])
        return with_value(arguments, index, known->use, dashes + length + 1);
    if (known)
        return with_value(arguments, index, known->use, dashes + length);
    known = dashes == 1 ? find_option(argument + 1, 1) : NULL;
    if (known && known->use != OPTION_COMMANDS) /* -cref is not -c with a value */
        return with_value(arguments, index, known->use, 2);
    return (struct option){.use = OPTION_OTHER};
}

bool walk_is_option(const char *argument, const char *name)
{
    return argument[0] == '-' && (strcmp(argument + 1, name) == 0 ||
                                  (argument[1] == '-' && strcmp(argument + 2, name) == 0));
}
