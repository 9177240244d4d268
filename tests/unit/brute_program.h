// SPDX-License-Identifier: Apache-2.0
/*
 * Small random programs.
 *
 *     struct brute_program program;
 *     uint64_t seed = 1;
 *     brute_program_make(&program, BRUTE_PLAIN, &seed);
 *     brute_program_text(&program, &text); // docs/formats/model.md
 *
 * Nodes are numbered over the whole program and sets of them are words of 32 bits, so that whatever
 * a run has visited is one word. Function 0 is main.
 */
#ifndef TESTS_UNIT_BRUTE_PROGRAM_H
#define TESTS_UNIT_BRUTE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/strbuf.h"

#define BRUTE_FUNCTION static __attribute__((__unused__))

#define BRUTE_NODES     20
#define BRUTE_FUNCTIONS 5

// What programs of a class have besides branches, loops, recursion and indirect calls.
enum brute_class {
    BRUTE_PLAIN,
    BRUTE_LIBRARY, // code without a model that calls back
    BRUTE_JUMPS,   // setjmp and longjmp
    BRUTE_SIGNALS,
    BRUTE_STARTS, // constructors
    BRUTE_MANY,   // threads
    BRUTE_CLASS_COUNT,
};

struct brute_node {
    uint8_t function;
    uint8_t next[3], next_count;
    uint8_t callees, callbacks; // functions, by bit
    bool is_call, returns;
    bool external, calls_back, longjmp, may_longjmp, returns_twice, exits;
};

struct brute_program {
    enum brute_class class;
    struct brute_node nodes[BRUTE_NODES];
    uint32_t node_count;
    uint8_t first[BRUTE_FUNCTIONS + 1]; // by function: its first node
    uint32_t function_count;
    uint8_t threads, handlers, early; // roots besides main: functions, by bit
};

// ---- Chance

static inline uint32_t brute_random(uint64_t *seed, uint32_t below)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) % below);
}

static inline bool brute_chance(uint64_t *seed, uint32_t percent)
{
    return brute_random(seed, 100) < percent;
}

static inline uint32_t brute_pick(uint64_t *seed, uint32_t set)
{
    uint32_t skip = brute_random(seed, (uint32_t)__builtin_popcount(set));

    while (skip--)
        set &= set - 1;
    return (uint32_t)__builtin_ctz(set);
}

static inline uint32_t brute_subset(uint64_t *seed, uint32_t set, uint32_t percent)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < 32; i++)
        if (set >> i & 1 && brute_chance(seed, percent))
            kept |= 1u << i;
    return kept;
}

// ---- Programs

BRUTE_FUNCTION uint32_t brute_nodes_of(const struct brute_program *program, uint32_t function)
{
    return (1u << program->first[function + 1]) - (1u << program->first[function]);
}

BRUTE_FUNCTION uint32_t brute_sites(const struct brute_program *program)
{
    uint32_t sites = 0;

    for (uint32_t n = 0; n < program->node_count; n++)
        sites |= (uint32_t)program->nodes[n].is_call << n;
    return sites;
}

BRUTE_FUNCTION bool brute_returns_twice(const struct brute_program *program, uint32_t function)
{
    for (uint32_t n = program->first[function]; n < program->first[function + 1]; n++)
        if (program->nodes[n].returns_twice)
            return true;
    return false;
}

static inline void brute_make_call(const struct brute_program *program, struct brute_node *node,
                                   uint64_t *seed)
{
    // main is called by others now and then
    uint32_t all = (1u << program->function_count) - (brute_chance(seed, 10) ? 1u : 2u);
    uint32_t kind = brute_random(seed, 100);

    node->is_call = true;
    if (program->class == BRUTE_LIBRARY && kind < 40) {
        node->external = node->calls_back = true;
        node->callbacks = (uint8_t)(1u << brute_pick(seed, all) | brute_subset(seed, all, 20));
        if (brute_chance(seed, 20))
            node->callees = (uint8_t)(1u << brute_pick(seed, all));
    } else if (program->class == BRUTE_JUMPS && kind < 25) {
        node->external = node->longjmp = true;
        node->next_count = 0;
    } else if (program->class == BRUTE_JUMPS && kind < 35) {
        node->external = node->may_longjmp = true;
    } else if (program->class == BRUTE_JUMPS && kind < 60) {
        node->external = node->returns_twice = true;
    } else if (program->class == BRUTE_MANY && kind < 10) {
        node->external = node->exits = true;
        node->next_count = 0;
    } else if (kind < 70) {
        node->callees = (uint8_t)(1u << brute_pick(seed, all));
    } else if (kind < 90) {
        node->callees = (uint8_t)(1u << brute_pick(seed, all) | brute_subset(seed, all, 40));
    } else {
        node->external = true;
        if (brute_chance(seed, 40))
            node->callees = (uint8_t)(1u << brute_pick(seed, all));
    }
}

static inline void brute_make_function(struct brute_program *program, uint32_t function,
                                       uint32_t count, uint64_t *seed)
{
    uint32_t first = program->first[function];

    for (uint32_t i = 0; i < count; i++) {
        struct brute_node *node = &program->nodes[first + i];

        node->function = (uint8_t)function;
        if (i + 1 == count && brute_chance(seed, 85)) {
            node->returns = true;
            continue;
        }
        // a few nodes go nowhere: abort
        node->next_count = (uint8_t)(brute_chance(seed, 4) ? 0 : brute_chance(seed, 45) ? 1 : 2);
        for (uint32_t k = 0; k < node->next_count; k++) {
            // nothing goes to the entry, as in LLVM
            bool forward = i + 1 < count && brute_chance(seed, 75);
            bool next = i + 1 < count && k == 0 && brute_chance(seed, 60);
            uint32_t to = next        ? i + 1
                          : forward   ? i + 1 + brute_random(seed, count - i - 1)
                          : count > 1 ? 1 + brute_random(seed, count - 1)
                                      : 0;

            if (to == 0 || (k == 1 && node->next[0] == first + to))
                node->next_count = (uint8_t)k;
            else
                node->next[k] = (uint8_t)(first + to);
        }
        if (brute_chance(seed, 50))
            brute_make_call(program, node, seed);
        else if (node->next_count == 0 && brute_chance(seed, 70))
            node->returns = true;
    }
}

BRUTE_FUNCTION void brute_program_make(struct brute_program *program, enum brute_class class,
                                       uint64_t *seed)
{
    uint32_t limit = class == BRUTE_SIGNALS ? 9 : class == BRUTE_MANY ? 11 : 16, left;

    *program = (struct brute_program){.class = class};
    program->function_count = 2 + brute_random(seed, class == BRUTE_SIGNALS ? 2 : 4);
    left = limit + brute_random(seed, 3);
    for (uint32_t f = 0; f < program->function_count; f++) {
        uint32_t others = 2 * (program->function_count - f - 1), most = left - others;
        uint32_t count = 1 + brute_random(seed, most < 7 ? most : 7);
        if (count < 3)
            count += brute_random(seed, 2);

        brute_make_function(program, f, count, seed);
        program->first[f + 1] = (uint8_t)(program->first[f] + count);
        left -= count < left ? count : left;
    }
    program->node_count = program->first[program->function_count];

    uint32_t all = (1u << program->function_count) - 2u;
    uint8_t some = (uint8_t)(1u << brute_pick(seed, all) | brute_subset(seed, all, 15));
    if (class == BRUTE_SIGNALS)
        program->handlers = some;
    else if (class == BRUTE_STARTS)
        program->early = some;
    else if (class == BRUTE_MANY)
        program->threads = some;
}

// ---- Programs as text

static inline uint32_t brute_set_number(uint8_t *sets, uint32_t *count, uint8_t set)
{
    for (uint32_t i = 1; i <= *count; i++)
        if (sets[i] == set)
            return i;
    if (!set)
        return 0;
    sets[++*count] = set;
    return *count;
}

static inline void brute_node_text(const struct brute_program *program, uint32_t n, uint8_t *sets,
                                   uint32_t *set_count, struct strbuf *text)
{
    const struct brute_node *node = &program->nodes[n];
    uint32_t first = program->first[node->function];

    strbuf_printf(text, "  node %u at 0:%u:1 flags block%s%s%s", n - first, n + 1,
                  node->is_call ? ",call" : "", node->returns ? ",return" : "",
                  node->returns_twice ? ",returns-twice" : "");
    for (uint32_t k = 0; k < node->next_count; k++)
        strbuf_printf(text, "%s %u", k ? "" : " ->", node->next[k] - first);
    strbuf_append_char(text, '\n');
    if (!node->is_call)
        return;
    bool direct = __builtin_popcount(node->callees) < 2;
    const char *flags[] = {direct ? NULL : "indirect",
                           node->external ? "external" : NULL,
                           node->calls_back ? "calls-back" : NULL,
                           node->longjmp ? "longjmp" : NULL,
                           node->may_longjmp ? "may-longjmp" : NULL,
                           node->returns_twice ? "returns-twice" : NULL,
                           node->exits ? "exits" : NULL};
    bool any = false;
    if (!direct)
        strbuf_append(text, "    site *");
    else if (node->callees)
        strbuf_printf(text, "    site \"f%d\"", __builtin_ctz(node->callees));
    else
        strbuf_append(text, "    site \"x\"");
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        if (flags[i]) {
            strbuf_printf(text, "%s%s", any ? "," : " flags ", flags[i]);
            any = true;
        }
    strbuf_printf(text, " callees %u callbacks %u\n",
                  brute_set_number(sets, set_count, node->callees),
                  brute_set_number(sets, set_count, node->callbacks));
}

BRUTE_FUNCTION void brute_program_text(const struct brute_program *program, struct strbuf *text)
{
    uint8_t sets[2 * BRUTE_NODES + 1] = {0};
    uint32_t set_count = 0;

    strbuf_append(text, "inquest-model 1\nfile 0 \"/\" \"a.c\"\nimage 0 executable \"a\"\n"
                        "module 0 image 0 id 0000000000000001 level none flags 0 source \"a.c\"\n");
    for (uint32_t f = 0; f < program->function_count; f++) {
        strbuf_printf(text,
                      "function %u module 0 \"f%u\" debug \"f%u\" source \"f%u\" at 0:1 linked "
                      "unknown level none record 0%s\n",
                      f, f, f, f, brute_returns_twice(program, f) ? " flags setjmp" : "");
        for (uint32_t n = program->first[f]; n < program->first[f + 1]; n++)
            brute_node_text(program, n, sets, &set_count, text);
    }
    for (uint32_t i = 1; i <= set_count; i++) {
        strbuf_printf(text, "set %u", i);
        for (uint32_t f = 0; f < program->function_count; f++)
            if (sets[i] >> f & 1)
                strbuf_printf(text, " %u", f);
        strbuf_append_char(text, '\n');
    }
    for (uint32_t f = 0; f < program->function_count; f++) {
        if (f == 0)
            strbuf_append(text, "root 0 main\n");
        if (program->early >> f & 1)
            strbuf_printf(text, "root %u constructor\n", f);
        if (program->handlers >> f & 1)
            strbuf_printf(text, "root %u signal\n", f);
        if (program->threads >> f & 1)
            strbuf_printf(text, "root %u thread\n", f);
    }
}

#endif
