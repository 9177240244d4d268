// SPDX-License-Identifier: Apache-2.0
/*
 * A small program in GraphML, in pieces from which tests make their own.
 *
 *     static const char text[] =
 *             GRAPHML_HEAD NODE("n:1:1", "entry", PROCEDURE("main")) ... GRAPHML_TAIL;
 *
 * graphml_program: main calls f, f or g through a pointer, and puts, which has no graph; f calls
 * itself; g is a stub. One node of main has no flow edge, one edge is there twice, f's entry is not
 * its first node.
 */
#ifndef TESTS_UNIT_GRAPHML_FIXTURE_H
#define TESTS_UNIT_GRAPHML_FIXTURE_H

#define GRAPHML_OPEN                                                                               \
    "<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
#define KEY(id, of, name) "<key id=\"" id "\" for=\"" of "\" attr.name=\"" name "\"/>\n"
#define KEY_WITH(id, of, name, otherwise)                                                          \
    "<key id=\"" id "\" for=\"" of "\" attr.name=\"" name "\"> <default> " otherwise               \
    " </default> </key>\n"
// A key's id need not be its name.
// clang-format off
#define GRAPHML_HEAD                                                                               \
    GRAPHML_OPEN                                                                                   \
    KEY_WITH("k", "node", "kind", "declaration")                                                   \
    KEY("label", "node", "label")                                                                  \
    KEY("procedure", "node", "procedure")                                                          \
    KEY("file", "node", "file")                                                                    \
    KEY("lines", "node", "lines")                                                                  \
    KEY("call-name", "node", "call-name")                                                          \
    KEY_WITH("type", "edge", "type", "flow")                                                       \
    KEY_WITH("when", "edge", "when", "true")                                                       \
    KEY_WITH("scope", "edge", "scope", "intraprocedural")                                          \
    "<graph id=\"CFG\" edgedefault=\"directed\">\n"
// clang-format on
#define GRAPHML_TAIL "</graph>\n</graphml>\n"

#define DATA(key, value)     "<data key=\"" key "\">" value "</data>"
#define PROCEDURE(name)      DATA("procedure", name)
#define LINE(n)              DATA("lines", "(" n ")")
#define NODE(id, kind, rest) "<node id=\"" id "\">" DATA("k", kind) rest "</node>\n"
#define PLAIN(id, rest)      NODE(id, "expression", rest)
#define FLOW(a, b)           "<edge source=\"" a "\" target=\"" b "\"/>\n"
#define EDGE(a, b, rest)     "<edge source=\"" a "\" target=\"" b "\">" rest "</edge>\n"
#define CALL(a, b)           EDGE(a, b, DATA("type", "control") DATA("scope", "interprocedural"))

// clang-format off
static const char graphml_program[] __attribute__((__unused__)) =
    GRAPHML_HEAD
    NODE("n:m:1", "entry", PROCEDURE("main") DATA("file", "/src/a.c") DATA("lines", "( 0 )"))
    NODE("n:m:2", "exit", DATA("lines", "( 0 )"))
    FLOW("n:m:1", "n:m:3")
    PLAIN("n:m:3", DATA("label", "x &lt; 1") LINE("10"))
    FLOW("n:m:3", "n:m:4")
    NODE("n:m:4", "call-site", LINE("11"))
    CALL("n:m:4", "n:f:1")
    FLOW("n:m:4", "n:m:5")
    PLAIN("n:m:5", "")
    FLOW("n:m:5", "n:m:7")
    FLOW("n:m:5", "n:m:6")
    EDGE("n:m:5", "n:m:7", DATA("when", "false"))
    NODE("n:m:6", "call-site", LINE("11"))
    CALL("n:m:6", "n:g:1")
    CALL("n:m:6", "n:f:1")
    FLOW("n:m:6", "n:m:7")
    NODE("n:m:7", "call-site", LINE("13") DATA("call-name", "puts"))
    FLOW("n:m:7", "n:m:2")
    "<node id=\"n:m:8\"/>\n"
    EDGE("n:m:8", "n:m:3", DATA("type", "data"))
    PLAIN("n:f:3", LINE("20"))
    NODE("n:f:1", "entry", PROCEDURE("f") DATA("file", "/src/b.c") LINE("19"))
    NODE("n:f:2", "exit", "")
    FLOW("n:f:1", "n:f:3")
    FLOW("n:f:3", "n:f:4")
    FLOW("n:f:3", "n:f:2")
    FLOW("n:f:3", "n:f:5")
    NODE("n:f:4", "call-site", LINE("21") DATA("file", "/src/b.h"))
    FLOW("n:f:4", "n:f:2")
    CALL("n:f:4", "n:f:1")
    PLAIN("n:f:5", "")
    NODE("n:g:1", "entry", PROCEDURE("g"))
    NODE("n:g:2", "exit", LINE("7"))
    FLOW("n:g:1", "n:g:2")
    GRAPHML_TAIL;
// clang-format on

#endif
