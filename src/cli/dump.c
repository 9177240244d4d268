// SPDX-License-Identifier: Apache-2.0
// `inquest dump EXE`: the model, as text (docs/formats/model.md) or JSON; or where pointers point.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/dump_link.h"
#include "cli/dump_points_to.h"
#include "cli/input.h"
#include "cli/options.h"
#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "program/from_graphml.h"
#include "program/image.h"
#include "program/model.h"

struct dump {
    struct option_values functions, debug_directories;
    bool alone, no_cache, points_to, link;
    struct options options;
    struct model *model;
    bool complete;
};

// ---- JSON

static json_t *names_of(uint32_t flags, const char *(*name)(unsigned bit))
{
    json_t *array = json_array();

    for (unsigned bit = 0; bit < 32; bit++)
        if (flags >> bit & 1 && name(bit))
            json_push(array, json_text(name(bit)));
    return array;
}

static void set_position(json_t *object, const struct model *model, struct file_id file,
                         uint32_t line)
{
    json_set(object, "file", json_text(model_file_path(model, file)));
    json_set(object, "line", json_integer(line));
}

static json_t *functions_json(struct function_list list)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < list.count; i++)
        json_push(array, json_integer(list.data[i].value));
    return array;
}

static json_t *site_json(const struct model *model, struct site_id id)
{
    const struct model_site *site = model_site(model, id);
    json_t *object = json_object();

    json_set(object, "callee", json_text(site->callee));
    json_set(object, "flags", names_of(site->flags, site_flag_name));
    json_set(object, "callees", functions_json(model_callees(model, id)));
    json_set(object, "callbacks", json_integer(model->callees.callbacks_of_site[id.value]));
    return object;
}

static json_t *insns_json(const struct model *model, struct node_id id)
{
    const struct code *code = model_code(model, model_node(model, id)->function);
    json_t *array = json_array();

    if (!code)
        return array;
    const struct code_node *node = model_code_node(model, id);
    for (uint32_t i = node->first_insn; i < node->first_insn + node->insn_count; i++) {
        _cleanup_free_ char *text = insn_text(code, i);
        json_push(array, json_text(text));
    }
    return array;
}

static json_t *node_json(const struct model *model, struct node_id id, bool verbose)
{
    const struct model_node *node = model_node(model, id);
    struct node_list successors = model_successors(model, id);
    json_t *object = json_object(), *edges = json_array();

    json_set(object, "node", json_integer(model_node_index(model, id)));
    if (model->node_names)
        json_set(object, "name", json_text(model->node_names[id.value]));
    set_position(object, model, node->file, node->line);
    json_set(object, "column", json_integer(node->column));
    json_set(object, "flags", names_of(node->flags, node_flag_name));
    for (uint32_t i = 0; i < successors.count; i++)
        json_push(edges, json_integer(model_node_index(model, successors.data[i])));
    json_set(object, "successors", edges);
    if (node->site.value != MODEL_NONE)
        json_set(object, "call", site_json(model, node->site));
    if (verbose)
        json_set(object, "instructions", insns_json(model, id));
    return object;
}

static json_t *function_json(const struct model *model, uint32_t index, bool verbose)
{
    const struct model_function *function = &model->functions[index];
    json_t *object = json_object(), *nodes = json_array();

    json_set(object, "id", json_integer(index));
    json_set(object, "function", json_text(function->name));
    json_set(object, "source_name", json_text(function->source_name));
    json_set(object, "module", json_integer(function->module.value));
    set_position(object, model, function->file, function->line);
    json_set(object, "flags", names_of(function->flags, function_flag_name));
    for (uint32_t n = 0; n < function->node_count; n++)
        json_push(nodes, node_json(model, (struct node_id){function->first_node + n}, verbose));
    json_set(object, "nodes", nodes);
    return object;
}

static json_t *modules_json(const struct model *model)
{
    json_t *array = json_array();

    for (uint32_t m = 0; m < model->module_count; m++) {
        const struct model_module *module = &model->modules[m];
        json_t *object = json_object();
        json_set(object, "id", json_address(module->id));
        json_set(object, "image", json_text(model->images[module->image.value].path));
        json_set(object, "source", json_text(module->source));
        json_set(object, "level", json_integer(module->level));
        json_set(object, "functions", json_integer(module->function_count));
        json_set(object, "nodes", json_integer(module->node_count));
        json_set(object, "sites", json_integer(module->site_count));
        json_push(array, object);
    }
    return array;
}

static json_t *roots_json(const struct model *model)
{
    json_t *array = json_array();

    for (uint32_t r = 0; r < model->root_count; r++) {
        json_t *object = json_object();
        json_set(object, "id", json_integer(model->roots[r].function.value));
        json_set(object, "function",
                 json_text(model->functions[model->roots[r].function.value].name));
        json_set(object, "reason", json_text(root_reason_name(model->roots[r].reason)));
        json_push(array, object);
    }
    return array;
}

// Callbacks are long sets that many calls share: each is written once, and named by its number.
static json_t *sets_json(const struct model *model)
{
    json_t *array = json_array();

    for (uint32_t s = 0; s < model->callees.set_count; s++)
        json_push(array, functions_json(callee_table_set(&model->callees, s)));
    return array;
}

static struct error *write_json(const struct dump *dump, const bool *wanted)
{
    const struct model *model = dump->model;
    _cleanup_json_ json_t *document = json_document_create("dump/1", true);
    json_t *functions = json_array();

    json_set(document, "modules", modules_json(model));
    for (uint32_t f = 0; f < model->function_count; f++)
        if (wanted[f])
            json_push(functions, function_json(model, f, dump->options.verbose > 0));
    json_set(document, "functions", functions);
    json_set(document, "roots", roots_json(model));
    json_set(document, "sets", sets_json(model));
    return json_document_write(document, stdout);
}

// ---- Text

static struct error *write_text(const struct dump *dump, const bool *wanted)
{
    const struct model *model = dump->model;
    bool verbose = dump->options.verbose > 0;

    if (dump->functions.count == 0)
        model_write_text(model, (struct function_id){MODEL_NONE}, verbose, stdout);
    for (uint32_t f = 0; dump->functions.count && f < model->function_count; f++)
        if (wanted[f])
            model_write_text(model, (struct function_id){f}, verbose, stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        return error_create(ERROR_OTHER, "cannot write the output");
    return NULL;
}

// ---- The command

// The functions asked for by name; all of them where none is.
static struct error *choose(const struct dump *dump, bool *wanted)
{
    for (size_t i = 0; i < dump->functions.count; i++) {
        _cleanup_free_ struct function_id *found = NULL;
        uint32_t count = model_find_name(dump->model, dump->functions.data[i].text, &found);
        if (count == 0)
            return error_create(ERROR_NOT_FOUND, "no function '%s' in the program",
                                dump->functions.data[i].text);
        for (uint32_t f = 0; f < count; f++)
            wanted[found[f].value] = true;
    }
    for (uint32_t f = 0; dump->functions.count == 0 && f < dump->model->function_count; f++)
        wanted[f] = true;
    return NULL;
}

static bool is_text(const struct file_bytes *bytes)
{
    static const char head[] = "inquest-model ";

    return bytes->size >= sizeof(head) - 1 && memcmp(bytes->data, head, sizeof(head) - 1) == 0;
}

// An executable, a model as text, or GraphML.
static struct error *open_model(struct dump *dump, const char *path)
{
    _cleanup_file_bytes_ struct file_bytes bytes = FILE_BYTES_INIT;
    struct error *err = file_map(path, &bytes);

    if (err)
        return err;
    if (path_is_graphml(path))
        return model_from_graphml_bytes(path, bytes.data, bytes.size, &dump->model);
    if (is_text(&bytes))
        return model_read_text(path, (const char *)bytes.data, bytes.size, &dump->model);
    _cleanup_free_ const char **directories = option_values_texts(&dump->debug_directories);
    const struct model_options options = {.debug_directories = directories,
                                          .debug_directory_count = dump->debug_directories.count,
                                          .no_cache = dump->no_cache};
    err = model_open(path, &options, &dump->model);
    if (!err && !dump->alone)
        err = model_add_needed(dump->model);
    return err ? err : model_complete(dump->model);
}

static struct error *run_link(const struct dump *dump)
{
    _cleanup_free_ const char **directories = option_values_texts(&dump->debug_directories);
    struct image *image = NULL;
    struct error *err =
        image_open(dump->options.arguments[0], directories, dump->debug_directories.count, &image);

    if (!err)
        err = dump_link(image, dump->options.json);
    image_destroy(image);
    return err;
}

static struct error *run(struct dump *dump)
{
    struct budget budget;

    if (dump->link && (dump->points_to || dump->functions.count))
        return error_create(ERROR_USAGE,
                            "--link is of the whole program, and of nothing else of it");
    if (dump->link)
        return run_link(dump);
    if (dump->points_to && dump->functions.count)
        return error_create(ERROR_USAGE, "--points-to is of the whole program: it does not go with "
                                         "--function");
    options_budget(&dump->options, &budget);
    struct error *err = open_model(dump, dump->options.arguments[0]);
    if (err)
        return err;
    if (dump->points_to)
        return dump_points_to(dump->model, &budget, dump->options.json, &dump->complete);
    _cleanup_free_ bool *wanted = xcalloc(dump->model->function_count + (size_t)1, sizeof(bool));
    err = choose(dump, wanted);
    if (err)
        return err;
    return dump->options.json ? write_json(dump, wanted) : write_text(dump, wanted);
}

int cli_dump(int argc, char **argv)
{
    struct dump dump = {.complete = true};
    const struct option_spec specs[] = {
        {"function", 'f', "NAME", "only the functions of this name", OPTION_MANY, &dump.functions},
        {"alone", 0, NULL, "the executable without the libraries it needs", OPTION_FLAG,
         &dump.alone},
        {"points-to", 0, NULL, "instead of the model, where its pointers may point", OPTION_FLAG,
         &dump.points_to},
        {"link", 0, NULL, "instead of the model, how the program was linked", OPTION_FLAG,
         &dump.link},
        {"debug-dir", 0, "DIR", "look for separate debug files in DIR, too", OPTION_MANY,
         &dump.debug_directories},
        {"no-cache", 0, NULL, "read the model anew", OPTION_FLAG, &dump.no_cache},
        {0}};
    const struct command_help help = {
        .name = "dump",
        .usage = "EXE [-f NAME]",
        .about = "Prints the model of a program: functions, nodes with their lines, edges, call\n"
                 "sites with what they may call, and roots. EXE may also be a model as text, as\n"
                 "this command prints it, or GraphML. With -v instructions, too.",
        .example = "inquest dump ./prog -f main -v",
        .specs = specs,
        .least = 1,
        .most = 1};
    struct error *err = options_parse(&dump.options, &help, argc, argv);

    if (!err && !dump.options.help)
        err = run(&dump);
    model_destroy(dump.model);
    free(dump.functions.data);
    free(dump.debug_directories.data);
    if (err)
        return options_fail(&dump.options, err);
    options_deinit(&dump.options);
    return dump.complete ? CLI_FOUND : CLI_UNDECIDED;
}
