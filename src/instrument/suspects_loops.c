// SPDX-License-Identifier: Apache-2.0
/*
 * Control flow of one function by block number, and its loops. A header is a block that an edge
 * leads back to in a depth-first walk from the entry, or whose address is taken: every cycle has
 * one.
 */
#include "instrument/suspects.h"

// In instructions as the front end makes them, some three to one of the machine's.
enum { SMALL_LOOP_COST = 48, ONE_WAY_COST = 200 };

// Functions of the C library that come back without having run anything of the program.
static bool is_closed_library_function(const char *name)
{
    static const char *const names[] = {
        "__ctype_b_loc",
        "__ctype_tolower_loc",
        "__ctype_toupper_loc",
        "__errno_location",
        "abs",
        "atoi",
        "floor",
        "isalnum",
        "isalpha",
        "isdigit",
        "isspace",
        "memchr",
        "memcmp",
        "memcpy",
        "memmove",
        "memset",
        "strchr",
        "strcmp",
        "strcpy",
        "strlen",
        "strncmp",
        "strncpy",
        "strrchr",
        "tolower",
        "toupper",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static bool may_come_to_a_head(LLVMValueRef i)
{
    size_t length;

    if (!split_is_call(i))
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(i);
    return !LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee) ||
           !is_closed_library_function(LLVMGetValueName2(callee, &length));
}

static bool address_is_taken(LLVMBasicBlockRef block)
{
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
         use = LLVMGetNextUse(use))
        if (LLVMIsABlockAddress(LLVMGetUser(use)))
            return true;
    return false;
}

static void read_blocks(struct suspects_flow *flow, LLVMValueRef function)
{
    LLVMGetBasicBlocks(function, flow->blocks);
    for (uint32_t b = 0; b < flow->block_count; b++) {
        *suspects_index_put(&flow->index, (uintptr_t)flow->blocks[b]) = b;
        flow->header[b] = flow->addressed[b] = address_is_taken(flow->blocks[b]);
        for (LLVMValueRef i = LLVMGetFirstInstruction(flow->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            flow->calls[b] |= may_come_to_a_head(i);
            flow->cost[b] += !LLVMIsAIntrinsicInst(i);
        }
    }
}

static void read_edges(struct suspects_flow *flow)
{
    uint32_t edges = 0, at = 0;

    for (uint32_t b = 0; b < flow->block_count; b++)
        edges += LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(flow->blocks[b]));
    flow->successor = xmalloc_array(edges + 1u, sizeof(uint32_t));
    flow->predecessor = xmalloc_array(edges + 1u, sizeof(uint32_t));
    for (uint32_t b = 0; b < flow->block_count; b++) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(flow->blocks[b]);

        flow->successor_start[b] = at;
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
            uint32_t to =
                *suspects_index_get(&flow->index, (uintptr_t)LLVMGetSuccessor(terminator, s));
            flow->successor[at++] = to;
            flow->predecessor_start[to + 1]++;
        }
    }
    flow->successor_start[flow->block_count] = at;
    for (uint32_t b = 0; b < flow->block_count; b++)
        flow->predecessor_start[b + 1] += flow->predecessor_start[b];
    uint32_t *fill = xmalloc_array(flow->block_count + 1u, sizeof(*fill));
    memcpy(fill, flow->predecessor_start, flow->block_count * sizeof(*fill));
    for (uint32_t b = 0; b < flow->block_count; b++)
        for (uint32_t e = flow->successor_start[b]; e < flow->successor_start[b + 1]; e++)
            flow->predecessor[fill[flow->successor[e]]++] = b;
    free(fill);
}

// Edges back to blocks that the walk is still in.
static void find_headers(struct suspects_flow *flow)
{
    enum { UNSEEN, OPEN, DONE };
    uint8_t *state = xcalloc(flow->block_count, 1);
    uint32_t *stack = xmalloc_array(flow->block_count, sizeof(*stack));
    uint32_t *next = xmalloc_array(flow->block_count, sizeof(*next)), depth = 0;

    stack[depth++] = 0;
    state[0] = OPEN;
    memcpy(next, flow->successor_start, flow->block_count * sizeof(*next));
    while (depth) {
        uint32_t b = stack[depth - 1];

        if (next[b] == flow->successor_start[b + 1]) {
            state[b] = DONE;
            flow->reachable[b] = 1;
            depth--;
            continue;
        }
        uint32_t to = flow->successor[next[b]++];
        if (state[to] == OPEN)
            flow->header[to] = 1;
        if (state[to] != UNSEEN)
            continue;
        state[to] = OPEN;
        stack[depth++] = to;
    }
    free(state);
    free(stack);
    free(next);
}

void suspects_flow_init(struct suspects_flow *flow, LLVMValueRef function)
{
    uint32_t count = LLVMCountBasicBlocks(function);

    *flow = (struct suspects_flow){.block_count = count, .index = MAP_INIT};
    flow->blocks = xmalloc_array(count, sizeof(LLVMBasicBlockRef));
    flow->successor_start = xcalloc(count + 1u, sizeof(uint32_t));
    flow->predecessor_start = xcalloc(count + 1u, sizeof(uint32_t));
    flow->reachable = xcalloc(count, 1);
    flow->header = xcalloc(count, 1);
    flow->addressed = xcalloc(count, 1);
    flow->calls = xcalloc(count, 1);
    flow->cost = xcalloc(count, sizeof(uint32_t));
    read_blocks(flow, function);
    read_edges(flow);
    find_headers(flow);
}

void suspects_flow_deinit(struct suspects_flow *flow)
{
    suspects_index_deinit(&flow->index);
    free(flow->blocks);
    free(flow->successor_start);
    free(flow->successor);
    free(flow->predecessor_start);
    free(flow->predecessor);
    free(flow->reachable);
    free(flow->header);
    free(flow->addressed);
    free(flow->calls);
    free(flow->cost);
}

// ---- Loops

// Does a way lead from one block to another that does not pass `stop`?
static bool reaches(const struct suspects_flow *flow, uint32_t from, uint32_t target, uint32_t stop)
{
    uint8_t *seen = xcalloc(flow->block_count, 1);
    uint32_t *stack = xmalloc_array(flow->block_count, sizeof(*stack)), depth = 0;
    bool found = from == target;

    stack[depth++] = from;
    seen[from] = 1;
    while (depth && !found) {
        uint32_t b = stack[--depth];

        for (uint32_t e = flow->successor_start[b]; e < flow->successor_start[b + 1]; e++) {
            uint32_t to = flow->successor[e];
            if (to == stop || seen[to])
                continue;
            found |= to == target;
            seen[to] = 1;
            stack[depth++] = to;
        }
    }
    free(seen);
    free(stack);
    return found;
}

static bool is_member(const struct suspects_loop *loop, uint32_t block)
{
    for (uint32_t m = 0; m < loop->count; m++)
        if (loop->members[m] == block)
            return true;
    return false;
}

// Is the loop entered through its header alone?
static bool is_natural(const struct suspects_loop *loop, const struct suspects_flow *flow,
                       const uint8_t *member)
{
    for (uint32_t m = 1; m < loop->count; m++) {
        uint32_t b = loop->members[m];

        if (b == 0)
            return false;
        for (uint32_t e = flow->predecessor_start[b]; e < flow->predecessor_start[b + 1]; e++)
            if (flow->reachable[flow->predecessor[e]] && !member[flow->predecessor[e]])
                return false;
    }
    return true;
}

// Predecessors of the header that it dominates start the loop; with the header taken out they
// cannot be reached from the entry.
bool suspects_loop_init(struct suspects_loop *loop, const struct suspects_flow *flow,
                        uint32_t header)
{
    uint8_t *member = xcalloc(flow->block_count, 1);

    *loop = (struct suspects_loop){.header = header, .innermost = true};
    loop->members = xmalloc_array(flow->block_count, sizeof(uint32_t));
    loop->members[loop->count++] = header;
    member[header] = 1;
    for (uint32_t e = flow->predecessor_start[header]; e < flow->predecessor_start[header + 1];
         e++) {
        uint32_t b = flow->predecessor[e];

        if (flow->reachable[b] && !member[b] && header != 0 && !reaches(flow, 0, b, header)) {
            member[b] = 1;
            loop->members[loop->count++] = b;
        }
    }
    for (uint32_t m = 1; m < loop->count; m++) {
        uint32_t b = loop->members[m];

        for (uint32_t e = flow->predecessor_start[b]; e < flow->predecessor_start[b + 1]; e++)
            if (flow->reachable[flow->predecessor[e]] && !member[flow->predecessor[e]]) {
                member[flow->predecessor[e]] = 1;
                loop->members[loop->count++] = flow->predecessor[e];
            }
    }
    for (uint32_t m = 0; m < loop->count; m++) {
        loop->calls |= flow->calls[loop->members[m]];
        loop->innermost &= m == 0 || !flow->header[loop->members[m]];
    }
    bool itself = false; // the header may be its own latch
    for (uint32_t e = flow->successor_start[header]; e < flow->successor_start[header + 1]; e++)
        itself |= flow->successor[e] == header;
    bool natural = (loop->count > 1 || itself) && is_natural(loop, flow, member);
    free(member);
    if (!natural)
        suspects_loop_deinit(loop);
    return natural;
}

void suspects_loop_deinit(struct suspects_loop *loop)
{
    free(loop->members);
    loop->members = NULL;
}

bool suspects_loop_is_small(const struct suspects_loop *loop, const struct suspects_flow *flow)
{
    uint32_t cost = 0;
    bool one_way = true; // whatever branches in it leaves it

    if (!loop->innermost || loop->calls || flow->addressed[loop->header])
        return false;
    for (uint32_t m = 0; m < loop->count; m++) {
        uint32_t b = loop->members[m];
        bool leaves = false;

        cost += flow->cost[b];
        for (uint32_t e = flow->successor_start[b]; e < flow->successor_start[b + 1]; e++)
            leaves |= !is_member(loop, flow->successor[e]);
        one_way &= leaves || flow->successor_start[b + 1] - flow->successor_start[b] == 1;
    }
    return cost <= (one_way ? ONE_WAY_COST : SMALL_LOOP_COST);
}
