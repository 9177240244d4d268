// SPDX-License-Identifier: Apache-2.0
#include "cli/slice_at.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/dependence.h"
#include "ask/near.h"
#include "common/alloc.h"
#include "common/arena.h"
#include "common/error.h"
#include "common/strbuf.h"

// ---- The text

static bool is_number(const char *text, size_t length)
{
    return length > 0 && length < 10 && strspn(text, "0123456789") >= length;
}

static size_t part_before(const char *text, size_t end)
{
    while (end > 0 && text[end - 1] != ':')
        end--;
    return end;
}

struct error *slice_at_parse(const char *option, const char *text, bool takes_variable,
                             struct slice_at *ret)
{
    size_t length = strlen(text), last = part_before(text, length);
    size_t before = last ? part_before(text, last - 1) : 0;
    bool has_number = last > 1 && is_number(text + last, length - last);
    bool has_two = before > 1 && is_number(text + before, last - 1 - before);

    *ret = (struct slice_at){.text = text, .insns = BITSET_INIT};
    if (has_number && has_two)
        return error_create(ERROR_USAGE, "%s goes by lines: '%s' has a column, '%.*s' is enough",
                            option, text, (int)(last - 1), text);
    if (has_two && takes_variable && last < length) {
        ret->variable = text + last;
        last = before;
    } else if (!has_number)
        return error_create(ERROR_USAGE, "%s is FILE:LINE%s, not '%s'", option,
                            takes_variable ? " or FILE:LINE:VARIABLE" : "", text);
    ret->file = xstrndup(text, last - 1);
    ret->line = (uint32_t)strtoul(text + last, NULL, 10);
    return NULL;
}

void slice_at_deinit(struct slice_at *at)
{
    free(at->file);
    free(at->nodes);
    bitset_deinit(&at->insns);
    *at = (struct slice_at){.insns = BITSET_INIT};
}

// ---- What it stands for

static bool has_file(const struct model *model, const char *name)
{
    for (uint32_t f = 0; f < model->file_count; f++)
        if (file_matches(model, (struct file_id){f}, name))
            return true;
    return false;
}

static struct error *nothing_there(const struct slice_at *at, const struct model *model)
{
    struct arena arena;

    arena_init(&arena);
    struct error *err =
        has_file(model, at->file)
            ? error_create(ERROR_NOT_FOUND, "line %u of '%s' has no code%s", at->line, at->file,
                           near_lines_text(model, at->file, at->line, &arena))
            : error_create(ERROR_NOT_FOUND, "the program has no file '%s'%s", at->file,
                           near_files_text(model, at->file, &arena));
    arena_deinit(&arena);
    return err;
}

static void find_insns(struct slice_at *at, const struct model *model,
                       const struct dependence *dependence, struct node_id node)
{
    struct module_id id = model_function(model, model_node(model, node)->function)->module;
    const struct model_module *module = model_module(model, id);
    const struct code_node *in = model_code_node(model, node);

    for (uint32_t i = in->first_insn; i < in->first_insn + in->insn_count; i++) {
        const struct place *place = code_place(module->code, module->code->insns[i].place);

        if (place && place->line == at->line &&
            file_matches(model, module->files[place->file], at->file))
            bitset_set(&at->insns, dependence_insn(dependence, id, i).value);
    }
}

struct error *slice_at_find(struct slice_at *at, const struct model *model,
                            const struct dependence *dependence)
{
    at->node_count = model_find_line(model, at->file, at->line, false, &at->nodes);
    bitset_init(&at->insns, dependence_insn_count(dependence));
    if (!at->node_count)
        return nothing_there(at, model);
    for (uint32_t i = 0; i < at->node_count; i++)
        find_insns(at, model, dependence, at->nodes[i]);
    return NULL;
}

// ---- Variables

// What the source calls the variable that an instruction loads or stores; NULL: none.
static const char *variable_of(const struct code *code, const struct insn *insn)
{
    if (insn->opcode != INSN_LOAD && insn->opcode != INSN_STORE)
        return NULL;
    struct operand address = code_operand(code, insn, insn->opcode == INSN_STORE);
    if (operand_kind(address) == OPERAND_GLOBAL) {
        const struct global *global = &code->globals[operand_index(address)];
        const char *name = code_string(code, global->debug_name);

        return *name ? name : code_string(code, global->name);
    }
    const struct code_function *function = &code->functions[code->nodes[insn->node].function];
    for (uint32_t v = function->first_variable;
         v < function->first_variable + function->variable_count; v++)
        if (code->variables[v].storage.bits == address.bits)
            return code_string(code, code->variables[v].name);
    return NULL;
}

static void append_name(struct strbuf *list, const char *name, struct arena *arena)
{
    const char *quoted = arena_printf(arena, "'%s'", name);

    if (!strstr(list->data, quoted))
        strbuf_printf(list, "%s%s", list->length ? ", " : "; it has ", quoted);
}

struct error *slice_at_no_variable(const struct slice_at *at, const struct model *model,
                                   const struct dependence *dependence)
{
    struct near_names near = {0};
    struct arena arena;
    _cleanup_strbuf_ struct strbuf all = STRBUF_INIT;

    arena_init(&arena);
    for (size_t i = bitset_next(&at->insns, 0); i < at->insns.size;
         i = bitset_next(&at->insns, i + 1)) {
        struct module_id module;
        uint32_t index;
        const struct insn *insn =
            dependence_insn_at(dependence, (struct insn_id){(uint32_t)i}, &module, &index);
        const char *name = variable_of(model_module(model, module)->code, insn);

        if (!name || !*name)
            continue;
        near_names_offer(&near, at->variable, name);
        append_name(&all, name, &arena);
    }
    struct error *err = error_create(
        ERROR_NOT_FOUND, "line %u of '%s' neither reads nor writes a variable '%s'%s", at->line,
        at->file, at->variable, near.count ? near_names_text(&near, "", &arena) : all.data);
    arena_deinit(&arena);
    return err;
}
