#include "instrument/driver/extraction.h"

#include "common/arena.h"
#include "instrument/driver/arguments.h"

void extraction_deinit(struct extraction *extraction)
{
    symbol_numbers_deinit(&extraction->numbers);
    extraction_symbols_deinit(&extraction->symbols);
    extraction_definitions_deinit(&extraction->definitions);
    extraction_members_deinit(&extraction->members);
    numbers_deinit(&extraction->wants);
    numbers_deinit(&extraction->work);
}

static uint32_t symbol_number(struct extraction *extraction, const char *name)
{
    uint32_t *number = symbol_numbers_put(&extraction->numbers, name);
    if (!*number) {
        extraction_symbols_push(&extraction->symbols, (struct extraction_symbol){.name = name});
        *number = (uint32_t)extraction->symbols.length;
    }
    return *number - 1;
}

static void want_number(struct extraction *extraction, uint32_t number)
{
    struct extraction_symbol *symbol = &extraction->symbols.data[number];
    if (!symbol->wanted)
        numbers_push(&extraction->work, number);
    symbol->wanted = true;
}

/* With --wrap, NAME is found as __wrap_NAME, and __real_NAME as NAME. */
static void want_wrapped(struct extraction *extraction, struct arena *arena, const char *name)
{
    static const char real[] = "__real_";
    static const char wrap[] = "__wrap_";
    if (has_prefix(name, real))
        want_number(extraction, symbol_number(extraction, name + strlen(real)));
    const char *wrapped = arena_printf(arena, "%s%s", wrap, name);
    const uint32_t *number = symbol_numbers_get(&extraction->numbers, wrapped);
    if (number)
        want_number(extraction, *number - 1);
}

void extraction_want(struct extraction *extraction, const char *name)
{
    want_number(extraction, symbol_number(extraction, name));
}

uint32_t extraction_add_member(struct extraction *extraction, const struct arguments *defined,
                               const struct arguments *wanted)
{
    uint32_t member = (uint32_t)extraction->members.length;
    for (size_t i = 0; i < defined->length; i++) {
        uint32_t number = symbol_number(extraction, defined->data[i]);
        struct extraction_symbol *symbol = &extraction->symbols.data[number];
        extraction_definitions_push(&extraction->definitions,
                                    (struct extraction_definition){member, symbol->definition});
        symbol->definition = (uint32_t)extraction->definitions.length;
    }
    extraction_members_push(
        &extraction->members,
        (struct extraction_member){extraction->wants.length, wanted->length, false});
    for (size_t i = 0; i < wanted->length; i++)
        numbers_push(&extraction->wants, symbol_number(extraction, wanted->data[i]));
    return member;
}

static void take_member(struct extraction *extraction, uint32_t number)
{
    struct extraction_member *member = &extraction->members.data[number];
    if (member->may_be_taken)
        return;
    member->may_be_taken = true;
    for (size_t i = 0; i < member->want_count; i++)
        want_number(extraction, extraction->wants.data[member->first_want + i]);
}

void extraction_close(struct extraction *extraction, struct arena *arena)
{
    while (extraction->work.length) {
        uint32_t number = numbers_pop(&extraction->work);
        if (extraction->wraps)
            want_wrapped(extraction, arena, extraction->symbols.data[number].name);
        for (uint32_t d = extraction->symbols.data[number].definition; d;
             d = extraction->definitions.data[d - 1].next)
            take_member(extraction, extraction->definitions.data[d - 1].member);
    }
}

bool extraction_may_take(const struct extraction *extraction, uint32_t member)
{
    return extraction->all || extraction->members.data[member].may_be_taken;
}
