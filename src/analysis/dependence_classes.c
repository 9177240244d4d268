// SPDX-License-Identifier: Apache-2.0
/*
 * Classes of cells that no instruction tells apart. Every set of cells that some instruction reads,
 * writes or certainly writes is kept once; two cells are in one class when they are in the same of
 * these sets. That is decided by a hash of the sets a cell is in: should two hashes meet, classes
 * become coarser and nothing becomes wrong (a class is only ever killed by a set that has all of
 * its cells).
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/dependence_internal.h"
#include "common/alloc.h"

static uint64_t cells_hash(struct cell_set set)
{
    uint64_t hash = set.count;

    for (uint32_t i = 0; i < set.count; i++)
        hash = hash_mix(hash + set.data[i].value + UINT64_C(0x9e3779b97f4a7c15));
    return hash;
}

static bool cells_equal(struct cell_set a, struct cell_set b)
{
    return a.count == b.count && memcmp(a.data, b.data, a.count * sizeof(*a.data)) == 0;
}

// The same memory is the same set: saves hashing it again.
static uint64_t borrowed_hash(struct cell_set set)
{
    return hash_mix((uint64_t)(uintptr_t)set.data ^ (uint64_t)set.count << 48);
}

static bool borrowed_equal(struct cell_set a, struct cell_set b)
{
    return a.data == b.data && a.count == b.count;
}

MAP_DEFINE(cells_map, struct cell_set, uint32_t, cells_hash, cells_equal);
MAP_DEFINE(borrowed_map, struct cell_set, uint32_t, borrowed_hash, borrowed_equal);
MAP_DEFINE_U64(signature_map, uint32_t);
VEC_DEFINE(cell_vec, struct cell_id);
VEC_DEFINE(class_vec, struct class_id);

struct triple_key {
    uint32_t reads, writes, certain;
};
static uint64_t triple_hash(struct triple_key key)
{
    return hash_mix(key.reads ^ hash_mix(key.writes ^ hash_mix(key.certain)));
}
static bool triple_equal(struct triple_key a, struct triple_key b)
{
    return a.reads == b.reads && a.writes == b.writes && a.certain == b.certain;
}
MAP_DEFINE(triple_map, struct triple_key, uint32_t, triple_hash, triple_equal);

struct builder {
    struct dependence *dependence;
    struct classes *classes;
    struct bitset *stays; // by module
    struct cells_map known;
    struct borrowed_map borrowed;
    struct triple_map triples;
    struct cell_vec cells;   // scratch
    struct cell_vec escaped; // cells that the world's stands for, sorted
};

// ---- Sets

static void find_escaped(struct builder *builder)
{
    const struct points_to *points_to = builder->dependence->points_to;

    for (uint32_t c = 0; c < points_to_cell_count(points_to); c++)
        if (points_to_object(points_to, points_to_cell(points_to, (struct cell_id){c})->object)
                ->escapes)
            cell_vec_push(&builder->escaped, (struct cell_id){c});
}

// A set with the world's cell has all that escapes, which is not listed. Into the scratch.
static struct cell_set with_escaped(struct builder *builder, struct cell_set set)
{
    struct cell_vec *cells = &builder->cells;
    uint32_t i = 0;

    if (set.data[0].value != POINTS_TO_WORLD_CELL)
        return set;
    cell_vec_clear(cells);
    for (size_t e = 0; e < builder->escaped.length; e++) {
        struct cell_id cell = builder->escaped.data[e];
        while (i < set.count && set.data[i].value < cell.value)
            cell_vec_push(cells, set.data[i++]);
        i += i < set.count && set.data[i].value == cell.value;
        cell_vec_push(cells, cell);
    }
    cell_vec_append(cells, set.data + i, set.count - i);
    return (struct cell_set){cells->data, (uint32_t)cells->length, false};
}

static uint32_t intern(struct builder *builder, struct cell_set set)
{
    if (set.is_anything)
        return SET_ANYTHING;
    if (set.count == 0)
        return SET_EMPTY;
    const uint32_t *found = borrowed_map_get(&builder->borrowed, set);
    if (found)
        return *found;
    struct cell_set all = with_escaped(builder, set);
    const uint32_t *known = cells_map_get(&builder->known, all);
    uint32_t id = known ? *known : (uint32_t)builder->classes->sets.length;
    if (!known) {
        if (all.data == builder->cells.data)
            all.data =
                arena_memdup(&builder->dependence->arena, all.data, all.count * sizeof(*all.data));
        *cells_map_put(&builder->known, all) = id;
        access_set_vec_push(&builder->classes->sets, (struct access_set){.cells = all});
    }
    *borrowed_map_put(&builder->borrowed, set) = id;
    return id;
}

// Which cells a store or a read-modify-write to a local that stays covers: points-to calls these
// certain only where the function is active once.
static struct cell_set covered(struct builder *builder, uint32_t m, uint32_t i,
                               struct cell_set writes)
{
    const struct points_to *points_to = builder->dependence->points_to;
    const struct code *code = builder->dependence->model->modules[m].code;
    const struct insn *insn = &code->insns[i];
    bool is_store = insn->opcode == INSN_STORE;
    uint32_t local;
    int64_t offset;

    cell_vec_clear(&builder->cells);
    if ((!is_store && insn->opcode != INSN_RMW) ||
        !locals_address(code, code_operand(code, insn, is_store), &local, &offset) || offset < 0 ||
        !bitset_test(&builder->stays[m], local))
        return (struct cell_set){0};
    uint64_t start = (uint64_t)offset;
    uint64_t end = start + code_type(code, (struct type_id){insn->detail})->store;
    for (uint32_t c = 0; c < writes.count; c++) {
        const struct cell *cell = points_to_cell(points_to, writes.data[c]);
        const struct object *object = points_to_object(points_to, cell->object);
        if (object->kind == OBJECT_LOCAL && object->module == m && object->index == local &&
            cell->stride == 0 && cell->length && cell->offset >= start && cell->offset <= end &&
            cell->length <= end - cell->offset)
            cell_vec_push(&builder->cells, writes.data[c]);
    }
    return (struct cell_set){builder->cells.data, (uint32_t)builder->cells.length, false};
}

static uint32_t intern_certain(struct builder *builder, uint32_t m, uint32_t i,
                               const struct accesses *accesses)
{
    struct cell_set certain = accesses->certain;

    if (certain.count == 0 && !accesses->writes.is_anything) {
        struct cell_set own = covered(builder, m, i, accesses->writes);
        const uint32_t *known = own.count ? cells_map_get(&builder->known, own) : NULL;
        if (known)
            certain = builder->classes->sets.data[*known].cells;
        else if (own.count)
            certain = (struct cell_set){
                arena_memdup(&builder->dependence->arena, own.data, own.count * sizeof(*own.data)),
                own.count, false};
    }
    if (certain.is_anything)
        return SET_EMPTY;
    uint32_t set = intern(builder, certain);
    builder->classes->sets.data[set].is_certain = true;
    return set;
}

// Where points-to is not complete every instruction may do anything, as far as it knows.
static bool may_access(enum insn_opcode opcode)
{
    switch (opcode) {
    case INSN_LOAD:
    case INSN_STORE:
    case INSN_CMPXCHG:
    case INSN_RMW:
    case INSN_VAARG:
    case INSN_CALL:
    case INSN_INVOKE:
    case INSN_CALLBR:
        return true;
    default:
        return false;
    }
}

static void add_insn(struct builder *builder, uint32_t m, uint32_t i)
{
    const struct dependence *dependence = builder->dependence;
    uint8_t opcode = dependence->model->modules[m].code->insns[i].opcode;
    bool reads = opcode != INSN_STORE, writes = opcode != INSN_LOAD;

    if (!may_access(opcode))
        return;
    struct accesses accesses = points_to_accesses(dependence->points_to, (struct module_id){m}, i);
    struct triple_key triple = {0};
    if (reads)
        triple.reads = intern(builder, accesses.reads);
    if (writes) {
        triple.writes = intern(builder, accesses.writes);
        if (opcode != INSN_INVOKE && opcode != INSN_CALLBR) // these may go on before their end
            triple.certain = intern_certain(builder, m, i, &accesses);
    }
    if (triple.reads == SET_EMPTY && triple.writes == SET_EMPTY)
        return;
    uint32_t *known = triple_map_put(&builder->triples, triple);
    if (*known == 0) {
        *known = (uint32_t)builder->classes->triples.length;
        access_triple_vec_push(&builder->classes->triples,
                               (struct access_triple){triple.reads, triple.writes, triple.certain});
    }
    builder->classes->triple_of_insn[dependence->insn_start[m] + i] = *known;
}

// ---- Classes

// What a local is owned by, MODEL_NONE for any other object. *ret_stays: its address does.
static uint32_t owner_of(const struct builder *builder, const struct object *object,
                         bool *ret_stays)
{
    const struct model *model = builder->dependence->model;

    *ret_stays = false;
    if (object->kind != OBJECT_LOCAL)
        return MODEL_NONE;
    const struct model_module *module = &model->modules[object->module];
    const struct insn *alloca = &module->code->insns[object->index];
    *ret_stays = bitset_test(&builder->stays[object->module], object->index);
    return module->first_function + module->code->nodes[alloca->node].function;
}

static void add_to_class(const struct builder *builder, struct memory_class *class, uint32_t cell)
{
    const struct points_to *points_to = builder->dependence->points_to;
    const struct object *object =
        points_to_object(points_to, points_to_cell(points_to, (struct cell_id){cell})->object);
    bool stays;
    uint32_t owner = owner_of(builder, object, &stays);

    if (class->cell_count == 0)
        *class = (struct memory_class){{cell}, 0, owner, true, true, true};
    class->cell_count++;
    if (class->owner != owner)
        class->owner = MODEL_NONE;
    class->is_killable &= object->is_single || stays;
    class->stays &= stays;
    class->dies &= object->is_single || stays;
    if (class->owner == MODEL_NONE)
        class->dies = false;
}

// By cell: a hash of the sets that it is in; 0: none.
static uint64_t *signatures(const struct builder *builder, uint32_t cell_count)
{
    uint64_t *signature = xcalloc(cell_count + 1u, sizeof(*signature));

    for (uint32_t s = SET_ANYTHING + 1; s < builder->classes->sets.length; s++) {
        struct cell_set cells = builder->classes->sets.data[s].cells;
        for (uint32_t i = 0; i < cells.count; i++) {
            uint64_t *at = &signature[cells.data[i].value];
            *at += hash_mix(s + UINT64_C(0x9e3779b97f4a7c15));
            *at += *at == 0;
        }
    }
    return signature;
}

static void make_classes(struct builder *builder)
{
    struct classes *classes = builder->classes;
    uint32_t count = points_to_cell_count(builder->dependence->points_to);
    uint64_t *signature = signatures(builder, count);
    struct signature_map map = MAP_INIT;

    classes->class_of_cell = xmalloc_array(count + 1u, sizeof(uint32_t));
    memory_class_vec_push(&classes->list,
                          (struct memory_class){.cell_count = 1, .owner = MODEL_NONE});
    for (uint32_t c = 0; c < count; c++) {
        classes->class_of_cell[c] = MODEL_NONE;
        if (signature[c] == 0)
            continue;
        uint32_t *class = signature_map_put(&map, signature[c]);
        if (*class == 0) {
            *class = (uint32_t)classes->list.length;
            memory_class_vec_push(&classes->list, (struct memory_class){0});
        }
        classes->class_of_cell[c] = *class;
        add_to_class(builder, &classes->list.data[*class], c);
    }
    signature_map_deinit(&map);
    free(signature);
}

// ---- Sets of classes

static int compare_classes(const void *a, const void *b)
{
    const struct class_id *x = a, *y = b;

    return x->value < y->value ? -1 : x->value > y->value;
}

static struct class_set keep_classes(struct arena *arena, const struct class_vec *ids)
{
    return (struct class_set){
        ids->length ? arena_memdup(arena, ids->data, ids->length * sizeof(*ids->data)) : NULL,
        (uint32_t)ids->length};
}

// The classes of a set, each once. `counts`: by class, how many of its cells are in the set.
static void translate(struct builder *builder, struct access_set *set, struct class_vec *ids,
                      uint32_t *counts)
{
    class_vec_clear(ids);
    for (uint32_t i = 0; i < set->cells.count; i++) {
        uint32_t class = builder->classes->class_of_cell[set->cells.data[i].value];
        if (counts[class]++ == 0)
            class_vec_push(ids, (struct class_id){class});
    }
    if (ids->length)
        qsort(ids->data, ids->length, sizeof(*ids->data), compare_classes);
    set->classes = keep_classes(&builder->dependence->arena, ids);
}

static void make_class_sets(struct builder *builder)
{
    struct classes *classes = builder->classes;
    struct class_vec ids = VEC_INIT;
    uint32_t *counts = xcalloc(classes->list.length, sizeof(*counts));
    static const struct class_id anything = {CLASS_ANYTHING};

    classes->sets.data[SET_ANYTHING].classes = (struct class_set){&anything, 1};
    for (uint32_t s = SET_ANYTHING + 1; s < classes->sets.length; s++) {
        struct access_set *set = &classes->sets.data[s];
        translate(builder, set, &ids, counts);
        size_t kept = 0;
        for (size_t i = 0; i < ids.length; i++) {
            const struct memory_class *class = &classes->list.data[ids.data[i].value];
            if (set->is_certain && class->is_killable &&
                counts[ids.data[i].value] == class->cell_count)
                ids.data[kept++] = ids.data[i];
            counts[set->classes.data[i].value] = 0;
        }
        ids.length = kept;
        set->killed = keep_classes(&builder->dependence->arena, &ids);
    }
    class_vec_deinit(&ids);
    free(counts);
}

// ---- All of it

void classes_build(struct dependence *dependence)
{
    const struct model *model = dependence->model;
    struct builder builder = {
        .dependence = dependence, .classes = &dependence->classes, .stays = locals_find(model)};

    dependence->classes.triple_of_insn =
        xcalloc(dependence->insn_start[model->module_count] + 1u, sizeof(uint32_t));
    find_escaped(&builder);
    access_set_vec_resize(&builder.classes->sets, 2);
    access_triple_vec_resize(&builder.classes->triples, 1);
    for (uint32_t m = 0; m < model->module_count; m++)
        for (uint32_t i = 0; model->modules[m].code && i < model->modules[m].code->insns_count; i++)
            add_insn(&builder, m, i);
    make_classes(&builder);
    make_class_sets(&builder);

    for (uint32_t m = 0; m < model->module_count; m++)
        bitset_deinit(&builder.stays[m]);
    free(builder.stays);
    cells_map_deinit(&builder.known);
    borrowed_map_deinit(&builder.borrowed);
    triple_map_deinit(&builder.triples);
    cell_vec_deinit(&builder.cells);
    cell_vec_deinit(&builder.escaped);
}

void classes_deinit(struct classes *classes)
{
    access_set_vec_deinit(&classes->sets);
    access_triple_vec_deinit(&classes->triples);
    memory_class_vec_deinit(&classes->list);
    free(classes->triple_of_insn);
    free(classes->class_of_cell);
}
