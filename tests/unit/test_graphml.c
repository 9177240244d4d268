// SPDX-License-Identifier: Apache-2.0
// Models from GraphML: what the file says is in the model, and what is wrong with it is told.
#include "model_fixture.h"

#include <zlib.h>

#include "common/cleanup.h"
#include "common/file.h"
#include "graphml_fixture.h"
#include "program/from_graphml.h"
#include "program/model.h"

static struct model *read_program(void)
{
    struct model *model;

    fixture_check(
        model_from_graphml_bytes("a.graphml", graphml_program, strlen(graphml_program), &model));
    return model;
}

static void check_node(const struct model *model, uint32_t n, const char *name, uint32_t function,
                       uint32_t line, uint32_t flags)
{
    const struct model_node *node = model_node(model, (struct node_id){n});

    assert_string_equal(model->node_names[n], name);
    assert_int_equal(node->function.value, function);
    assert_int_equal(node->line, line);
    assert_int_equal(node->file.value == MODEL_NONE, line == 0);
    assert_int_equal(node->flags, flags);
}

static void nodes(void **state)
{
    struct model *model = read_program();

    (void)state;
    assert_int_equal(model->node_count, 14);
    check_node(model, 0, "n:m:1", 0, 0, 0);
    check_node(model, 1, "n:m:2", 0, 0, NODE_RETURN);
    check_node(model, 2, "n:m:3", 0, 10, 0);
    check_node(model, 3, "n:m:4", 0, 11, NODE_CALL);
    check_node(model, 4, "n:m:5", 0, 0, 0);
    check_node(model, 5, "n:m:6", 0, 11, NODE_CALL);
    check_node(model, 6, "n:m:7", 0, 13, NODE_CALL);
    check_node(model, 7, "n:f:1", 1, 19, 0);
    check_node(model, 8, "n:f:3", 1, 20, 0);
    check_node(model, 9, "n:f:2", 1, 0, NODE_RETURN);
    check_node(model, 10, "n:f:4", 1, 21, NODE_CALL);
    check_node(model, 11, "n:f:5", 1, 0, NODE_UNREACHABLE);
    check_node(model, 12, "n:g:1", 2, 0, 0);
    check_node(model, 13, "n:g:2", 2, 0, NODE_RETURN); // a line of no file
    assert_string_equal(model_file_path(model, model->nodes[8].file), "/src/b.c");
    assert_string_equal(model_file_path(model, model->nodes[10].file), "/src/b.h");
    model_destroy(model);
}

static void check_edges(const struct model *model, uint32_t n, uint32_t count, uint32_t first,
                        uint32_t second)
{
    struct node_list next = model_successors(model, (struct node_id){n});

    assert_int_equal(next.count, count);
    if (count > 0)
        assert_int_equal(next.data[0].value, first);
    if (count > 1)
        assert_int_equal(next.data[1].value, second);
}

static void edges(void **state)
{
    struct model *model = read_program();

    (void)state;
    assert_int_equal(model->edge_count, 13);
    check_edges(model, 0, 1, 2, 0);
    check_edges(model, 1, 0, 0, 0);
    check_edges(model, 3, 1, 4, 0);
    check_edges(model, 4, 2, 6, 5); // in the order of the file, each once
    check_edges(model, 6, 1, 1, 0);
    check_edges(model, 8, 3, 10, 9);
    check_edges(model, 11, 0, 0, 0);
    check_edges(model, 12, 1, 13, 0);
    model_destroy(model);
}

static void check_site(const struct model *model, uint32_t s, uint32_t node, const char *callee,
                       uint32_t flags, uint32_t callees)
{
    const struct model_site *site = model_site(model, (struct site_id){s});

    assert_int_equal(site->node.value, node);
    assert_int_equal(model->nodes[node].site.value, s);
    assert_int_equal(site->callee == NULL, callee == NULL);
    if (callee)
        assert_string_equal(site->callee, callee);
    assert_int_equal(site->flags, flags);
    assert_int_equal(model_callees(model, (struct site_id){s}).count, callees);
    assert_int_equal(model_callbacks(model, (struct site_id){s}).count, 0);
}

static void calls(void **state)
{
    struct model *model = read_program();

    (void)state;
    assert_int_equal(model->site_count, 4);
    check_site(model, 0, 3, "f", 0, 1);
    check_site(model, 1, 5, NULL, SITE_INDIRECT, 2);
    check_site(model, 2, 6, "puts", SITE_EXTERNAL, 0);
    check_site(model, 3, 10, "f", 0, 1);
    struct function_list both = model_callees(model, (struct site_id){1});
    assert_int_equal(both.data[0].value, 1);
    assert_int_equal(both.data[1].value, 2);
    assert_int_equal(model->callees.callees_of_site[0], model->callees.callees_of_site[3]);
    assert_int_equal(model->callees.set_count, 3);
    assert_int_equal(model->root_count, 1);
    assert_int_equal(model->roots[0].function.value, 0);
    assert_int_equal(model->roots[0].reason, ROOT_MAIN);
    model_destroy(model);
}

static void functions(void **state)
{
    static const char *const names[] = {"main", "f", "g"};
    static const uint32_t first_nodes[] = {0, 7, 12}, node_counts[] = {7, 5, 2};
    static const uint32_t first_sites[] = {0, 3, 4}, site_counts[] = {3, 1, 0};
    static const uint32_t lines[] = {0, 19, 0};
    struct model *model = read_program();
    struct module_id module;

    (void)state;
    assert_true(model->complete);
    assert_int_equal(model->function_count, 3);
    for (uint32_t f = 0; f < 3; f++) {
        const struct model_function *function = model_function(model, (struct function_id){f});
        assert_string_equal(function->name, names[f]);
        assert_int_equal(function->index, f);
        assert_int_equal(function->first_node, first_nodes[f]);
        assert_int_equal(function->node_count, node_counts[f]);
        assert_int_equal(function->first_site, first_sites[f]);
        assert_int_equal(function->site_count, site_counts[f]);
        assert_int_equal(function->line, lines[f]);
        assert_non_null(model_numbering(model, (struct function_id){f}));
    }
    assert_int_equal(model->functions[2].file.value, MODEL_NONE);
    assert_int_equal(model->module_count, 1);
    assert_true(model_find_module(model, model->modules[0].id, &module));
    assert_string_equal(model->modules[0].source, "/src/a.c");
    assert_string_equal(model->images[0].path, "a.graphml");
    fixture_check(model_complete(model));
    fixture_check(model_load_function(model, (struct function_id){2}));
    model_destroy(model);
}

// ---- Text and back

static char *write_text(const struct model *model)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    assert_non_null(stream);
    model_write_text(model, (struct function_id){MODEL_NONE}, false, stream);
    fclose(stream);
    return text;
}

static void text_and_back(void **state)
{
    struct model *model = read_program(), *again;
    _cleanup_free_ char *text = write_text(model);

    (void)state;
    assert_non_null(strstr(text, "  node 3 at 0:11:0 flags call name \"n:m:4\" -> 4\n"));
    fixture_check(model_read_text("text", text, strlen(text), &again));
    for (uint32_t n = 0; n < model->node_count; n++)
        assert_string_equal(model->node_names[n], again->node_names[n]);
    _cleanup_free_ char *text_again = write_text(again);
    assert_string_equal(text, text_again);
    model_destroy(again);
    model_destroy(model);
}

static void text_with_some_names(void **state)
{
    struct model *model = read_program(), *again;
    _cleanup_free_ char *text = write_text(model);
    static const char name[] = " name \"n:m:2\"";
    char *at = strstr(text, name);

    (void)state;
    model_destroy(model);
    assert_non_null(at);
    memmove(at, at + strlen(name), strlen(at + strlen(name)) + 1);
    fixture_expect(model_read_text("text", text, strlen(text), &again), ERROR_FORMAT,
                   "either every node has a name or none");
}

// ---- gzip

static unsigned char *compress_text(const char *text, size_t *size)
{
    unsigned char *packed = xmalloc(*size = strlen(text) + 100);
    z_stream stream = {.next_in = (unsigned char *)text,
                       .avail_in = (uInt)strlen(text),
                       .next_out = packed,
                       .avail_out = (uInt)*size};

    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *size = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

// Compressed or not, whatever the name is: it is the same module.
static void compressed_file(void **state)
{
    char *directory = fixture_directory();
    _cleanup_free_ char *path = file_join(directory, "odd-name");
    size_t size;
    _cleanup_free_ unsigned char *packed = compress_text(graphml_program, &size);
    struct model *model, *plain = read_program();

    (void)state;
    fixture_check(file_write(path, packed, size, 0666));
    fixture_check(model_from_graphml(path, &model));
    assert_int_equal(model->modules[0].id, plain->modules[0].id);
    assert_int_equal(model->node_count, plain->node_count);
    model_destroy(model);
    model_destroy(plain);
    fixture_remove_directory(directory);
    fixture_expect(model_from_graphml("/nowhere/a.graphml", &model), ERROR_SYSTEM, "cannot open");
}

// Several members, as `cat a.gz b.gz` gives.
static void compressed_members(void **state)
{
    size_t half = strlen(graphml_program) / 2, first_size, second_size;
    _cleanup_free_ char *start = xstrndup(graphml_program, half);
    _cleanup_free_ unsigned char *first = compress_text(start, &first_size);
    _cleanup_free_ unsigned char *second = compress_text(graphml_program + half, &second_size);
    struct model *model;

    (void)state;
    first = xrealloc(first, first_size + second_size);
    memcpy(first + first_size, second, second_size);
    fixture_check(model_from_graphml_bytes("two.gz", first, first_size + second_size, &model));
    assert_int_equal(model->node_count, 14);
    model_destroy(model);
}

static void compressed_and_cut(void **state)
{
    size_t size;
    _cleanup_free_ unsigned char *packed = compress_text(graphml_program, &size);
    struct model *model;

    (void)state;
    for (size_t cut = 2; cut < size; cut++)
        fixture_expect(model_from_graphml_bytes("cut.gz", packed, cut, &model), ERROR_FORMAT,
                       "truncated gzip data: it ends in the middle: 'cut.gz', offset 0x");
    packed[size / 2] ^= 0x55;
    struct error *err = model_from_graphml_bytes("bad.gz", packed, size, &model);
    assert_non_null(err);
    error_destroy(err);
    packed[size / 2] ^= 0x55;
    packed[size - 6] ^= 1; // the checksum
    fixture_expect(model_from_graphml_bytes("bad.gz", packed, size, &model), ERROR_FORMAT,
                   "damaged gzip data: incorrect data check");
    packed[size - 6] ^= 1;
    packed = xrealloc(packed, size + 4);
    memcpy(packed + size, "junk", 4);
    fixture_expect(model_from_graphml_bytes("bad.gz", packed, size + 4, &model), ERROR_FORMAT,
                   "damaged gzip data: incorrect header check");
}

static void cut(void **state)
{
    struct model *model;

    (void)state;
    for (size_t size = 0; size + 1 < strlen(graphml_program); size++)
        fixture_expect(model_from_graphml_bytes("cut", graphml_program, size, &model), ERROR_FORMAT,
                       "bad XML: ");
}

// ---- Errors

static void refuse(const char *text, const char *message)
{
    struct model *model;

    fixture_expect(model_from_graphml_bytes("bad.graphml", text, strlen(text), &model),
                   ERROR_FORMAT, message);
}

#define MAIN                                                                                       \
    NODE("n:m:1", "entry", PROCEDURE("main"))                                                      \
    NODE("n:m:2", "exit", "") FLOW("n:m:1", "n:m:2")
#define F                                                                                          \
    NODE("n:f:1", "entry", PROCEDURE("f"))                                                         \
    NODE("n:f:2", "exit", "") FLOW("n:f:1", "n:f:2")

static void bad_xml(void **state)
{
    (void)state;
    refuse("", "bad XML: no element found: 'bad.graphml', line 1");
    refuse("<graphml>\n<graph>\n</graphml>", "bad XML: mismatched tag: 'bad.graphml', line 3");
    refuse("\177ELF", "bad XML: not well-formed (invalid token)");
    refuse("<html/>", "bad GraphML: the document is no <graphml>");
    refuse("<graphml xmlns=\"urn:other\"/>", "bad GraphML: the document is no <graphml>");
    refuse("<!DOCTYPE graphml [<!ENTITY a \"aaaa\">]><graphml>&a;</graphml>",
           "bad GraphML: it declares an entity, 'a'");
    refuse("<graphml/>", "bad GraphML: no flow edge: 'bad.graphml'");
}

static void bad_elements(void **state)
{
    (void)state;
    refuse(GRAPHML_OPEN KEY("a", "node", "x") KEY("a", "edge", "y") "</graphml>",
           "the key 'a' is declared twice: 'bad.graphml', line 4");
    refuse(GRAPHML_OPEN "<key/></graphml>", "<key> has no attribute 'id'");
    refuse(GRAPHML_HEAD MAIN "</graph>" KEY("late", "node", "kind") "</graphml>",
           "the key 'late' is declared behind a graph");
    refuse(GRAPHML_HEAD "<node/>" GRAPHML_TAIL, "<node> has no attribute 'id'");
    refuse(GRAPHML_HEAD MAIN "<edge source=\"n:m:1\"/>" GRAPHML_TAIL,
           "<edge> has no attribute 'target'");
    refuse(GRAPHML_HEAD PLAIN("n:m:3", DATA("colour", "red")) GRAPHML_TAIL,
           "<data> of a key 'colour' that is not declared");
    refuse(GRAPHML_HEAD PLAIN("n:m:3", LINE("1") LINE("2")) GRAPHML_TAIL, "'lines' is given twice");
    refuse(GRAPHML_HEAD PLAIN("n:m:3", DATA("lines", "<b>1</b>")) GRAPHML_TAIL,
           "an element within data");
    refuse(GRAPHML_HEAD "<node id=\"n:m:3\"><graph/></node>" GRAPHML_TAIL, "a graph within a node");
    refuse(GRAPHML_HEAD "<hyperedge/>" GRAPHML_TAIL, "a <hyperedge>");
    refuse(GRAPHML_OPEN "<graph edgedefault=\"undirected\"/></graphml>",
           "the graph is not directed");
    refuse(GRAPHML_HEAD MAIN
           "<edge source=\"n:m:1\" target=\"n:m:2\" directed=\"false\"/>" GRAPHML_TAIL,
           "the edge is not directed");
    refuse(GRAPHML_HEAD MAIN EDGE("n:m:1", "n:m:2", DATA("scope", "local")) GRAPHML_TAIL,
           "no scope 'local'");
    refuse(GRAPHML_HEAD MAIN EDGE("n:m:1", "n:m:2", DATA("scope", "interprocedural")) GRAPHML_TAIL,
           "an interprocedural flow edge");
}

static void bad_graph(void **state)
{
    (void)state;
    refuse(GRAPHML_HEAD MAIN FLOW("n:m:1", "n:m:9") GRAPHML_TAIL,
           "an edge of a node 'n:m:9' that is not there: 'bad.graphml', line 16");
    refuse(GRAPHML_HEAD MAIN CALL("n:x:9", "n:m:1") GRAPHML_TAIL,
           "an edge of a node 'n:x:9' that is not there");
    refuse(GRAPHML_HEAD MAIN PLAIN("n:m:1", "") GRAPHML_TAIL, "two nodes 'n:m:1'");
    refuse(GRAPHML_HEAD MAIN PLAIN("n1", "") GRAPHML_TAIL,
           "the node id 'n1' is not of the form 'n:FUNCTION:NUMBER'");
    refuse(GRAPHML_HEAD MAIN PLAIN("n:1", "") GRAPHML_TAIL, "the node id 'n:1' is not of the form");
    refuse(GRAPHML_HEAD MAIN PLAIN("n:1:", "") GRAPHML_TAIL,
           "the node id 'n:1:' is not of the form");
    refuse(GRAPHML_HEAD MAIN PLAIN("n:f:3", "") PLAIN("n:f:4", "") FLOW("n:f:3", "n:f:4")
               GRAPHML_TAIL,
           "the function of 'n:f:3' has no entry with a flow edge");
    refuse(GRAPHML_HEAD MAIN NODE("n:m:3", "entry", "") FLOW("n:m:3", "n:m:2") GRAPHML_TAIL,
           "'n:m:3' is a second entry of the function of 'n:m:1'");
    refuse(GRAPHML_HEAD MAIN F FLOW("n:m:1", "n:f:2") GRAPHML_TAIL,
           "a flow edge from 'n:m:1' to 'n:f:2', of another function");
    refuse(GRAPHML_HEAD MAIN FLOW("n:m:2", "n:m:1") GRAPHML_TAIL,
           "a flow edge out of 'n:m:2', an exit");
    refuse(GRAPHML_HEAD MAIN F CALL("n:m:1", "n:f:1") GRAPHML_TAIL,
           "a call edge from 'n:m:1', which is no call-site");
    refuse(GRAPHML_HEAD MAIN F NODE("n:m:3", "call-site", "") CALL("n:m:3", "n:f:2") GRAPHML_TAIL,
           "a call edge to 'n:f:2', which is no entry");
    refuse(GRAPHML_HEAD F NODE("n:g:1", "entry", "") NODE("n:g:2", "exit", "")
               FLOW("n:g:1", "n:g:2") GRAPHML_TAIL,
           "several entries, and none of a procedure 'main'");
    refuse(GRAPHML_HEAD MAIN NODE("n:g:1", "entry", PROCEDURE("main")) NODE("n:g:2", "exit", "")
               FLOW("n:g:1", "n:g:2") GRAPHML_TAIL,
           "a second procedure 'main', 'n:g:1'");
}

// ---- Odd but good

// The only function is where the program starts, whatever its name is; defaults need not be
// declared.
static void only_entry(void **state)
{
    static const char text[] =
        GRAPHML_OPEN KEY("k", "all", "kind") "<desc>any <b>thing</b></desc>"
                                             "<graph><desc/>" NODE("n:-7:1", "entry", "")
                                                 NODE("n:-7:2", "exit", "") FLOW("n:-7:1", "n:-7:2")
                                                     GRAPHML_TAIL;
    struct model *model;

    (void)state;
    fixture_check(model_from_graphml_bytes("one", text, strlen(text), &model));
    assert_int_equal(model->function_count, 1);
    assert_string_equal(model->functions[0].name, "n:-7");
    assert_int_equal(model->roots[0].function.value, 0);
    assert_string_equal(model->modules[0].source, "one");
    model_destroy(model);
}

// A callee whose entry has no flow edge has no graph: the call may be passed as it is.
static void callee_without_graph(void **state)
{
    static const char text[] = GRAPHML_HEAD MAIN F NODE("n:lib:1", "entry", PROCEDURE("lib"))
        NODE("n:m:3", "call-site", "") FLOW("n:m:1", "n:m:3") FLOW("n:m:3", "n:m:2")
            CALL("n:m:3", "n:lib:1") CALL("n:m:3", "n:f:1") NODE("n:m:4", "call-site", "")
                CALL("n:m:4", "n:f:1") GRAPHML_TAIL;
    struct model *model;

    (void)state;
    fixture_check(model_from_graphml_bytes("lib", text, strlen(text), &model));
    assert_int_equal(model->function_count, 2);
    assert_int_equal(model->site_count, 1); // the other has no flow edge
    check_site(model, 0, 2, NULL, SITE_INDIRECT | SITE_EXTERNAL, 1);
    model_destroy(model);
}

static void names(void **state)
{
    (void)state;
    assert_true(path_is_graphml("cfg.graphml"));
    assert_true(path_is_graphml("/a/cfg.graphml.gz"));
    assert_false(path_is_graphml(".graphml"));
    assert_false(path_is_graphml("cfg.graphml.xz"));
    assert_false(path_is_graphml("graphml"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes),
        cmocka_unit_test(edges),
        cmocka_unit_test(calls),
        cmocka_unit_test(functions),
        cmocka_unit_test(text_and_back),
        cmocka_unit_test(text_with_some_names),
        cmocka_unit_test(compressed_file),
        cmocka_unit_test(compressed_members),
        cmocka_unit_test(compressed_and_cut),
        cmocka_unit_test(cut),
        cmocka_unit_test(bad_xml),
        cmocka_unit_test(bad_elements),
        cmocka_unit_test(bad_graph),
        cmocka_unit_test(only_entry),
        cmocka_unit_test(callee_without_graph),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
