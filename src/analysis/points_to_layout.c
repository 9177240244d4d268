// SPDX-License-Identifier: Apache-2.0
// Which offsets of an object are told apart. See points_to_internal.h.
#include "analysis/points_to_internal.h"

#define MOST_REGIONS 256u
#define MOST_SHIFT   (INT64_C(1) << 40)

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t add_to_end(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static const struct region *child_at(const struct region *region, uint64_t offset)
{
    const struct region *child = region->child;

    while (child && child->hi <= offset)
        child = child->sibling;
    return child && child->lo <= offset ? child : NULL;
}

uint64_t layout_normalise(const struct layout *layout, uint64_t offset)
{
    const struct region *region = &layout->root;
    uint64_t base = 0;

    while (region) {
        if (region->stride)
            offset %= region->stride;
        region = child_at(region, offset);
        if (region) {
            base += region->lo;
            offset -= region->lo;
        }
    }
    return base + offset;
}

bool layout_is_one(const struct layout *layout)
{
    return layout->root.stride == 1;
}

// ---- Folding

static void fold_within(struct layout *layout, struct arena *arena, struct region *region,
                        uint64_t lo, uint64_t hi, uint64_t stride);

// Puts a region and all below it back, at an offset of the region's element.
static void put_back(struct layout *layout, struct arena *arena, struct region *region,
                     const struct region *old, uint64_t base)
{
    fold_within(layout, arena, region, base + old->lo, add_to_end(old->hi, base), old->stride);
    for (const struct region *child = old->child; child; child = child->sibling)
        put_back(layout, arena, region, child, base + old->lo);
}

static void coarsen(struct layout *layout, struct arena *arena, struct region *region,
                    uint64_t stride)
{
    const struct region *child = region->child;

    if (stride == region->stride)
        return;
    region->stride = stride;
    region->child = NULL;
    for (; child; child = child->sibling)
        put_back(layout, arena, region, child, 0);
}

static uint64_t gcd_below(const struct region *region, uint64_t value)
{
    value = gcd(value, region->stride);
    for (const struct region *child = region->child; child; child = child->sibling)
        value = gcd(gcd_below(child, value), child->lo);
    return value;
}

static void insert_child(struct region *region, struct region *child)
{
    struct region **link = &region->child;

    while (*link && (*link)->lo < child->lo)
        link = &(*link)->sibling;
    child->sibling = *link;
    *link = child;
}

// Takes out the children that the bytes touch. Those that lie within go to *ret_inner; where one
// lies across, the bytes and the stride are widened to hold both.
static void take_overlapping(struct region *region, uint64_t *lo, uint64_t *hi, uint64_t *stride,
                             struct region **ret_inner)
{
    bool again = true;

    *ret_inner = NULL;
    while (again) {
        again = false;
        for (struct region **link = &region->child; *link && !again;) {
            struct region *child = *link;
            if (child->hi <= *lo || child->lo >= *hi) {
                link = &child->sibling;
                continue;
            }
            *link = child->sibling;
            if (child->lo < *lo || child->hi > *hi) {
                uint64_t apart = child->lo > *lo ? child->lo - *lo : *lo - child->lo;
                *stride = gcd(gcd_below(child, *stride), apart);
                *lo = child->lo < *lo ? child->lo : *lo;
                *hi = child->hi > *hi ? child->hi : *hi;
                again = true;
            } else {
                child->sibling = *ret_inner;
                *ret_inner = child;
            }
        }
    }
}

// Bytes lo .. hi of an element of the region become an array.
static void fold_within(struct layout *layout, struct arena *arena, struct region *region,
                        uint64_t lo, uint64_t hi, uint64_t stride)
{
    if (hi - lo <= stride)
        return;
    if (region->stride) {
        uint64_t length = hi - lo;
        lo %= region->stride;
        if (length > region->stride - lo) {
            coarsen(layout, arena, region, gcd(region->stride, stride));
            return;
        }
        hi = lo + length;
    }
    struct region *holder = (struct region *)child_at(region, lo);
    if (holder && holder->hi >= hi) {
        fold_within(layout, arena, holder, lo - holder->lo, hi - holder->lo, stride);
        return;
    }
    struct region *inner;
    take_overlapping(region, &lo, &hi, &stride, &inner);
    struct region *fresh = arena_alloc_one(arena, struct region);
    *fresh = (struct region){.lo = lo, .hi = hi, .stride = stride};
    insert_child(region, fresh);
    layout->count++;
    while (inner) {
        struct region *next = inner->sibling;
        inner->lo -= lo;
        inner->hi -= lo;
        put_back(layout, arena, fresh, inner, 0);
        inner = next;
    }
}

void layout_fold(struct layout *layout, struct arena *arena, uint64_t lo, uint64_t hi,
                 uint64_t stride)
{
    struct region *root = &layout->root;

    if (layout->count > MOST_REGIONS)
        lo = 0, hi = UINT64_MAX, stride = 1;
    if (lo == 0 && hi == UINT64_MAX)
        coarsen(layout, arena, root, gcd(root->stride, stride));
    else
        fold_within(layout, arena, root, lo, hi, stride);
}

static void merge_below(struct layout *layout, struct arena *arena, const struct region *region,
                        uint64_t base)
{
    for (const struct region *child = region->child; child; child = child->sibling) {
        layout_fold(layout, arena, base + child->lo, add_to_end(child->hi, base), child->stride);
        merge_below(layout, arena, child, base + child->lo);
    }
}

// As coarse as both.
void layout_merge(struct layout *layout, struct arena *arena, const struct layout *other)
{
    if (other->root.stride)
        layout_fold(layout, arena, 0, UINT64_MAX, other->root.stride);
    merge_below(layout, arena, &other->root, 0);
}

bool layout_would_fold(const struct layout *layout, uint64_t lo, uint64_t hi, uint64_t stride)
{
    const struct region *region = &layout->root;

    if (lo == 0 && hi == UINT64_MAX)
        return gcd(region->stride, stride) != region->stride;
    while (hi - lo > stride) {
        if (region->stride) {
            uint64_t length = hi - lo;
            lo %= region->stride;
            if (length > region->stride - lo)
                return gcd(region->stride, stride) != region->stride;
            hi = lo + length;
        }
        region = child_at(region, lo);
        if (!region || region->hi < hi)
            return true;
        lo -= region->lo;
        hi -= region->lo;
    }
    return false;
}

void layout_add_type(struct layout *layout, struct arena *arena, const struct code *code,
                     struct type_id id, uint64_t offset)
{
    const struct type *type = code_type(code, id);

    if (layout->count > MOST_REGIONS)
        return;
    if ((type->kind == TYPE_ARRAY || type->kind == TYPE_VECTOR) && type->count > 0) {
        struct type_id element = code_type_member(code, id, 0);
        uint64_t stride = code_type(code, element)->size;
        if (stride == 0)
            return;
        if (type->count > 1)
            layout_fold(layout, arena, offset, offset + stride * type->count, stride);
        layout_add_type(layout, arena, code, element, offset);
    }
    for (uint32_t i = 0; type->kind == TYPE_STRUCT && i < type->member_count; i++) {
        const struct type_member *member = &code->type_members[type->first_member + i];
        layout_add_type(layout, arena, code, member->type, offset + member->offset);
    }
}

// ---- Moving

// The regions that hold an offset, from the root on, with the offset of each one's element.
#define MOST_DEPTH 16u
struct chain {
    const struct region *regions[MOST_DEPTH];
    uint64_t bases[MOST_DEPTH]; // of the element, in normalised offsets
    uint32_t count;
    uint64_t rest; // within the innermost element
};

static void chain_init(struct chain *chain, const struct layout *layout, uint64_t offset)
{
    const struct region *region = &layout->root;
    uint64_t base = 0;

    chain->count = 0;
    while (region && chain->count < MOST_DEPTH) {
        if (region->stride)
            offset %= region->stride;
        chain->regions[chain->count] = region;
        chain->bases[chain->count++] = base;
        chain->rest = offset;
        region = child_at(region, offset);
        if (region) {
            base += region->lo;
            offset -= region->lo;
        }
    }
}

static void offset_push(struct offset_list *list, uint64_t offset)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->data[i] == offset)
            return;
    if (list->count == sizeof(list->data) / sizeof(*list->data))
        list->anywhere = true;
    else
        list->data[list->count++] = offset;
}

/*
 * From an element of an array. A pointer that moves by whole elements stays in its array, unless it
 * moves by more than the array: then it was one to the struct that begins there, at element 0.
 * Otherwise it may be in another element, or before the first, or behind the last. False: it is not
 * outside; *at becomes where it is in the element around.
 */
static bool shift_out(const struct layout *layout, const struct region *region, uint64_t base,
                      int64_t delta, int64_t *at, struct offset_list *ret)
{
    int64_t stride = (int64_t)region->stride, within = *at % stride;
    uint64_t length = region->hi - region->lo;
    int64_t all = length > INT64_MAX ? INT64_MAX : (int64_t)length;

    if (*at >= all) {
        *at += (int64_t)region->lo;
        return true;
    }
    if (*at >= stride || *at >= stride - all)
        offset_push(ret, layout_normalise(
                             layout, base + (uint64_t)(within < 0 ? within + stride : within)));
    if ((delta % stride == 0 && delta >= -stride) || (*at >= 0 && length > INT64_MAX))
        return false;
    *at += (int64_t)region->lo + (*at >= 0 ? all - stride : 0);
    return true;
}

void layout_shift(const struct layout *layout, uint64_t offset, int64_t delta,
                  struct offset_list *ret)
{
    struct chain chain;

    if (delta > MOST_SHIFT || delta < -MOST_SHIFT) { // a number rather than a distance
        ret->anywhere = true;
        return;
    }
    chain_init(&chain, layout, offset);
    int64_t at = (int64_t)chain.rest + delta;
    for (uint32_t i = chain.count; i-- > 0;) {
        const struct region *region = chain.regions[i];
        int64_t stride = (int64_t)region->stride;
        if (stride == 0 ? at >= 0 : at >= 0 && at < stride) {
            offset_push(ret, layout_normalise(layout, chain.bases[i] + (uint64_t)at));
            return;
        }
        if (i == 0 && stride) { // the object is the array
            int64_t within = at % stride;
            within = within < 0 ? within + stride : within;
            offset_push(ret, layout_normalise(layout, (uint64_t)within));
        }
        if (i == 0 || !shift_out(layout, region, chain.bases[i], delta, &at, ret))
            return;
    }
}

// Offsets congruent to `offset` modulo stride, within `size` bytes from base on.
static bool enumerate(const struct layout *layout, uint64_t base, uint64_t offset, uint64_t stride,
                      uint64_t size, struct offset_list *ret)
{
    if (size / stride > sizeof(ret->data) / sizeof(*ret->data))
        return false;
    for (uint64_t at = offset % stride; at < size; at += stride)
        offset_push(ret, layout_normalise(layout, base + at));
    return true;
}

void layout_walk(const struct layout *layout, uint64_t size, uint64_t offset, uint64_t stride,
                 struct offset_list *ret)
{
    struct chain chain;

    chain_init(&chain, layout, offset);
    offset = layout_normalise(layout, offset);
    offset_push(ret, offset);
    // Steps that are as large as an array lead from one struct around it to the next.
    while (chain.count > 1 &&
           stride >= chain.regions[chain.count - 1]->hi - chain.regions[chain.count - 1]->lo)
        chain.count--;
    const struct region *region = chain.regions[chain.count - 1];
    uint64_t base = chain.bases[chain.count - 1];
    if (region->stride) {
        uint64_t step = gcd(region->stride, stride);
        if (step == region->stride ||
            enumerate(layout, base, offset - base, step, region->stride, ret))
            return;
        ret->fold_lo = base;
        ret->fold_hi = chain.count == 1 ? UINT64_MAX : add_to_end(base, region->hi - region->lo);
        ret->fold_stride = step;
        return;
    }
    if (size && (stride >= size || enumerate(layout, 0, offset, stride, size, ret)))
        return;
    if (stride == 1 || size) {
        ret->anywhere = true;
        return;
    }
    ret->fold_hi = UINT64_MAX;
    ret->fold_stride = stride;
}

bool layout_relative(const struct layout *layout, uint64_t from, uint64_t at, uint64_t length,
                     uint64_t *ret, struct region *ret_folds, uint32_t *ret_fold_count)
{
    struct chain a, b;
    uint32_t common = 0;

    chain_init(&a, layout, from);
    chain_init(&b, layout, at);
    *ret_fold_count = 0;
    while (common + 1 < a.count && common + 1 < b.count &&
           a.regions[common + 1] == b.regions[common + 1])
        common++;
    // From an array, bytes outside of it: only where it cannot be the array alone that is copied.
    if (common + 1 < a.count) {
        const struct region *array = a.regions[common + 1];
        if (length == LENGTH_ANY || length <= array->hi - array->lo)
            return false;
        ret_folds[(*ret_fold_count)++] = (struct region){.lo = 0, .hi = length, .stride = 1};
        *ret = 0;
        return true;
    }
    uint64_t stride = a.regions[common]->stride;
    int64_t apart = (int64_t)(at - from);
    if (stride) {
        apart %= (int64_t)stride;
        apart = apart < 0 ? apart + (int64_t)stride : apart;
        if (length > stride && length != LENGTH_ANY)
            ret_folds[(*ret_fold_count)++] =
                (struct region){.lo = 0, .hi = length, .stride = stride};
        else if (length == LENGTH_ANY)
            ret_folds[(*ret_fold_count)++] =
                (struct region){.lo = 0, .hi = UINT64_MAX, .stride = stride};
    }
    if (apart < 0 || (uint64_t)apart >= length)
        return false;
    for (uint32_t i = common + 1; i < b.count && *ret_fold_count < MOST_FOLDS; i++) {
        uint64_t lo = b.bases[i] >= from ? b.bases[i] - from : (uint64_t)apart;
        uint64_t hi = add_to_end(lo, b.regions[i]->hi - b.regions[i]->lo);
        ret_folds[(*ret_fold_count)++] = (struct region){
            .lo = lo, .hi = hi > length ? length : hi, .stride = b.regions[i]->stride};
    }
    *ret = (uint64_t)apart;
    return true;
}

void layout_element(const struct layout *layout, uint64_t offset, uint64_t *ret_lo,
                    uint64_t *ret_hi)
{
    struct chain chain;

    chain_init(&chain, layout, offset);
    *ret_lo = chain.bases[chain.count - 1];
    uint64_t stride = chain.regions[chain.count - 1]->stride;
    *ret_hi = stride ? *ret_lo + stride : UINT64_MAX;
}

uint64_t layout_stride(const struct layout *layout, uint64_t offset)
{
    struct chain chain;
    uint64_t stride = 0;

    chain_init(&chain, layout, offset);
    for (uint32_t i = 0; i < chain.count; i++)
        stride = gcd(stride, chain.regions[i]->stride);
    return stride;
}

uint64_t layout_end_of_array(const struct layout *layout, uint64_t from, uint64_t at)
{
    struct chain a, b;
    uint32_t common = 0;

    chain_init(&a, layout, from);
    chain_init(&b, layout, at);
    while (common + 1 < a.count && common + 1 < b.count &&
           a.regions[common + 1] == b.regions[common + 1])
        common++;
    if (common + 1 >= b.count)
        return at;
    const struct region *array = b.regions[common + 1];
    return add_to_end(b.bases[common + 1], array->hi - array->lo);
}
