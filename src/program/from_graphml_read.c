// SPDX-License-Identifier: Apache-2.0
/*
 * GraphML through expat, gzip through zlib. What a node or an edge is stands in <data> elements;
 * <key> elements declare them, with defaults that are then not written out. Keys, graphs, nodes,
 * edges and their data are read, other elements are skipped with all that is in them. The text
 * comes from anywhere: entities are refused (they blow up), and nothing is taken for something
 * else in silence.
 */
#include "program/from_graphml_read.h"

#include <expat.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "common/cleanup.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strbuf.h"

#define NAMESPACE "http://graphml.graphdrawing.org/xmlns"
// At once to expat, which takes an int; and out of zlib.
#define PIECE ((size_t)1 << 16)
// Keys are searched one by one.
#define KEYS_MAX 256

enum field {
    FIELD_KIND,
    FIELD_PROCEDURE,
    FIELD_FILE,
    FIELD_LINES,
    FIELD_CALL_NAME,
    FIELD_TYPE,
    FIELD_SCOPE,
    FIELD_COUNT, // any other
};

static const char *const field_names[FIELD_COUNT] = {
    [FIELD_KIND] = "kind",   [FIELD_PROCEDURE] = "procedure", [FIELD_FILE] = "file",
    [FIELD_LINES] = "lines", [FIELD_CALL_NAME] = "call-name", [FIELD_TYPE] = "type",
    [FIELD_SCOPE] = "scope"};

// Where the reader stands: the innermost element that it knows.
enum element {
    ELEMENT_NONE,
    ELEMENT_GRAPHML,
    ELEMENT_KEY,
    ELEMENT_DEFAULT,
    ELEMENT_GRAPH,
    ELEMENT_GRAPH_DATA,
    ELEMENT_NODE,
    ELEMENT_NODE_DATA,
    ELEMENT_EDGE,
    ELEMENT_EDGE_DATA,
};

static const struct {
    enum element in;
    const char *name;
    enum element is;
} elements[] = {
    {ELEMENT_NONE, "graphml", ELEMENT_GRAPHML},  {ELEMENT_GRAPHML, "key", ELEMENT_KEY},
    {ELEMENT_GRAPHML, "graph", ELEMENT_GRAPH},   {ELEMENT_KEY, "default", ELEMENT_DEFAULT},
    {ELEMENT_GRAPH, "node", ELEMENT_NODE},       {ELEMENT_GRAPH, "edge", ELEMENT_EDGE},
    {ELEMENT_GRAPH, "data", ELEMENT_GRAPH_DATA}, {ELEMENT_NODE, "data", ELEMENT_NODE_DATA},
    {ELEMENT_EDGE, "data", ELEMENT_EDGE_DATA},
};

struct key {
    const char *id;
    enum field field;
    bool of_nodes, of_edges;
    const char *otherwise; // NULL: no default
};

VEC_DEFINE(key_vec, struct key);

struct reader {
    const char *name;
    XML_Parser parser;
    struct error *err; // of a handler
    struct graphml *graph;
    struct key_vec keys;
    enum element at;
    uint64_t skipped; // depth within an element that is not known
    const struct key *key;
    bool given[FIELD_COUNT]; // of this node or edge
    const char *fields[FIELD_COUNT];
    struct strbuf text;
};

// Keeps the first error; expat then stops.
__attribute__((__format__(__printf__, 2, 3))) static void fail(struct reader *reader,
                                                               const char *format, ...)
{
    if (reader->err)
        return;
    va_list arguments;
    va_start(arguments, format);
    _cleanup_free_ char *text = xvasprintf(format, arguments);
    va_end(arguments);
    reader->err =
        error_create_at_line(ERROR_FORMAT, reader->name, XML_GetCurrentLineNumber(reader->parser),
                             "bad GraphML: %s", text);
    XML_StopParser(reader->parser, XML_FALSE);
}

// ---- Attributes and texts

static const char *attribute(const XML_Char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

// A copy of an attribute that has to be there and not empty.
static const char *required(struct reader *reader, const XML_Char **attributes, const char *element,
                            const char *name)
{
    const char *value = attribute(attributes, name);

    if (!value || !*value)
        fail(reader, "<%s> has no attribute '%s'", element, name);
    return arena_strdup(&reader->graph->arena, value ? value : "");
}

// The text collected, without spaces around it; NULL where nothing is left.
static const char *take_text(struct reader *reader)
{
    static const char spaces[] = " \t\r\n";
    const char *start = reader->text.data + strspn(reader->text.data, spaces);
    size_t length = strlen(start);

    while (length && strchr(spaces, start[length - 1]))
        length--;
    const char *text = length ? arena_strndup(&reader->graph->arena, start, length) : NULL;
    strbuf_clear(&reader->text);
    return text;
}

// The first number of "(12)" or "( 0 )"; 0 where there is none.
static uint32_t first_number(const char *lines)
{
    uint64_t number = 0;

    if (!lines)
        return 0;
    for (lines += strcspn(lines, "0123456789"); *lines >= '0' && *lines <= '9'; lines++) {
        number = number * 10 + (uint64_t)(*lines - '0');
        if (number >= UINT32_MAX)
            return 0;
    }
    return (uint32_t)number;
}

static bool is(const char *value, const char *word)
{
    return value && strcmp(value, word) == 0;
}

// ---- Keys

static const struct key *find_key(const struct reader *reader, const char *id)
{
    for (size_t i = 0; id && i < reader->keys.length; i++)
        if (strcmp(reader->keys.data[i].id, id) == 0)
            return &reader->keys.data[i];
    return NULL;
}

static void start_key(struct reader *reader, const XML_Char **attributes)
{
    const char *id = required(reader, attributes, "key", "id");
    const char *of = attribute(attributes, "for"), *name = attribute(attributes, "attr.name");
    struct key key = {.id = id};

    if (find_key(reader, id))
        fail(reader, "the key '%s' is declared twice", id);
    if (reader->graph->nodes.length || reader->graph->edges.length)
        fail(reader, "the key '%s' is declared behind a graph", id);
    if (reader->keys.length == KEYS_MAX)
        fail(reader, "more than %d keys", KEYS_MAX);
    while (key.field < FIELD_COUNT && !is(name, field_names[key.field]))
        key.field++;
    key.of_nodes = !of || is(of, "node") || is(of, "all");
    key.of_edges = !of || is(of, "edge") || is(of, "all");
    key_vec_push(&reader->keys, key);
}

static void end_default(struct reader *reader)
{
    key_vec_last(&reader->keys)->otherwise = take_text(reader);
}

static void start_fields(struct reader *reader, bool of_nodes)
{
    memset(reader->given, 0, sizeof(reader->given));
    memset(reader->fields, 0, sizeof(reader->fields));
    for (size_t i = 0; i < reader->keys.length; i++) {
        const struct key *key = &reader->keys.data[i];
        if (key->field < FIELD_COUNT && (of_nodes ? key->of_nodes : key->of_edges))
            reader->fields[key->field] = key->otherwise;
    }
}

static void start_data(struct reader *reader, const XML_Char **attributes)
{
    const char *id = attribute(attributes, "key");

    reader->key = find_key(reader, id);
    if (!reader->key)
        fail(reader, "<data> of a key '%s' that is not declared", id ? id : "");
}

static void end_data(struct reader *reader)
{
    const struct key *key = reader->key;

    if (key->field == FIELD_COUNT) {
        strbuf_clear(&reader->text);
        return;
    }
    if (reader->given[key->field])
        fail(reader, "'%s' is given twice", field_names[key->field]);
    reader->given[key->field] = true;
    reader->fields[key->field] = take_text(reader);
}

// ---- Graphs, nodes, edges

static void start_graph(struct reader *reader, const XML_Char **attributes)
{
    if (is(attribute(attributes, "edgedefault"), "undirected"))
        fail(reader, "the graph is not directed");
}

static void start_node(struct reader *reader, const XML_Char **attributes)
{
    struct graphml_node node = {.id = required(reader, attributes, "node", "id"),
                                .line = XML_GetCurrentLineNumber(reader->parser)};

    if (reader->graph->nodes.length >= UINT32_MAX - 2)
        fail(reader, "more than 2^32 nodes");
    graphml_nodes_push(&reader->graph->nodes, node);
    start_fields(reader, true);
}

static enum graphml_kind kind_of(const char *kind)
{
    if (is(kind, "entry"))
        return GRAPHML_ENTRY;
    if (is(kind, "exit"))
        return GRAPHML_EXIT;
    return is(kind, "call-site") ? GRAPHML_CALL_SITE : GRAPHML_PLAIN;
}

static void end_node(struct reader *reader)
{
    struct graphml_node *node = graphml_nodes_last(&reader->graph->nodes);

    node->kind = kind_of(reader->fields[FIELD_KIND]);
    node->procedure = reader->fields[FIELD_PROCEDURE];
    node->file = reader->fields[FIELD_FILE];
    node->call_name = reader->fields[FIELD_CALL_NAME];
    node->source_line = first_number(reader->fields[FIELD_LINES]);
}

static void start_edge(struct reader *reader, const XML_Char **attributes)
{
    struct graphml_edge edge = {.source = required(reader, attributes, "edge", "source"),
                                .target = required(reader, attributes, "edge", "target"),
                                .line = XML_GetCurrentLineNumber(reader->parser)};

    if (is(attribute(attributes, "directed"), "false"))
        fail(reader, "the edge is not directed");
    if (reader->graph->edges.length >= UINT32_MAX - 2)
        fail(reader, "more than 2^32 edges");
    graphml_edges_push(&reader->graph->edges, edge);
    start_fields(reader, false);
}

static enum graphml_type type_of(struct reader *reader)
{
    const char *type = reader->fields[FIELD_TYPE], *scope = reader->fields[FIELD_SCOPE];
    bool between = is(scope, "interprocedural");

    if (scope && !between && !is(scope, "intraprocedural"))
        fail(reader, "no scope '%s'", scope);
    if (!type || is(type, "flow")) {
        if (between)
            fail(reader, "an interprocedural flow edge");
        return GRAPHML_FLOW;
    }
    return is(type, "control") && between ? GRAPHML_CALL : GRAPHML_IGNORED;
}

static void end_edge(struct reader *reader)
{
    struct graphml_edge *edge = graphml_edges_last(&reader->graph->edges);

    edge->type = type_of(reader);
    if (edge->type == GRAPHML_IGNORED)
        graphml_edges_pop(&reader->graph->edges);
}

// ---- Elements

// Its name where it is of GraphML (or of no namespace at all), else "".
static const char *local_name(const char *name)
{
    const char *bar = strrchr(name, '|');

    if (!bar)
        return name;
    size_t length = (size_t)(bar - name);
    return length == strlen(NAMESPACE) && memcmp(name, NAMESPACE, length) == 0 ? bar + 1 : "";
}

// Elements that may not be skipped: what they say would be lost.
static void refuse_unknown(struct reader *reader, const char *name)
{
    if (reader->at == ELEMENT_NONE)
        fail(reader, "the document is no <graphml>");
    else if (reader->at == ELEMENT_NODE && strcmp(name, "graph") == 0)
        fail(reader, "a graph within a node");
    else if (strcmp(name, "hyperedge") == 0)
        fail(reader, "a <hyperedge>");
    else if (reader->at == ELEMENT_DEFAULT || reader->at == ELEMENT_GRAPH_DATA ||
             reader->at == ELEMENT_NODE_DATA || reader->at == ELEMENT_EDGE_DATA)
        fail(reader, "an element within data");
}

static void XMLCALL start_element(void *user, const XML_Char *name, const XML_Char **attributes)
{
    struct reader *reader = user;
    const char *local = local_name(name);
    size_t i = 0, count = sizeof(elements) / sizeof(*elements);

    while (i < count && (elements[i].in != reader->at || strcmp(elements[i].name, local) != 0))
        i++;
    if (reader->err)
        return;
    if (reader->skipped || i == count) {
        if (!reader->skipped)
            refuse_unknown(reader, local);
        reader->skipped++;
        return;
    }
    reader->at = elements[i].is;
    if (reader->at == ELEMENT_KEY)
        start_key(reader, attributes);
    else if (reader->at == ELEMENT_GRAPH)
        start_graph(reader, attributes);
    else if (reader->at == ELEMENT_NODE)
        start_node(reader, attributes);
    else if (reader->at == ELEMENT_EDGE)
        start_edge(reader, attributes);
    else if (reader->at == ELEMENT_NODE_DATA || reader->at == ELEMENT_EDGE_DATA)
        start_data(reader, attributes);
}

static void XMLCALL end_element(void *user, const XML_Char *name)
{
    struct reader *reader = user;

    (void)name;
    if (reader->err)
        return;
    if (reader->skipped) {
        reader->skipped--;
        return;
    }
    if (reader->at == ELEMENT_DEFAULT)
        end_default(reader);
    else if (reader->at == ELEMENT_NODE)
        end_node(reader);
    else if (reader->at == ELEMENT_EDGE)
        end_edge(reader);
    else if (reader->at == ELEMENT_NODE_DATA || reader->at == ELEMENT_EDGE_DATA)
        end_data(reader);
    for (size_t i = 0; i < sizeof(elements) / sizeof(*elements); i++)
        if (elements[i].is == reader->at) {
            reader->at = elements[i].in;
            return;
        }
}

static void XMLCALL add_text(void *user, const XML_Char *text, int length)
{
    struct reader *reader = user;

    if (!reader->err && !reader->skipped &&
        (reader->at == ELEMENT_DEFAULT || reader->at == ELEMENT_NODE_DATA ||
         reader->at == ELEMENT_EDGE_DATA))
        strbuf_append_bytes(&reader->text, text, (size_t)length);
}

static void XMLCALL refuse_entity(void *user, const XML_Char *name, int is_parameter,
                                  const XML_Char *value, int length, const XML_Char *base,
                                  const XML_Char *system_id, const XML_Char *public_id,
                                  const XML_Char *notation)
{
    (void)is_parameter, (void)value, (void)length, (void)base;
    (void)system_id, (void)public_id, (void)notation;
    fail(user, "it declares an entity, '%s'", name);
}

// ---- Bytes

static struct error *parse_piece(struct reader *reader, const void *data, size_t size, bool is_last)
{
    reader->graph->hash = hash_bytes(reader->graph->hash, data, size);
    if (XML_Parse(reader->parser, data, (int)size, is_last) == XML_STATUS_OK)
        return NULL;
    if (reader->err)
        return no_cleanup_ptr(reader->err);
    return error_create_at_line(ERROR_FORMAT, reader->name,
                                XML_GetCurrentLineNumber(reader->parser), "bad XML: %s",
                                XML_ErrorString(XML_GetErrorCode(reader->parser)));
}

static struct error *parse_plain(struct reader *reader, const unsigned char *data, size_t size)
{
    struct error *err = NULL;

    for (; !err && size > PIECE; data += PIECE, size -= PIECE)
        err = parse_piece(reader, data, PIECE, false);
    return err ? err : parse_piece(reader, data, size, true);
}

static struct error *inflate_error(const struct reader *reader, const z_stream *stream, int status)
{
    uint64_t offset = stream->total_in;

    if (status == Z_MEM_ERROR)
        alloc_fail(0);
    if (status == Z_BUF_ERROR)
        return error_create_at_offset(ERROR_FORMAT, reader->name, offset,
                                      "truncated gzip data: it ends in the middle");
    return error_create_at_offset(ERROR_FORMAT, reader->name, offset, "damaged gzip data: %s",
                                  stream->msg ? stream->msg : "it cannot be decompressed");
}

// One gzip member after the other until nothing is left. Z_BUF_ERROR is what zlib says when it can
// not go on for want of input.
static struct error *parse_members(struct reader *reader, z_stream *stream)
{
    _cleanup_free_ unsigned char *piece = xmalloc(PIECE);
    struct error *err = NULL;

    for (;;) {
        stream->next_out = piece;
        stream->avail_out = (uInt)PIECE;
        int status = inflate(stream, Z_NO_FLUSH);
        if (status != Z_OK && status != Z_STREAM_END)
            return inflate_error(reader, stream, status);
        bool is_last = status == Z_STREAM_END && stream->avail_in == 0;
        err = parse_piece(reader, piece, PIECE - stream->avail_out, is_last);
        if (err || is_last)
            return err;
        if (status == Z_STREAM_END)
            inflateReset(stream);
    }
}

static struct error *parse_compressed(struct reader *reader, const unsigned char *data, size_t size)
{
    z_stream stream = {.next_in = (unsigned char *)data, .avail_in = (uInt)size};

    if (size > UINT_MAX)
        return error_create_file(ERROR_LIMIT, reader->name, "more than 4 GiB of gzip data");
    if (inflateInit2(&stream, 15 + 16) != Z_OK) // 16: gzip
        alloc_fail(0);
    struct error *err = parse_members(reader, &stream);
    inflateEnd(&stream);
    return err;
}

struct error *graphml_read(const char *name, const void *data, size_t size, struct graphml *graph)
{
    struct reader reader = {.name = name, .graph = graph, .text = STRBUF_INIT};
    const unsigned char *bytes = data;

    *graph = (struct graphml){.arena = ARENA_INIT, .hash = HASH_SEED};
    reader.parser = XML_ParserCreateNS(NULL, '|');
    if (!reader.parser)
        alloc_fail(0);
    XML_SetUserData(reader.parser, &reader);
    XML_SetElementHandler(reader.parser, start_element, end_element);
    XML_SetCharacterDataHandler(reader.parser, add_text);
    XML_SetEntityDeclHandler(reader.parser, refuse_entity);
    struct error *err = size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b
                            ? parse_compressed(&reader, bytes, size)
                            : parse_plain(&reader, bytes, size);
    XML_ParserFree(reader.parser);
    key_vec_deinit(&reader.keys);
    strbuf_deinit(&reader.text);
    return err;
}

void graphml_deinit(struct graphml *graph)
{
    graphml_nodes_deinit(&graph->nodes);
    graphml_edges_deinit(&graph->edges);
    arena_deinit(&graph->arena);
}
