// SPDX-License-Identifier: Apache-2.0
#include "cli/dump_link.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/error.h"
#include "common/json.h"
#include "common/strbuf.h"
#include "program/image.h"

static json_t *id_json(uint64_t id)
{
    char text[17];

    snprintf(text, sizeof(text), "%016" PRIx64, id);
    return json_text(text);
}

static json_t *ids_json(const struct link_ids *ids)
{
    json_t *array = json_array();

    for (size_t i = 0; i < ids->length; i++)
        json_push(array, id_json(ids->data[i]));
    return array;
}

static void set_content(json_t *object, const struct link_content *content)
{
    char hash[SHA256_TEXT_SIZE];

    sha256_format(&content->hash, hash);
    json_set(object, "hash", json_text(content->has_hash ? hash : NULL));
    json_set(object, "size",
             content->has_hash ? json_integer((json_int_t)content->size) : json_null());
    json_set(object, "models", ids_json(&content->models));
    json_set(object, "records", ids_json(&content->records));
    json_set(object, "symbols", content->has_symbols ? id_json(content->symbols) : json_null());
}

static json_t *member_json(const struct link_member *member)
{
    json_t *object = json_object();

    json_set(object, "name", json_text(member->name));
    json_set(object, "number", json_integer(member->number));
    json_set(object, "kind", json_text(link_kind_name(member->kind)));
    json_set(object, "taken", json_text(link_taken_name(member->taken)));
    set_content(object, &member->content);
    return object;
}

static json_t *input_json(const struct link_input *input)
{
    json_t *object = json_object(), *undefined = json_array(), *members = json_array();

    json_set(object, "kind", json_text(link_kind_name(input->kind)));
    json_set(object, "origin", json_text(link_origin_name(input->origin)));
    json_set(object, "path", json_text(input->path));
    json_set(object, "resolved", json_text(input->resolved));
    json_set(object, "within",
             input->within == LINK_NONE ? json_null() : json_integer(input->within));
    json_set(object, "soname", json_text(input->soname));
    json_set(object, "build_id", json_text(input->build_id));
    set_content(object, &input->content);
    json_set(object, "modelless", json_boolean(input->modelless));
    json_set(object, "opaque", json_boolean(input->opaque));
    for (size_t i = 0; i < input->undefined.length; i++)
        json_push(undefined, json_text(input->undefined.data[i]));
    json_set(object, "undefined", undefined);
    for (size_t i = 0; i < input->members.length; i++)
        json_push(members, member_json(&input->members.data[i]));
    json_set(object, "members", members);
    return object;
}

static json_t *argument_json(const struct link_argument *argument)
{
    json_t *object = json_object();
    bool none = argument->input == LINK_NONE;

    json_set(object, "text", json_text(argument->text));
    json_set(object, "input", none ? json_null() : json_integer(argument->input));
    json_set(object, "before", json_text(none ? NULL : argument->before));
    return object;
}

static json_t *linker_json(const struct link_record *record)
{
    json_t *object = json_object();

    json_set(object, "path", json_text(record->linker));
    json_set(object, "build_id",
             json_text(*record->linker_build_id ? record->linker_build_id : NULL));
    json_set(object, "version", json_text(*record->linker_version ? record->linker_version : NULL));
    return object;
}

static json_t *link_json(const struct image_link *link)
{
    const struct link_record *record = &link->record;
    json_t *object = json_object(), *environment = json_object(), *inputs = json_array(),
           *arguments = json_array();

    json_set(object, "id", id_json(link->id));
    json_set(object, "relocatable", json_boolean(record->relocatable));
    json_set(object, "output", json_text(record->output));
    json_set(object, "directory", json_text(record->directory));
    json_set(object, "command", json_text(record->command));
    json_set(object, "compiler", json_text(record->compiler));
    json_set(object, "linker", linker_json(record));
    for (size_t i = 0; i < record->environment.length; i++)
        json_set(environment, record->environment.data[i].name,
                 json_text(record->environment.data[i].value));
    json_set(object, "environment", environment);
    for (size_t i = 0; i < record->inputs.length; i++)
        json_push(inputs, input_json(&record->inputs.data[i]));
    json_set(object, "inputs", inputs);
    for (size_t i = 0; i < record->arguments.length; i++)
        json_push(arguments, argument_json(&record->arguments.data[i]));
    json_set(object, "arguments", arguments);
    return object;
}

static struct error *write_json(const struct image *image)
{
    _cleanup_json_ json_t *document = json_document_create("link/1", true);
    json_t *links = json_array();

    for (uint32_t l = 0; l < image->link_count; l++)
        json_push(links, link_json(&image->links[l]));
    json_set(document, "links", links);
    return json_document_write(document, stdout);
}

static struct error *write_text(const struct image *image)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

    for (uint32_t l = 0; l < image->link_count; l++) {
        if (l)
            strbuf_append_char(&text, '\n');
        link_record_write(&image->links[l].record, &text);
    }
    if (fputs(text.data, stdout) < 0 || fflush(stdout) != 0)
        return error_create(ERROR_OTHER, "cannot write the output");
    return NULL;
}

struct error *dump_link(const struct image *image, bool json)
{
    if (!image_final_link(image))
        return error_create_file(ERROR_NOT_FOUND, image->path,
                                 "no record of the link: was it linked with inquest-cc?");
    return json ? write_json(image) : write_text(image);
}
