// SPDX-License-Identifier: Apache-2.0
// Files and lines as people name them, and those that nearly match.
#include <string.h>

#include "ask/near.h"
#include "common/arena.h"

static const char *path_end(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool file_matches(const struct model *model, struct file_id file, const char *name)
{
    const char *path = model_file_path(model, file);

    while (name[0] == '.' && name[1] == '/')
        name += 2;
    if (!path)
        return false;
    size_t length = strlen(path), tail = strlen(name);
    return tail <= length && strcmp(path + length - tail, name) == 0 &&
           (tail == length || path[length - tail - 1] == '/' || name[0] == '/');
}

void visit_lines(const struct model *model, const char *file,
                 void (*visit)(void *argument, uint32_t node, const struct place *place),
                 void *argument)
{
    for (uint32_t n = 0; n < model->node_count; n++) {
        const struct model_node *node = &model->nodes[n];
        const struct model_module *module =
            model_module(model, model_function(model, node->function)->module);
        struct place first = {.line = node->line, .column = node->column};
        if (node->file.value != MODEL_NONE && file_matches(model, node->file, file))
            visit(argument, n, &first);
        if (!module->code)
            continue;
        const struct code_node *in = &module->code->nodes[n - module->first_node];
        for (uint32_t i = in->first_insn; i < in->first_insn + in->insn_count; i++) {
            const struct place *place = code_own_place(module->code, module->code->insns[i].place);
            if (place && file_matches(model, module->files[place->file], file))
                visit(argument, n, place);
        }
    }
}

const char *near_files_text(const struct model *model, const char *name, struct arena *arena)
{
    struct near_names near = {0};

    for (uint32_t f = 0; f < model->file_count; f++)
        near_names_offer(&near, path_end(name),
                         path_end(model_file_path(model, (struct file_id){f})));
    return near_names_text(&near, "", arena);
}

struct around {
    uint32_t line, before, behind;
};

static void look_around(void *argument, uint32_t node, const struct place *place)
{
    struct around *around = argument;

    (void)node;
    if (place->line && place->line < around->line && place->line > around->before)
        around->before = place->line;
    if (place->line > around->line && (!around->behind || place->line < around->behind))
        around->behind = place->line;
}

const char *near_lines_text(const struct model *model, const char *file, uint32_t line,
                            struct arena *arena)
{
    struct around around = {.line = line};

    visit_lines(model, file, look_around, &around);
    if (around.before && around.behind)
        return arena_printf(arena, "; the nearest with code are %u and %u", around.before,
                            around.behind);
    if (around.before || around.behind)
        return arena_printf(arena, "; the nearest with code is %u", around.before + around.behind);
    return "";
}
