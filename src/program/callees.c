// SPDX-License-Identifier: Apache-2.0
// The callee table: for every call site what it may enter, and what may be entered from it.
#include <stdlib.h>

#include "program/resolve.h"

struct site_sets {
    uint32_t callees, callbacks, flags;
};

// ---- The sets that many sites share

static void make_shared_sets(struct resolver *resolver)
{
    struct model *model = resolver->model;
    struct bitset set;

    resolver->taken_set = resolver_set_of_bits(resolver, &resolver->taken);
    bitset_init_copy(&set, &resolver->taken);
    bitset_union(&set, &resolver->modelless);
    resolver->any_set = resolver_set_of_bits(resolver, &set);
    for (uint32_t r = 0; r < resolver->root_count; r++)
        if (resolver->roots[r].reason == ROOT_CONSTRUCTOR ||
            resolver->roots[r].reason == ROOT_DESTRUCTOR)
            bitset_set(&set, resolver->roots[r].function.value);
    resolver->exit_set = resolver_set_of_bits(resolver, &set);
    bitset_clear_all(&set);
    for (uint32_t f = 0; f < model->function_count; f++)
        if (bitset_test(&resolver->modelless, f) &&
            library_is_replaceable(model->functions[f].name))
            bitset_set(&set, f);
    resolver->replaceable_set = resolver_set_of_bits(resolver, &set);
    bitset_deinit(&set);
}

// Functions whose address is known and which fit what is passed.
static uint32_t fitting_set(struct resolver *resolver, struct signature call)
{
    uint64_t key = (uint64_t)call.varargs << 24 | (uint64_t)call.integers << 16 |
                   (uint64_t)call.floats << 8 | call.memory;
    bool is_new;
    uint32_t *known = model_id_map_put_new(&resolver->fits, key, &is_new);

    if (!is_new)
        return *known;
    struct resolve_vec members = VEC_INIT;
    struct function_list taken = resolver_members(resolver, resolver->taken_set);
    for (uint32_t i = 0; i < taken.count; i++)
        if (signature_fits(call, resolver_signature(resolver, taken.data[i].value)))
            resolve_vec_push(&members, taken.data[i]);
    uint32_t set = resolver_set(resolver, &members);
    resolve_vec_deinit(&members);
    *model_id_map_put(&resolver->fits, key) = set;
    return set;
}

static uint32_t set_union(struct resolver *resolver, uint32_t a, uint32_t b)
{
    struct resolve_vec members = VEC_INIT;

    if (a == b || b == 0)
        return a;
    if (a == 0)
        return b;
    for (int i = 0; i < 2; i++) {
        struct function_list list = resolver_members(resolver, i ? b : a);
        resolve_vec_append(&members, list.data, list.count);
    }
    uint32_t set = resolver_set(resolver, &members);
    resolve_vec_deinit(&members);
    return set;
}

// ---- External functions

// What qsort and its like call: the functions given, where they are named; else any.
static uint32_t given_set(struct resolver *resolver, uint32_t m, const struct code_site *site,
                          uint32_t arguments)
{
    const struct code *code = resolver->model->modules[m].code;
    const struct insn *insn = &code->insns[site->insn];
    uint32_t set = resolver->replaceable_set;

    for (uint32_t i = 0; i < 8; i++) {
        if (!(arguments >> i & 1))
            continue;
        if (i >= code_call(code, insn)->argument_count)
            return resolver->any_set; // not called as it is declared
        struct operand argument = code_operand(code, insn, i);
        uint32_t base = resolver_base(code, argument);
        if (base != CODE_NONE) {
            const struct resolution *given = resolver_global(resolver, m, base);
            if (given->is_external || given->is_ifunc)
                return resolver->any_set;
            set = set_union(resolver, set, given->set);
        } else if (operand_kind(argument) != OPERAND_CONSTANT ||
                   code->constants[operand_index(argument)].kind != CONSTANT_NULL) {
            return resolver->any_set;
        }
    }
    return set;
}

static uint32_t library_flags(const struct library_function *library)
{
    uint32_t flags = 0;

    flags |= library->flags & LIBRARY_LONGJMP ? SITE_LONGJMP : 0;
    flags |= library->flags & LIBRARY_THREAD ? SITE_THREAD_START : 0;
    flags |= library->flags & LIBRARY_SIGNAL ? SITE_SIGNAL_SETUP : 0;
    flags |= library->flags & LIBRARY_AT_EXIT ? SITE_AT_EXIT : 0;
    flags |= library->flags & LIBRARY_EXITS ? SITE_EXITS : 0;
    return flags;
}

static void external_site(struct resolver *resolver, uint32_t m, const struct code_site *site,
                          const struct library_function *library, struct site_sets *sets)
{
    sets->flags |= SITE_EXTERNAL;
    if (!library) {
        sets->callbacks = resolver->any_set;
        sets->flags |= SITE_MAY_LONGJMP;
        return;
    }
    sets->flags |= library_flags(library);
    if (library->flags & (LIBRARY_EXITS | LIBRARY_LOADS))
        sets->callbacks = resolver->exit_set;
    else if (library->kind == LIBRARY_OPEN)
        sets->callbacks = resolver->any_set;
    else if (library->kind == LIBRARY_CALLBACK)
        sets->callbacks = given_set(resolver, m, site, library->callbacks);
    else if (library->kind == LIBRARY_CLOSED)
        sets->callbacks = resolver->hooks ? resolver->any_set : resolver->replaceable_set;
}

// ---- Sites

// Through a pointer: anything that fits, and any library function whose address may be at hand.
static void indirect_site(struct resolver *resolver, const struct code_site *site,
                          bool calls_library_back, struct site_sets *sets)
{
    sets->callees = fitting_set(resolver, site->signature);
    sets->callbacks = calls_library_back ? resolver->exit_set : resolver->replaceable_set;
    sets->flags |= SITE_EXTERNAL | (calls_library_back ? SITE_MAY_LONGJMP : 0);
}

static struct site_sets site_sets(struct resolver *resolver, uint32_t m,
                                  const struct code_site *site, bool calls_library_back)
{
    struct site_sets sets = {.flags = site->flags};

    if (site->callee == CODE_NONE) {
        indirect_site(resolver, site, calls_library_back, &sets);
        return sets;
    }
    const struct resolution *resolution = resolver_global(resolver, m, site->callee);
    sets.callees = resolution->set;
    if (resolution->is_ifunc) {
        sets.callees = set_union(resolver, sets.callees, fitting_set(resolver, site->signature));
        sets.flags |= SITE_IFUNC;
    }
    if (resolution->is_external)
        external_site(resolver, m, site, resolution->library, &sets);
    return sets;
}

// May a pointer of the program lead into library code that calls back?
static bool pointers_call_back(struct resolver *resolver)
{
    const struct model *model = resolver->model;

    if (resolver->foreign || resolver->hands_out || resolver->hooks)
        return true;
    for (uint32_t m = 0; m < model->module_count; m++) {
        const struct code *code = model->modules[m].code;
        for (uint32_t g = 0; code && g < code->globals_count; g++) {
            const struct global *global = &code->globals[g];
            if (global->kind == GLOBAL_VARIABLE || !(global->flags & GLOBAL_ADDRESS_TAKEN) ||
                global->flags & GLOBAL_INTRINSIC)
                continue;
            const struct resolution *resolution = resolver_global(resolver, m, g);
            if (resolution->is_external &&
                (!resolution->library || resolution->library->kind >= LIBRARY_CALLBACK ||
                 resolution->library->flags & LIBRARY_LONGJMP))
                return true;
        }
    }
    return false;
}

static void resolve_sites(struct resolver *resolver)
{
    struct model *model = resolver->model;
    struct callee_table *table = &model->callees;
    bool calls_library_back = pointers_call_back(resolver);

    table->callees_of_site = xcalloc(model->site_count + (size_t)1, sizeof(uint32_t));
    table->callbacks_of_site = xcalloc(model->site_count + (size_t)1, sizeof(uint32_t));
    for (uint32_t m = 0; m < model->module_count; m++) {
        const struct model_module *module = &model->modules[m];
        for (uint32_t s = 0; module->code && s < module->code->sites_count; s++) {
            struct site_sets sets =
                site_sets(resolver, m, &module->code->sites[s], calls_library_back);
            uint32_t site = module->first_site + s;
            table->callees_of_site[site] = sets.callees;
            table->callbacks_of_site[site] = sets.callbacks;
            model->sites[site].flags = sets.flags | (sets.callbacks ? SITE_CALLS_BACK : 0);
        }
    }
    table->set_count = (uint32_t)resolver->set_start.length - 1;
    table->set_start = index_vec_steal(&resolver->set_start);
    table->members = resolve_vec_steal(&resolver->members);
}

static void collect_landings(struct model *model)
{
    uint32_t count = 0;

    for (uint32_t s = 0; s < model->site_count; s++)
        count += (model->sites[s].flags & SITE_RETURNS_TWICE) != 0;
    model->landings = xmalloc_array(count + (size_t)1, sizeof(*model->landings));
    for (uint32_t s = 0; s < model->site_count; s++)
        if (model->sites[s].flags & SITE_RETURNS_TWICE)
            model->landings[model->landing_count++] = (struct site_id){s};
}

void model_resolve(struct model *model)
{
    struct resolver resolver;

    resolver_init(&resolver, model);
    resolver_collect(&resolver);
    resolver_roots(&resolver);
    make_shared_sets(&resolver);
    resolve_sites(&resolver);
    collect_landings(model);
    model->roots = resolver.roots;
    model->root_count = resolver.root_count;
    resolver.roots = NULL;
    resolver_deinit(&resolver);
}
