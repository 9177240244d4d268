// SPDX-License-Identifier: Apache-2.0
/*
 * Random walks through a program, and what a failure report could say of a walk.
 *
 *     struct brute_report report;
 *     if (brute_report_make(&program, facts, &seed, &report)) ... report.visited ...
 *     brute_report_json(&program, &report, &json); // docs/formats/evidence.md
 *
 * A walk has a real stack and does what a program would do; where documents allow more than real
 * programs do (a longjmp to a setjmp that was not called), it does what real ones do.
 */
#ifndef TESTS_UNIT_BRUTE_REPORT_H
#define TESTS_UNIT_BRUTE_REPORT_H

#include "brute_program.h"

#define BRUTE_FRAMES       10
#define BRUTE_STEPS        6
#define BRUTE_THREADS      3
#define BRUTE_OBSERVATIONS 4
#define BRUTE_ENTRIES      4

enum brute_frame_kind {
    BRUTE_FRAME_MODEL,
    BRUTE_FRAME_FOREIGN,
    BRUTE_FRAME_SIGNAL,
};

struct brute_frame {
    enum brute_frame_kind kind;
    uint8_t function;
    bool gap;                    // frames may be missing between it and the one outside of it
    uint32_t at;                 // nodes
    uint32_t calls, calls_never; // nodes; what is in neither is not known
    uint8_t steps[BRUTE_STEPS];  // the last steps
    uint8_t step_count;
    bool to_end; // the last step is where it stands
};

struct brute_thread {
    struct brute_frame frames[BRUTE_FRAMES]; // outermost first
    uint32_t frame_count;
    bool whole;
};

enum brute_observation_kind {
    BRUTE_RAN,
    BRUTE_NOT_ALL,
    BRUTE_UNRELIABLE,
    BRUTE_RELIABLE,
    BRUTE_BURST,
};

struct brute_observation {
    enum brute_observation_kind kind;
    uint32_t entries[BRUTE_ENTRIES]; // nodes
    uint32_t entry_count;
    uint32_t alphabet;
};

struct brute_report {
    struct brute_thread threads[BRUTE_THREADS];
    uint32_t thread_count;
    uint32_t sites, sites_never; // nodes whose call was made, was never made
    struct brute_observation observations[BRUTE_OBSERVATIONS];
    uint32_t observation_count;
    bool is_true;     // a walk has happened as it says
    uint32_t visited; // by that walk
};

// ---- Walks

#define WALK_PATH 64
#define WALK_LOG  256

struct walk_frame {
    enum brute_frame_kind kind;
    uint8_t function, node;
    uint8_t path[WALK_PATH], path_count; // of this activation
    bool path_broken;                    // too long, or jumped
    uint32_t passed;                     // calls that this activation has made
};

struct walk {
    const struct brute_program *program;
    uint64_t *seed;
    struct walk_frame frames[BRUTE_FRAMES];
    uint32_t depth;
    uint32_t visited, passed;
    uint8_t log[WALK_LOG]; // every visit
    uint32_t log_count;
};

static inline void walk_visit(struct walk *walk, uint32_t node, bool jumped)
{
    struct walk_frame *top = &walk->frames[walk->depth - 1];

    top->node = (uint8_t)node;
    top->path_broken |= jumped || top->path_count == WALK_PATH;
    if (!top->path_broken)
        top->path[top->path_count++] = (uint8_t)node;
    walk->visited |= 1u << node;
    if (walk->log_count < WALK_LOG)
        walk->log[walk->log_count++] = (uint8_t)node;
}

static inline void walk_push(struct walk *walk, enum brute_frame_kind kind, uint32_t function)
{
    walk->frames[walk->depth++] = (struct walk_frame){.kind = kind, .function = (uint8_t)function};
    if (kind == BRUTE_FRAME_MODEL)
        walk_visit(walk, walk->program->first[function], false);
}

// Goes on behind the node where the last frame stands; false: there is nothing behind it.
static inline bool walk_on(struct walk *walk)
{
    const struct brute_node *node = &walk->program->nodes[walk->frames[walk->depth - 1].node];

    if (!node->next_count)
        return false;
    walk_visit(walk, node->next[brute_random(walk->seed, node->next_count)], false);
    return true;
}

static inline bool walk_return(struct walk *walk)
{
    struct walk_frame *outer = walk->depth > 1 ? &walk->frames[walk->depth - 2] : NULL;
    bool signal = walk->frames[walk->depth - 1].kind == BRUTE_FRAME_SIGNAL;

    if (!outer || (outer->kind == BRUTE_FRAME_MODEL && !signal &&
                   !walk->program->nodes[outer->node].next_count))
        return false;
    walk->depth--;
    return outer->kind != BRUTE_FRAME_MODEL || signal || walk_on(walk);
}

// To a setjmp that was called in an activation that is still there, or into a library.
static inline bool walk_jump(struct walk *walk)
{
    const struct brute_program *program = walk->program;

    for (uint32_t tries = 0; tries < 8; tries++) {
        uint32_t f = brute_random(walk->seed, walk->depth);
        struct walk_frame *frame = &walk->frames[f];
        uint32_t n = program->first[frame->function];

        n += brute_random(walk->seed, program->first[frame->function + 1] - n);
        if (frame->kind != BRUTE_FRAME_MODEL || !(frame->passed >> n & 1) ||
            !program->nodes[n].returns_twice || !program->nodes[n].next_count)
            continue;
        walk->depth = f + 1;
        walk_visit(walk,
                   program->nodes[n].next[brute_random(walk->seed, program->nodes[n].next_count)],
                   true);
        return true;
    }
    return false;
}

static inline bool walk_call(struct walk *walk, const struct brute_node *node)
{
    struct walk_frame *top = &walk->frames[walk->depth - 1];
    bool past = !node->callees && !node->calls_back;
    uint32_t ways = node->callees | (uint32_t)node->calls_back << 8;

    past |= node->external && !node->calls_back;
    if (!past && walk->depth + 2 > BRUTE_FRAMES)
        return false;
    if ((node->longjmp || (node->may_longjmp && brute_chance(walk->seed, 50))) &&
        (top->passed |= 1u << top->node, walk->passed |= 1u << top->node, walk_jump(walk)))
        return true;
    if (past && !node->next_count)
        return false;
    top->passed |= 1u << top->node;
    walk->passed |= 1u << top->node;
    if (past && (!ways || walk->depth + 2 > BRUTE_FRAMES || brute_chance(walk->seed, 50)))
        return walk_on(walk);
    uint32_t way = brute_pick(walk->seed, ways);
    walk_push(walk, way == 8 ? BRUTE_FRAME_FOREIGN : BRUTE_FRAME_MODEL, way);
    return true;
}

// One step; false: it cannot go on, or it would be over.
static inline bool walk_step(struct walk *walk)
{
    struct walk_frame *top = &walk->frames[walk->depth - 1];
    const struct brute_program *program = walk->program;

    if (top->kind != BRUTE_FRAME_MODEL) {
        uint32_t set = top->kind == BRUTE_FRAME_SIGNAL
                           ? program->handlers
                           : program->nodes[walk->frames[walk->depth - 2].node].callbacks;

        if (walk->depth < BRUTE_FRAMES && brute_chance(walk->seed, 60))
            walk_push(walk, BRUTE_FRAME_MODEL, brute_pick(walk->seed, set));
        else
            return walk_return(walk);
        return true;
    }
    const struct brute_node *node = &program->nodes[top->node];
    if (program->handlers && walk->depth + 2 <= BRUTE_FRAMES && brute_chance(walk->seed, 10)) {
        walk_push(walk, BRUTE_FRAME_SIGNAL, 0);
        walk_push(walk, BRUTE_FRAME_MODEL, brute_pick(walk->seed, program->handlers));
        return true;
    }
    if (node->returns)
        return walk_return(walk);
    return node->is_call ? walk_call(walk, node) : walk_on(walk);
}

// From `function` until somewhere, or (complete) until it is left. False: it was not left.
static inline bool walk_run(struct walk *walk, uint32_t function, bool complete)
{
    uint32_t steps = complete ? 60 : brute_random(walk->seed, 50);

    walk->depth = 0;
    walk_push(walk, BRUTE_FRAME_MODEL, function);
    while (steps-- && walk_step(walk))
        ;
    if (complete && walk->program->nodes[walk->frames[walk->depth - 1].node].exits) {
        walk->passed |= 1u << walk->frames[walk->depth - 1].node;
        return walk->program->threads != 0;
    }
    // the kernel is no place to stop at
    if (walk->frames[walk->depth - 1].kind == BRUTE_FRAME_SIGNAL)
        walk->depth--;
    return !complete || (walk->depth == 1 && walk->program->nodes[walk->frames[0].node].returns);
}

// ---- Reports

static inline uint32_t site_is_open(const struct walk *walk, uint32_t f)
{
    const struct walk_frame *frame = &walk->frames[f];
    bool pending = f + 1 < walk->depth && walk->frames[f + 1].kind != BRUTE_FRAME_SIGNAL;

    // whether a call that control stands before has been noted is open
    return !pending && walk->program->nodes[frame->node].is_call ? 1u << frame->node : 0;
}

static inline void report_steps(const struct walk_frame *walked, uint64_t *seed,
                                struct brute_frame *frame)
{
    uint32_t last = walked->path_count, first;

    if (walked->path_broken || !brute_chance(seed, 80))
        return;
    frame->to_end = brute_chance(seed, 70);
    if (!frame->to_end)
        last -= brute_random(seed, last);
    first = last > BRUTE_STEPS ? last - BRUTE_STEPS : 0;
    first += brute_chance(seed, 40) ? 0 : brute_random(seed, last - first);
    frame->step_count = (uint8_t)(last - first);
    memcpy(frame->steps, walked->path + first, frame->step_count);
}

static inline void report_frame(const struct walk *walk, uint32_t f, unsigned facts,
                                struct brute_frame *frame)
{
    const struct walk_frame *walked = &walk->frames[f];
    const struct brute_program *program = walk->program;
    uint64_t *seed = walk->seed;

    *frame = (struct brute_frame){.kind = walked->kind, .function = walked->function};
    if (walked->kind != BRUTE_FRAME_MODEL)
        return;
    uint32_t own = brute_nodes_of(program, walked->function), open = site_is_open(walk, f);
    frame->at = 1u << walked->node;
    if (facts & 1)
        report_steps(walked, seed, frame);
    if (facts & 2) {
        uint32_t told = brute_subset(seed, own & brute_sites(program), 60);

        frame->calls = told & (walked->passed | (brute_chance(seed, 50) ? open : 0));
        frame->calls_never = told & ~frame->calls & ~walked->passed;
        if (facts & 32)
            frame->calls = 0;
    }
    // where library code was called is told exactly
    bool library = f + 1 < walk->depth && walk->frames[f + 1].kind == BRUTE_FRAME_FOREIGN;
    if (facts & 4 && !frame->to_end && !library && brute_chance(seed, 40))
        frame->at |= brute_subset(seed, own, 30);
    if (brute_returns_twice(program, walked->function))
        frame->step_count = 0, frame->to_end = false;
}

static inline void report_thread(const struct walk *walk, unsigned facts,
                                 struct brute_thread *thread)
{
    *thread = (struct brute_thread){.whole = true};
    for (uint32_t f = 0; f < walk->depth; f++)
        report_frame(walk, f, facts, &thread->frames[thread->frame_count++]);
    if (!(facts & 8) || !brute_chance(walk->seed, 80))
        return;
    // forget the outermost, or one of the model that is called by another
    uint32_t drop = brute_random(walk->seed, thread->frame_count);
    struct brute_frame *frame = &thread->frames[drop];
    bool inner = drop + 1 < thread->frame_count && frame->kind == BRUTE_FRAME_MODEL &&
                 frame[1].kind == BRUTE_FRAME_MODEL;
    if (!inner || (drop > 0 && frame[-1].kind != BRUTE_FRAME_MODEL))
        return;
    if (drop > 0)
        frame[1].gap = true;
    else
        thread->whole = false;
    memmove(frame, frame + 1, (thread->frame_count - drop - 1) * sizeof(*frame));
    thread->frame_count--;
}

static inline void report_ran(const struct walk *walk, uint32_t visited,
                              struct brute_observation *seen)
{
    uint32_t all = (1u << walk->program->node_count) - 1u;

    seen->kind = visited != all && brute_chance(walk->seed, 45) ? BRUTE_NOT_ALL : BRUTE_RAN;
    seen->entry_count = 1;
    seen->entries[0] =
        1u << brute_pick(walk->seed, seen->kind == BRUTE_RAN ? visited : all & ~visited);
    if (brute_chance(walk->seed, 50))
        seen->entries[0] |= brute_subset(walk->seed, all, 15);
}

static inline void report_trace(const struct walk *walk, struct brute_observation *seen)
{
    uint64_t *seed = walk->seed;
    uint32_t all = (1u << walk->program->node_count) - 1u, first = 0, last = walk->log_count;

    seen->kind = BRUTE_UNRELIABLE + brute_random(seed, 3);
    if (seen->kind == BRUTE_UNRELIABLE) {
        for (uint32_t i = 0; i < last && seen->entry_count < BRUTE_ENTRIES; i++)
            if (brute_chance(seed, 30))
                seen->entries[seen->entry_count++] = 1u << walk->log[i];
    } else {
        seen->alphabet = brute_subset(seed, all, 30);
        if (seen->kind == BRUTE_BURST) {
            first = brute_random(seed, last);
            last = first + brute_random(seed, last - first + 1);
        }
        for (uint32_t i = first; i < last; i++) {
            if (!(seen->alphabet >> walk->log[i] & 1))
                continue;
            // more than there is room for: what does not fit is not recorded
            if (seen->entry_count == BRUTE_ENTRIES) {
                seen->alphabet &= ~(1u << walk->log[i]);
                i = first - 1;
                seen->entry_count = 0;
                continue;
            }
            seen->entries[seen->entry_count++] = 1u << walk->log[i];
        }
    }
    for (uint32_t e = 0; e < seen->entry_count; e++)
        if (brute_chance(seed, 20))
            seen->entries[e] |= brute_subset(seed, all, 10);
}

static inline void report_run(const struct walk *walk, unsigned facts, struct brute_report *report)
{
    uint32_t told = brute_subset(walk->seed, brute_sites(walk->program), 70), open = 0;

    report->visited = walk->visited;
    if (walk->depth)
        open = brute_chance(walk->seed, 50) ? site_is_open(walk, walk->depth - 1) : 0;
    if (facts & 16) {
        report->sites = told & (walk->passed | open);
        report->sites_never = told & ~report->sites & ~walk->passed;
        if (facts & 32)
            report->sites = 0;
    }
    if (!(facts & 64))
        return;
    uint32_t count = 1 + brute_random(walk->seed, 2);
    for (uint32_t i = 0; i < count; i++) {
        struct brute_observation seen = {.kind = BRUTE_RAN};

        if (report->thread_count > 1 || walk->program->threads || walk->log_count == WALK_LOG ||
            brute_chance(walk->seed, 50))
            report_ran(walk, walk->visited, &seen);
        else
            report_trace(walk, &seen);
        if (seen.entry_count)
            report->observations[report->observation_count++] = seen;
    }
}

// A report of a walk. `facts`: which kinds of facts are told at all, by bit: paths, local calls,
// candidates, gaps, global calls, (nothing that was made), observations. False: no luck.
BRUTE_FUNCTION bool brute_report_make(const struct brute_program *program, unsigned facts,
                                      uint64_t *seed, struct brute_report *report)
{
    struct walk walk = {.program = program, .seed = seed};
    uint32_t others = program->threads ? brute_random(seed, 3) : 0;
    uint32_t gone = program->threads ? brute_random(seed, 2) : 0;

    *report = (struct brute_report){.is_true = true};
    if (program->early && brute_chance(seed, 60) &&
        !walk_run(&walk, brute_pick(seed, program->early), true))
        return false;
    for (uint32_t g = 0; g < gone; g++)
        if (!walk_run(&walk, brute_pick(seed, program->threads), true))
            return false;
    for (uint32_t t = 0; t < others + 1; t++) {
        walk_run(&walk, t == 0 ? 0 : brute_pick(seed, program->threads), false);
        report_thread(&walk, facts, &report->threads[report->thread_count++]);
    }
    report_run(&walk, facts, report);
    return true;
}

// Makes it say something else, which may be impossible.
BRUTE_FUNCTION void brute_report_spoil(const struct brute_program *program, uint64_t *seed,
                                       struct brute_report *report)
{
    uint32_t node = brute_random(seed, program->node_count), bit = 1u << node;
    struct brute_thread *thread = &report->threads[brute_random(seed, report->thread_count)];
    struct brute_frame *frame = &thread->frames[brute_random(seed, thread->frame_count)];

    report->is_true = false;
    switch (brute_random(seed, 5)) {
    case 0:
        report->sites ^= bit & brute_sites(program);
        report->sites_never &= ~report->sites;
        break;
    case 1:
        report->sites_never ^= bit & brute_sites(program);
        report->sites &= ~report->sites_never;
        break;
    case 2:
        if (frame->kind == BRUTE_FRAME_MODEL) {
            uint32_t own = brute_nodes_of(program, frame->function) & brute_sites(program);

            frame->calls ^= own & bit;
            frame->calls_never &= ~frame->calls;
        }
        break;
    case 3:
        if (frame == &thread->frames[thread->frame_count - 1] && frame->kind == BRUTE_FRAME_MODEL) {
            frame->at = 1u << brute_pick(seed, brute_nodes_of(program, frame->function));
            frame->to_end = false;
        }
        break;
    default:
        if (report->observation_count)
            report->observations[0].entries[0] = bit;
    }
}

// ---- Reports as JSON

static inline void json_list(struct strbuf *json, uint32_t set, uint32_t first)
{
    const char *separator = "";

    for (uint32_t n = 0; n < 32; n++)
        if (set >> n & 1) {
            strbuf_printf(json, "%s%u", separator, n - first);
            separator = ",";
        }
}

static inline void json_points(const struct brute_program *program, struct strbuf *json,
                               uint32_t set)
{
    const char *separator = "";

    for (uint32_t n = 0; n < program->node_count; n++)
        if (set >> n & 1) {
            uint32_t f = program->nodes[n].function;

            strbuf_printf(json, "%s\"0x1:%u:%u\"", separator, f, n - program->first[f]);
            separator = ",";
        }
}

static inline void json_truths(const struct brute_program *program, struct strbuf *json,
                               uint32_t nodes, uint32_t yes, uint32_t no)
{
    uint32_t sites = nodes & brute_sites(program), count = 0;
    char last = 0;

    for (uint32_t n = 0; n <= program->node_count; n++) {
        char truth = (char)(yes >> n & 1 ? 'y' : no >> n & 1 ? 'n' : '?');
        bool end = n == program->node_count;

        if (!end && !(sites >> n & 1))
            continue;
        if (count && (end || truth != last)) {
            strbuf_append_char(json, last);
            if (count > 1)
                strbuf_printf(json, "%u", count);
            count = 0;
        }
        last = truth;
        count++;
    }
}

static inline void json_steps(const struct brute_frame *frame, uint32_t first, uint32_t begin,
                              uint32_t end, struct strbuf *json)
{
    for (uint32_t i = begin; i < end; i++)
        strbuf_printf(json, "%s%u", i > begin ? " " : "", frame->steps[i] - first);
}

static inline void json_paths(const struct brute_program *program, const struct brute_frame *frame,
                              struct strbuf *json)
{
    uint32_t first = program->first[frame->function], count = frame->step_count;

    if (!count)
        return;
    strbuf_append(json, ",\"path\":\"");
    json_steps(frame, first, 0, count, json);
    strbuf_printf(json, "\",\"path_exact\":%s", frame->to_end ? "true" : "false");
    strbuf_printf(json, ",\"path_from_entry\":%s", frame->steps[0] == first ? "true" : "false");
}

static inline void json_frame(const struct brute_program *program,
                              const struct brute_thread *thread, uint32_t f, struct strbuf *json)
{
    const struct brute_frame *frame = &thread->frames[f];
    const char *const kinds[] = {"model", "foreign", "signal"};

    strbuf_printf(json, "  {\"kind\":\"%s\"", kinds[frame->kind]);
    if (frame->kind == BRUTE_FRAME_MODEL) {
        uint32_t own = brute_nodes_of(program, frame->function);

        strbuf_printf(json,
                      ",\"module\":\"0x1\",\"index\":%u,\"function\":\"f%u\",\"candidates\":[",
                      frame->function, frame->function);
        json_list(json, frame->at, program->first[frame->function]);
        strbuf_append(json, "]");
        if (f + 1 == thread->frame_count || thread->frames[f + 1].kind == BRUTE_FRAME_SIGNAL)
            strbuf_append(json, ",\"interrupted\":true");
        if (frame->gap)
            strbuf_append(json, ",\"gap\":true");
        if (frame->calls | frame->calls_never) {
            strbuf_append(json, ",\"calls\":\"");
            json_truths(program, json, own, frame->calls, frame->calls_never);
            strbuf_append(json, "\"");
        }
        json_paths(program, frame, json);
        strbuf_append(json, ",\"record\":\"valid\"");
    }
    strbuf_append(json, "}");
}

static inline void json_observation(const struct brute_program *program,
                                    const struct brute_observation *seen, struct strbuf *json)
{
    const char *const kinds[] = {"ran", "not-all", "trace", "trace", "trace"};
    const char *const reliabilities[] = {"unreliable", "reliable", "burst"};

    strbuf_printf(json, " {\"kind\":\"%s\",\"entries\":[", kinds[seen->kind]);
    for (uint32_t e = 0; e < seen->entry_count; e++) {
        strbuf_append(json, e ? ",[" : "[");
        json_points(program, json, seen->entries[e]);
        strbuf_append(json, "]");
    }
    strbuf_append(json, "]");
    if (seen->kind >= BRUTE_UNRELIABLE)
        strbuf_printf(json, ",\"reliability\":\"%s\"",
                      reliabilities[seen->kind - BRUTE_UNRELIABLE]);
    if (seen->kind > BRUTE_UNRELIABLE) {
        strbuf_append(json, ",\"alphabet\":[");
        json_points(program, json, seen->alphabet);
        strbuf_append(json, "]");
    }
    strbuf_append(json, "}");
}

BRUTE_FUNCTION void brute_report_json(const struct brute_program *program,
                                      const struct brute_report *report, struct strbuf *json)
{
    strbuf_append(json, "{\"schema\":\"evidence/2\",\"kind\":\"hand\",\"threads\":[\n");
    for (uint32_t t = 0; t < report->thread_count; t++) {
        const struct brute_thread *thread = &report->threads[t];

        strbuf_printf(json, "%s {\"tid\":%u,\"crashed\":%s,\"whole\":%s,\"frames\":[\n",
                      t ? ",\n" : "", t + 1, t ? "false" : "true",
                      thread->whole ? "true" : "false");
        for (uint32_t f = thread->frame_count; f-- > 0;) {
            json_frame(program, thread, f, json);
            strbuf_append(json, f ? ",\n" : "]}");
        }
    }
    strbuf_append(json, "],\n");
    if (brute_sites(program)) {
        strbuf_append(json, "\"coverage\":[{\"module\":\"0x1\",\"sites\":\"");
        json_truths(program, json, UINT32_MAX, report->sites, report->sites_never);
        strbuf_append(json, "\"}],\n");
    }
    strbuf_append(json, "\"observations\":[");
    for (uint32_t i = 0; i < report->observation_count; i++) {
        strbuf_append(json, i ? ",\n" : "\n");
        json_observation(program, &report->observations[i], json);
    }
    strbuf_append(json, "]}\n");
}

#endif
