// SPDX-License-Identifier: Apache-2.0
// Records of links: made and written. link_record_parse.c reads them.
#include "program/link_record.h"

#include <inttypes.h>

#include "common/strbuf.h"

void link_record_init(struct link_record *record)
{
    *record = (struct link_record){.directory = "",
                                   .command = "",
                                   .compiler = "",
                                   .linker = "",
                                   .linker_build_id = "",
                                   .linker_version = "",
                                   .output = ""};
    arena_init(&record->arena);
}

static void content_deinit(struct link_content *content)
{
    link_ids_deinit(&content->models);
    link_ids_deinit(&content->records);
}

static void input_deinit(struct link_input *input)
{
    content_deinit(&input->content);
    for (size_t i = 0; i < input->members.length; i++)
        content_deinit(&input->members.data[i].content);
    link_members_deinit(&input->members);
    link_names_deinit(&input->undefined);
}

void link_record_deinit(struct link_record *record)
{
    for (size_t i = 0; i < record->inputs.length; i++)
        input_deinit(&record->inputs.data[i]);
    link_inputs_vec_deinit(&record->inputs);
    link_arguments_vec_deinit(&record->arguments);
    link_variables_deinit(&record->environment);
    arena_deinit(&record->arena);
}

struct link_input *link_record_add_input(struct link_record *record, enum link_kind kind,
                                         enum link_origin origin, const char *path)
{
    link_inputs_vec_push(
        &record->inputs,
        (struct link_input){.kind = kind, .origin = origin, .path = path, .within = LINK_NONE});
    return link_inputs_vec_last(&record->inputs);
}

struct link_member *link_input_add_member(struct link_input *input, uint32_t number,
                                          enum link_kind kind, const char *name)
{
    link_members_push(&input->members,
                      (struct link_member){.kind = kind, .name = name, .number = number});
    return link_members_last(&input->members);
}

// ---- Names

const char *link_kind_name(enum link_kind kind)
{
    static const char *const names[LINK_KIND_COUNT] = {
        [LINK_OBJECT] = "object",       [LINK_BITCODE] = "bitcode", [LINK_ARCHIVE] = "archive",
        [LINK_SHARED] = "shared",       [LINK_SCRIPT] = "script",   [LINK_DATA] = "data",
        [LINK_PLUGIN] = "plugin",       [LINK_SOURCE] = "source",   [LINK_UNREAD] = "unread",
        [LINK_ASSEMBLER] = "assembler", [LINK_THIN] = "thin",
    };

    return names[kind];
}

const char *link_origin_name(enum link_origin origin)
{
    return origin == LINK_USER ? "user" : "toolchain";
}

const char *link_taken_name(enum link_taken taken)
{
    return taken == LINK_TAKEN_YES ? "yes" : taken == LINK_TAKEN_NO ? "no" : "unknown";
}

// ---- Lines

// Keyword and values, NULL-terminated; no value can end its field or its line.
static void write_line(struct strbuf *out, const char *keyword, ...)
{
    va_list values;

    strbuf_append(out, keyword);
    va_start(values, keyword);
    for (const char *value; (value = va_arg(values, const char *));) {
        strbuf_append_char(out, '\t');
        strbuf_append_escaped(out, value);
    }
    va_end(values);
    strbuf_append_char(out, '\n');
}

static void write_ids(struct strbuf *out, const char *keyword, const struct link_ids *ids)
{
    for (size_t i = 0; i < ids->length; i++)
        strbuf_printf(out, "%s\t%016" PRIx64 "\n", keyword, ids->data[i]);
}

static void write_content(struct strbuf *out, const struct link_content *content)
{
    char hash[SHA256_TEXT_SIZE];

    if (content->has_hash) {
        sha256_format(&content->hash, hash);
        strbuf_printf(out, "hash\t%s\t%" PRIu64 "\n", hash, content->size);
    }
    write_ids(out, "model", &content->models);
    write_ids(out, "record", &content->records);
    if (content->has_symbols)
        strbuf_printf(out, "symbols\t%016" PRIx64 "\n", content->symbols);
}

static void write_member(struct strbuf *out, const struct link_member *member)
{
    // one width for every answer: it is put in when the link is done (instrument/driver/taken.h)
    static const char marks[] = {
        [LINK_TAKEN_UNKNOWN] = '?', [LINK_TAKEN_YES] = '+', [LINK_TAKEN_NO] = '-'};

    strbuf_printf(out, "member\t%" PRIu32 "\t%c\t%s\t", member->number, marks[member->taken],
                  link_kind_name(member->kind));
    strbuf_append_escaped(out, member->name);
    strbuf_append_char(out, '\n');
    write_content(out, &member->content);
}

static void write_input(struct strbuf *out, const struct link_input *input)
{
    write_line(out, "input", link_kind_name(input->kind), link_origin_name(input->origin),
               input->path, NULL);
    if (input->resolved)
        write_line(out, "resolved", input->resolved, NULL);
    if (input->within != LINK_NONE)
        strbuf_printf(out, "within\t%" PRIu32 "\n", input->within);
    if (input->soname)
        write_line(out, "soname", input->soname, NULL);
    if (input->build_id)
        write_line(out, "build-id", input->build_id, NULL);
    write_content(out, &input->content);
    if (input->modelless)
        write_line(out, "modelless", NULL);
    if (input->opaque)
        write_line(out, "opaque", NULL);
    for (size_t i = 0; i < input->undefined.length; i++)
        write_line(out, "undefined", input->undefined.data[i], NULL);
    for (size_t i = 0; i < input->members.length; i++)
        write_member(out, &input->members.data[i]);
}

static void write_argument(struct strbuf *out, const struct link_argument *argument)
{
    char number[16];

    if (argument->input == LINK_NONE) {
        write_line(out, "argument", argument->text, NULL);
        return;
    }
    snprintf(number, sizeof(number), "%" PRIu32, argument->input);
    write_line(out, "argument", argument->text, number, argument->before, NULL);
}

void link_record_write(const struct link_record *record, struct strbuf *ret)
{
    strbuf_printf(ret, "link\t%u\n", LINK_RECORD_VERSION);
    write_line(ret, "directory", record->directory, NULL);
    write_line(ret, "command", record->command, NULL);
    write_line(ret, "compiler", record->compiler, NULL);
    write_line(ret, "linker", record->linker, record->linker_build_id, record->linker_version,
               NULL);
    for (size_t i = 0; i < record->environment.length; i++)
        write_line(ret, "environment", record->environment.data[i].name,
                   record->environment.data[i].value, NULL);
    write_line(ret, "output", record->relocatable ? "relocatable" : "final", record->output, NULL);
    for (size_t i = 0; i < record->inputs.length; i++)
        write_input(ret, &record->inputs.data[i]);
    for (size_t i = 0; i < record->arguments.length; i++)
        write_argument(ret, &record->arguments.data[i]);
}
