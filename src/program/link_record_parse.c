// SPDX-License-Identifier: Apache-2.0
/*
 * Records of links, read. The bytes may be anyone's: every line is checked by itself and against
 * those before it. Then the whole is written again and has to be the same, so that order, what may
 * occur once and how values are escaped need no rules of their own here.
 */
#include <string.h>

#include "common/error.h"
#include "common/strbuf.h"
#include "program/link_record.h"

#define FIELDS_MAX 5

struct parser {
    const char *path;
    uint64_t offset; // of the payload
    const char *start, *at, *end;
    const char *line; // the one being read
    struct link_record *record;
    const char *fields[FIELDS_MAX]; // keyword and values, unescaped, in the record's arena
    size_t count;
    struct link_input *input;     // the one that lines are about; NULL before the first
    struct link_content *content; // of it, or of its last member
};

static struct error *fail(const struct parser *parser, const char *what)
{
    return error_create_at_offset(ERROR_FORMAT, parser->path,
                                  parser->offset + (uint64_t)(parser->line - parser->start),
                                  "damaged record of the link: %s", what);
}

// ---- Fields

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The character that an escape at `text` stands for, and how long that is; 0: it is none.
static size_t unescape(const char *text, size_t length, char *ret)
{
    int high = length >= 4 ? hex_digit(text[2]) : -1;
    int low = length >= 4 ? hex_digit(text[3]) : -1;

    if (length >= 2 && (text[1] == 'n' || text[1] == 't' || text[1] == '\\')) {
        *ret = text[1] == 'n' ? '\n' : text[1] == 't' ? '\t' : '\\';
        return 2;
    }
    if (length < 4 || text[1] != 'x' || high < 0 || low < 0 || high + low == 0)
        return 0;
    *ret = (char)(high << 4 | low);
    return 4;
}

static const char *parse_field(struct parser *parser, const char *text, size_t length)
{
    char *value = arena_alloc(&parser->record->arena, length + 1), *out = value;

    for (size_t at = 0, step; at < length; at += step) {
        step = 1;
        if (text[at] == '\\')
            step = unescape(text + at, length - at, out);
        else
            *out = text[at];
        if (step == 0 || (unsigned char)text[at] < 0x20)
            return NULL;
        out++;
    }
    return value;
}

static struct error *parse_fields(struct parser *parser)
{
    const char *at = parser->line;
    const char *end = memchr(at, '\n', (size_t)(parser->end - at));

    if (!end)
        return fail(parser, "its last line does not end");
    parser->at = end + 1;
    for (parser->count = 0;; at++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        const char *stop = tab ? tab : end;
        if (parser->count == FIELDS_MAX)
            return fail(parser, "too many values");
        const char *field = parse_field(parser, at, (size_t)(stop - at));
        if (!field)
            return fail(parser, "a character that has to be escaped");
        parser->fields[parser->count++] = field;
        at = stop;
        if (!tab)
            return NULL;
    }
}

// Decimal, without sign and leading zeros.
static bool parse_number(const char *text, uint64_t most, uint64_t *ret)
{
    uint64_t value = 0;

    if (!*text || (text[0] == '0' && text[1]))
        return false;
    for (; *text; text++) {
        unsigned digit = (unsigned)(*text - '0');
        if (digit > 9 || value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret = value;
    return true;
}

// 16 hexadecimal digits.
static bool parse_id(const char *text, uint64_t *ret)
{
    uint64_t value = 0;

    for (int i = 0; i < 16; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0)
            return false;
        value = value << 4 | (unsigned)digit;
    }
    *ret = value;
    return !text[16];
}

// Bytes in hexadecimal, as many as there are: --build-id=0x... may give any number.
static bool is_hex(const char *text)
{
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i++)
        if (hex_digit(text[i]) < 0)
            return false;
    return length % 2 == 0;
}

// ---- Lines

// Of another version no other line is looked at.
static struct error *parse_version(struct parser *parser)
{
    uint64_t version;

    if (!parse_number(parser->fields[1], UINT32_MAX, &version))
        return fail(parser, "no version");
    if (version != LINK_RECORD_VERSION)
        return error_create_at_offset(
            ERROR_MISMATCH, parser->path, parser->offset,
            "record of the link of version %u; this inquest reads version %u: build the program "
            "again with the inquest-cc that belongs to it",
            (unsigned)version, LINK_RECORD_VERSION);
    return NULL;
}

static struct error *parse_linker(struct parser *parser)
{
    if (!is_hex(parser->fields[2]))
        return fail(parser, "not a build-id");
    parser->record->linker = parser->fields[1];
    parser->record->linker_build_id = parser->fields[2];
    parser->record->linker_version = parser->fields[3];
    return NULL;
}

static struct error *parse_environment(struct parser *parser)
{
    link_variables_push(&parser->record->environment,
                        (struct link_variable){parser->fields[1], parser->fields[2]});
    return NULL;
}

static struct error *parse_output(struct parser *parser)
{
    parser->record->relocatable = strcmp(parser->fields[1], "relocatable") == 0;
    parser->record->output = parser->fields[2];
    return NULL;
}

// LINK_KIND_COUNT: there is none of this name.
static unsigned parse_kind(const char *name)
{
    unsigned kind = 0;

    while (kind < LINK_KIND_COUNT && strcmp(link_kind_name(kind), name) != 0)
        kind++;
    return kind;
}

static struct error *parse_input(struct parser *parser)
{
    unsigned kind = parse_kind(parser->fields[1]), origin = 0;

    while (origin < LINK_ORIGIN_COUNT && strcmp(link_origin_name(origin), parser->fields[2]) != 0)
        origin++;
    if (kind == LINK_KIND_COUNT || origin == LINK_ORIGIN_COUNT)
        return fail(parser, "an input of a kind that there is not");
    if (parser->record->inputs.length == LINK_NONE)
        return fail(parser, "too many inputs");
    parser->input = link_record_add_input(parser->record, (enum link_kind)kind,
                                          (enum link_origin)origin, parser->fields[3]);
    parser->content = &parser->input->content;
    return NULL;
}

static struct error *parse_within(struct parser *parser)
{
    uint64_t number;

    if (!parse_number(parser->fields[1], UINT32_MAX, &number) ||
        number + 1 >= parser->record->inputs.length)
        return fail(parser, "an input that does not stand before");
    parser->input->within = (uint32_t)number;
    return NULL;
}

static struct error *parse_build_id(struct parser *parser)
{
    if (!*parser->fields[1] || !is_hex(parser->fields[1]))
        return fail(parser, "not a build-id");
    parser->input->build_id = parser->fields[1];
    return NULL;
}

static struct error *parse_hash(struct parser *parser)
{
    if (!sha256_parse(parser->fields[1], &parser->content->hash) ||
        !parse_number(parser->fields[2], UINT64_MAX, &parser->content->size))
        return fail(parser, "not a hash and a size");
    parser->content->has_hash = true;
    return NULL;
}

static struct error *parse_id_into(struct parser *parser, struct link_ids *ids)
{
    uint64_t id;

    if (!parse_id(parser->fields[1], &id))
        return fail(parser, "not an id");
    link_ids_push(ids, id);
    return NULL;
}

static struct error *parse_model(struct parser *parser)
{
    return parse_id_into(parser, &parser->content->models);
}

static struct error *parse_record(struct parser *parser)
{
    return parse_id_into(parser, &parser->content->records);
}

static struct error *parse_symbols(struct parser *parser)
{
    if (!parse_id(parser->fields[1], &parser->content->symbols))
        return fail(parser, "not a hash of symbols");
    parser->content->has_symbols = true;
    return NULL;
}

static struct error *parse_modelless(struct parser *parser)
{
    parser->input->modelless = true;
    return NULL;
}

static struct error *parse_opaque(struct parser *parser)
{
    parser->input->opaque = true;
    return NULL;
}

static struct error *parse_undefined(struct parser *parser)
{
    link_names_push(&parser->input->undefined, parser->fields[1]);
    return NULL;
}

static struct error *parse_member(struct parser *parser)
{
    static const char marks[] = "?+-"; // enum link_taken
    const struct link_members *members = &parser->input->members;
    const char *text = parser->fields[2];
    const char *mark = text[0] && !text[1] ? strchr(marks, text[0]) : NULL;
    uint64_t number;

    unsigned kind = parse_kind(parser->fields[3]);
    if (!link_is_archive(parser->input) || !mark || (kind != LINK_OBJECT && kind != LINK_BITCODE) ||
        !parse_number(parser->fields[1], UINT32_MAX, &number) ||
        (members->length && link_members_last(members)->number >= number))
        return fail(parser, "not a member of an archive");
    struct link_member *member =
        link_input_add_member(parser->input, (uint32_t)number, kind, parser->fields[4]);
    member->taken = (enum link_taken)(mark - marks);
    parser->content = &member->content;
    return NULL;
}

static struct error *parse_argument(struct parser *parser)
{
    struct link_argument argument = {parser->fields[1], LINK_NONE, ""};
    uint64_t number;

    if (parser->count > 2) {
        if (parser->count != 4 || !parse_number(parser->fields[2], UINT32_MAX, &number) ||
            number >= parser->record->inputs.length)
            return fail(parser, "an argument that names no input");
        argument.input = (uint32_t)number;
        argument.before = parser->fields[3];
    }
    link_arguments_vec_push(&parser->record->arguments, argument);
    return NULL;
}

static struct error *parse_text(struct parser *parser)
{
    const struct {
        const char *keyword;
        const char **text;
    } texts[] = {
        {"directory", &parser->record->directory},
        {"command", &parser->record->command},
        {"compiler", &parser->record->compiler},
        {"resolved", parser->input ? &parser->input->resolved : NULL},
        {"soname", parser->input ? &parser->input->soname : NULL},
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (strcmp(parser->fields[0], texts[i].keyword) == 0)
            *texts[i].text = parser->fields[1];
    return NULL;
}

static const struct {
    const char *keyword;
    size_t least, most; // values
    bool of_input;
    struct error *(*parse)(struct parser *parser);
} lines[] = {
    {"link", 1, 1, false, parse_version},       {"directory", 1, 1, false, parse_text},
    {"command", 1, 1, false, parse_text},       {"compiler", 1, 1, false, parse_text},
    {"linker", 3, 3, false, parse_linker},      {"environment", 2, 2, false, parse_environment},
    {"output", 2, 2, false, parse_output},      {"input", 3, 3, false, parse_input},
    {"resolved", 1, 1, true, parse_text},       {"within", 1, 1, true, parse_within},
    {"soname", 1, 1, true, parse_text},         {"build-id", 1, 1, true, parse_build_id},
    {"hash", 2, 2, true, parse_hash},           {"model", 1, 1, true, parse_model},
    {"record", 1, 1, true, parse_record},       {"symbols", 1, 1, true, parse_symbols},
    {"modelless", 0, 0, true, parse_modelless}, {"opaque", 0, 0, true, parse_opaque},
    {"undefined", 1, 1, true, parse_undefined}, {"member", 4, 4, true, parse_member},
    {"argument", 1, 3, false, parse_argument},
};

static struct error *parse_line(struct parser *parser)
{
    parser->line = parser->at;
    struct error *err = parse_fields(parser);
    if (err)
        return err;
    // of an older record, or something else, nothing is known
    if (parser->line == parser->start && strcmp(parser->fields[0], lines[0].keyword) != 0)
        return fail(parser, "it does not say its version");
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        if (strcmp(parser->fields[0], lines[i].keyword) != 0)
            continue;
        if (parser->count < 1 + lines[i].least || parser->count > 1 + lines[i].most)
            return fail(parser, "too few values or too many");
        if (lines[i].of_input && !parser->input)
            return fail(parser, "no input stands before");
        return lines[i].parse(parser);
    }
    return fail(parser, "a line that there is not");
}

static struct error *check_same(const struct parser *parser)
{
    _cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

    link_record_write(parser->record, &text);
    if (text.length == (size_t)(parser->end - parser->start) &&
        memcmp(text.data, parser->start, text.length) == 0)
        return NULL;
    return error_create_at_offset(ERROR_FORMAT, parser->path, parser->offset,
                                  "damaged record of the link: lines out of order, or twice");
}

struct error *link_record_parse(const char *path, uint64_t offset, const void *payload,
                                size_t length, struct link_record *ret)
{
    struct link_record record;
    struct parser parser = {.path = path,
                            .offset = offset,
                            .start = payload,
                            .at = payload,
                            .line = payload,
                            .end = (const char *)payload + length,
                            .record = &record};

    link_record_init(&record);
    struct error *err = length == 0 ? fail(&parser, "it is empty") : NULL;
    while (!err && parser.at < parser.end)
        err = parse_line(&parser);
    if (!err)
        err = check_same(&parser);
    if (err) {
        link_record_deinit(&record);
        return err;
    }
    *ret = record;
    return NULL;
}
