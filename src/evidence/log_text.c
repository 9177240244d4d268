// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_text.h"

#include <stdlib.h>

#include "evidence/log_uses.h"
#include "program/model.h"

#define DEEPEST 16
// Buffers that are shorter cut texts too often for lines of that length to be left out.
#define SHORTEST_BUFFER 128
#define LONGEST_TABLE   4096

// What is being resolved, to see when it leads back to itself.
struct trail {
    const struct trail *outer;
    struct log_place place;
    uint32_t insn;
    unsigned depth;
};

static void resolve(struct log_resolver *resolver, struct log_place place, struct operand operand,
                    const struct trail *trail, struct log_patterns *out);

void log_resolver_init(struct log_resolver *resolver, struct model *model)
{
    *resolver = (struct log_resolver){.model = model, .shortest_cut = LOG_ENDLESS};
    arena_init(&resolver->arena);
}

void log_resolver_deinit(struct log_resolver *resolver)
{
    log_uses_map_deinit(&resolver->uses);
    arena_deinit(&resolver->arena);
}

const struct code *log_code(const struct log_resolver *resolver, struct log_place place)
{
    return resolver->model->modules[place.module].code;
}

const char *log_library_callee(const struct log_resolver *resolver, uint32_t module, uint32_t insn)
{
    const struct model *model = resolver->model;
    const struct code *code = model->modules[module].code;
    const struct call *call = code_call(code, &code->insns[insn]);
    if (call->site == CODE_NONE)
        return NULL;
    struct site_id site = {model->modules[module].first_site + call->site};
    struct function_list callees = model_callees(model, site);
    for (uint32_t i = 0; i < callees.count; i++) {
        if (!(model_function(model, callees.data[i])->flags & FUNCTION_AVAILABLE_EXTERNALLY))
            return NULL; // the program has its own
    }
    return model_site(model, site)->callee;
}

static void add_hole(struct log_resolver *resolver, enum log_class class, struct log_patterns *out)
{
    log_patterns_add(&resolver->arena, out, log_pattern_hole(&resolver->arena, class));
}

// ---- Constants

static bool is_fixed(const struct global *global)
{
    return global->kind == GLOBAL_VARIABLE && global->flags & GLOBAL_CONSTANT &&
           operand_kind(global->initialiser) != OPERAND_NONE &&
           (global->linkage == LINKAGE_INTERNAL || global->linkage == LINKAGE_EXTERNAL ||
            global->linkage == LINKAGE_LINKONCE_ODR || global->linkage == LINKAGE_WEAK_ODR);
}

// The text at `offset` of a constant array of characters.
static void add_literal(struct log_resolver *resolver, const struct code *code,
                        const struct global *global, int64_t offset, struct log_patterns *out)
{
    const struct constant *constant = NULL;
    if (is_fixed(global) && operand_kind(global->initialiser) == OPERAND_CONSTANT)
        constant = &code->constants[operand_index(global->initialiser)];
    if (constant && constant->kind == CONSTANT_ZERO && offset >= 0) {
        log_patterns_add(&resolver->arena, out, (struct log_pattern){NULL, 0});
        return;
    }
    if (!constant || constant->kind != CONSTANT_BYTES || offset < 0 ||
        offset >= constant->byte_count) {
        add_hole(resolver, LOG_TEXT, out);
        return;
    }
    const char *bytes = (const char *)code->bytes + constant->first_byte + offset;
    size_t room = constant->byte_count - (size_t)offset;
    if (memchr(bytes, '\0', room))
        log_patterns_add(&resolver->arena, out,
                         log_pattern_literal(&resolver->arena, bytes, strnlen(bytes, room)));
    else
        add_hole(resolver, LOG_TEXT, out);
}

// The scalar at a byte offset of a constant; OPERAND_NONE where there is none.
static struct operand constant_at(const struct code *code, struct operand value, uint64_t offset)
{
    for (;;) {
        if (operand_kind(value) != OPERAND_CONSTANT)
            return offset == 0 ? value : operand_make(OPERAND_NONE, 0);
        const struct constant *constant = &code->constants[operand_index(value)];
        const struct type *type = code_type(code, constant->type);
        if (constant->kind == CONSTANT_ZERO)
            return value; // whatever lies there is null
        if (constant->kind != CONSTANT_AGGREGATE)
            return offset == 0 && type->kind == TYPE_POINTER ? value
                                                             : operand_make(OPERAND_NONE, 0);
        uint32_t element = 0;
        uint64_t start = 0;
        if (type->kind == TYPE_STRUCT) {
            while (element + 1 < type->member_count &&
                   code->type_members[type->first_member + element + 1].offset <= offset)
                element++;
            start = code->type_members[type->first_member + element].offset;
        } else {
            uint64_t size = code_type(code, code_type_member(code, constant->type, 0))->size;
            if (size == 0 || offset / size >= constant->operand_count)
                return operand_make(OPERAND_NONE, 0);
            element = (uint32_t)(offset / size);
            start = element * size;
        }
        if (element >= constant->operand_count)
            return operand_make(OPERAND_NONE, 0);
        value = code->operands[constant->first_operand + element];
        offset -= start;
    }
}

// An address as a global, a constant offset and at most one stride.
struct address {
    const struct global *global;
    int64_t offset;
    int64_t stride; // 0: none
};

static bool add_gep(const struct code *code, uint32_t detail, struct address *address)
{
    const struct gep *gep = &code->geps[detail];
    address->offset += gep->offset;
    for (uint32_t i = 0; i < gep->step_count; i++) {
        const struct gep_step *step = &code->gep_steps[gep->first_step + i];
        if (operand_kind(step->index) == OPERAND_CONSTANT)
            continue; // counted in the offset
        if (address->stride || step->stride <= 0)
            return false;
        address->stride = step->stride;
    }
    return true;
}

static bool find_address(const struct code *code, struct operand operand, struct address *out)
{
    *out = (struct address){NULL, 0, 0};
    for (unsigned depth = 0; depth < DEEPEST; depth++) {
        uint32_t index = operand_index(operand), opcode, detail, first;
        switch (operand_kind(operand)) {
        case OPERAND_GLOBAL:
            out->global = &code->globals[index];
            return true;
        case OPERAND_INSN:
            opcode = code->insns[index].opcode;
            detail = code->insns[index].detail;
            first = code->insns[index].first_operand;
            break;
        case OPERAND_CONSTANT:
            if (code->constants[index].kind != CONSTANT_EXPRESSION)
                return false;
            opcode = code->constants[index].opcode;
            detail = code->constants[index].detail;
            first = code->constants[index].first_operand;
            break;
        default:
            return false;
        }
        if (opcode == INSN_GEP ? !add_gep(code, detail, out) : opcode != INSN_BITCAST)
            return false;
        operand = code->operands[first];
    }
    return false;
}

// What a load from a constant table gives, in any row.
static void resolve_table(struct log_resolver *resolver, struct log_place place,
                          struct address address, const struct trail *trail,
                          struct log_patterns *out)
{
    const struct code *code = log_code(resolver, place);
    uint64_t size = code_type(code, address.global->type)->size;
    if (!is_fixed(address.global) || address.offset < 0 || size > LONGEST_TABLE * 64) {
        add_hole(resolver, LOG_TEXT, out);
        return;
    }
    // The rows may begin before the offset of the first that is named.
    uint64_t step = (uint64_t)address.stride, at = (uint64_t)address.offset;
    if (step)
        at %= step;
    bool found = false;
    do {
        struct operand value = constant_at(code, address.global->initialiser, at);
        if (operand_kind(value) != OPERAND_NONE) {
            resolve(resolver, place, value, trail, out);
            found = true;
        } else if (!step) {
            break;
        }
        at += step;
    } while (step && at < size);
    if (!found)
        add_hole(resolver, LOG_TEXT, out);
}

// ---- Instructions

static void resolve_stored(struct log_resolver *resolver, struct log_place place, uint32_t alloca,
                           const struct trail *trail, struct log_patterns *out)
{
    struct log_operands values = VEC_INIT;
    if (!log_stored_values(resolver, place, alloca, &values))
        add_hole(resolver, LOG_TEXT, out);
    else
        for (size_t i = 0; i < values.length; i++)
            resolve(resolver, place, values.data[i], trail, out);
    log_operands_deinit(&values);
}

static void resolve_load(struct log_resolver *resolver, struct log_place place,
                         const struct insn *load, const struct trail *trail,
                         struct log_patterns *out)
{
    const struct code *code = log_code(resolver, place);
    struct operand from = code_operand(code, load, 0);
    struct address address;
    if (operand_kind(from) == OPERAND_INSN &&
        code->insns[operand_index(from)].opcode == INSN_ALLOCA)
        resolve_stored(resolver, place, operand_index(from), trail, out);
    else if (find_address(code, from, &address) &&
             code_type(code, load->type)->kind == TYPE_POINTER)
        resolve_table(resolver, place, address, trail, out);
    else
        add_hole(resolver, LOG_TEXT, out);
}

struct format_arguments {
    struct log_resolver *resolver;
    struct log_place place;
    const struct trail *trail;
    uint32_t call;
    uint32_t first;
};

static void argument_text(void *context, uint32_t index, struct log_patterns *out)
{
    const struct format_arguments *arguments = context;
    const struct code *code = log_code(arguments->resolver, arguments->place);
    const struct insn *insn = &code->insns[arguments->call];
    uint64_t argument = (uint64_t)arguments->first + index;
    if (argument >= code_call(code, insn)->argument_count)
        add_hole(arguments->resolver, LOG_TEXT, out);
    else
        resolve(arguments->resolver, arguments->place, code_operand(code, insn, (uint32_t)argument),
                arguments->trail, out);
}

// A text that turned out to be known, as a format.
static void format_of_text(struct log_resolver *resolver, struct log_pattern text,
                           const struct log_arguments *arguments, struct log_patterns *out)
{
    struct arena *arena = &resolver->arena;
    if (text.count == 0) {
        log_patterns_add(arena, out, text);
    } else if (text.count == 1 && text.elements[0].kind == LOG_LITERAL) {
        log_format_parse(arena, text.elements[0].bytes, text.elements[0].length, arguments, out);
    } else if (text.count == 1 && text.elements[0].kind == LOG_TEXT_OF) {
        log_patterns_add(arena, out,
                         log_pattern_parameter(arena, LOG_FORMAT_OF, text.elements[0].parameter));
    } else {
        add_hole(resolver, LOG_TEXT, out);
    }
}

static void resolve_format(struct log_resolver *resolver, struct log_place place, uint32_t call,
                           struct operand format, uint32_t first_argument,
                           const struct trail *trail, struct log_patterns *out)
{
    struct log_patterns texts = VEC_INIT;
    struct format_arguments context = {resolver, place, trail, call, first_argument};
    struct log_arguments arguments = {argument_text, &context};
    resolve(resolver, place, format, trail, &texts);
    for (size_t i = 0; i < texts.length; i++)
        format_of_text(resolver, texts.data[i], first_argument == CODE_NONE ? NULL : &arguments,
                       out);
    log_patterns_deinit(&texts);
}

void log_resolve_format(struct log_resolver *resolver, struct log_place place, uint32_t call,
                        struct operand format, uint32_t first_argument, struct log_patterns *out)
{
    resolve_format(resolver, place, call, format, first_argument, NULL, out);
}

static bool constant_value(const struct code *code, struct operand operand, uint64_t *ret)
{
    if (operand_kind(operand) != OPERAND_CONSTANT ||
        code->constants[operand_index(operand)].kind != CONSTANT_INT)
        return false;
    *ret = code->constants[operand_index(operand)].value;
    return true;
}

// Texts that did not fit were cut: lines that are so long are not looked at, and buffers that are
// short hold anything.
static void limit_texts(struct log_resolver *resolver, const struct code *code,
                        const struct insn *call, uint32_t size_argument, struct log_patterns *texts)
{
    uint64_t size;
    bool is_known = constant_value(code, code_operand(code, call, size_argument), &size);
    for (size_t i = 0; i < texts->length; i++) {
        if (is_known && log_pattern_bound(texts->data[i]) < size)
            continue;
        if (!is_known || size < SHORTEST_BUFFER)
            texts->data[i] = log_pattern_hole(&resolver->arena, LOG_TEXT);
        else if (size - 1 < resolver->shortest_cut)
            resolver->shortest_cut = (uint32_t)(size - 1);
    }
}

static bool has_line_break_format(struct log_pattern text)
{
    if (text.count != 1 || text.elements[0].kind != LOG_LITERAL)
        return true;
    for (uint32_t i = 0; i + 1 < text.elements[0].length; i++) {
        if (text.elements[0].bytes[i] == '%' && strchr("nc+", text.elements[0].bytes[i + 1]))
            return true;
    }
    return memchr(text.elements[0].bytes, '\n', text.elements[0].length) != NULL;
}

static void resolve_writer(struct log_resolver *resolver, struct log_place place, uint32_t call,
                           const struct trail *trail, struct log_patterns *out)
{
    const struct code *code = log_code(resolver, place);
    const struct insn *insn = &code->insns[call];
    const char *name = log_library_callee(resolver, place.module, call);
    struct log_patterns texts = VEC_INIT;
    uint32_t size, format;
    if (log_is_time_formatter(name)) {
        bool breaks = false;
        resolve(resolver, place, code_operand(code, insn, 2), trail, &texts);
        for (size_t i = 0; i < texts.length; i++)
            breaks |= has_line_break_format(texts.data[i]);
        add_hole(resolver, breaks ? LOG_TEXT : LOG_LINE, out);
    } else if (log_is_formatter(name, &size, &format) &&
               format < code_call(code, insn)->argument_count) {
        bool is_list = name[0] == 'v' || strncmp(name, "__v", 3) == 0;
        resolve_format(resolver, place, call, code_operand(code, insn, format),
                       is_list ? CODE_NONE : format + 1, trail, &texts);
        if (size != CODE_NONE)
            limit_texts(resolver, code, insn, size, &texts);
        for (size_t i = 0; i < texts.length; i++)
            log_patterns_add(&resolver->arena, out, texts.data[i]);
    } else {
        add_hole(resolver, LOG_TEXT, out);
    }
    log_patterns_deinit(&texts);
}

// The contents of a local buffer.
static void resolve_buffer(struct log_resolver *resolver, struct log_place place, uint32_t alloca,
                           const struct trail *trail, struct log_patterns *out)
{
    struct log_buffer buffer = {0};
    if (!log_buffer_writers(resolver, place, alloca, &buffer)) {
        add_hole(resolver, LOG_TEXT, out);
    } else {
        for (size_t i = 0; i < buffer.writers.length; i++)
            resolve_writer(resolver, place, operand_index(buffer.writers.data[i]), trail, out);
        if (buffer.is_cleared)
            log_patterns_add(&resolver->arena, out, (struct log_pattern){NULL, 0});
    }
    log_operands_deinit(&buffer.writers);
}

// ---- Calls

// gettext and its like give back an argument, or its translation.
static bool resolve_translation(struct log_resolver *resolver, struct log_place place,
                                const struct insn *insn, const char *name,
                                const struct trail *trail, struct log_patterns *out)
{
    static const struct {
        const char *name;
        uint32_t first, count;
    } known[] = {{"gettext", 0, 1},  {"dgettext", 1, 1},  {"dcgettext", 1, 1},
                 {"ngettext", 0, 2}, {"dngettext", 1, 2}, {"dcngettext", 1, 2}};
    const struct code *code = log_code(resolver, place);
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (strcmp(known[i].name, name) != 0 ||
            code_call(code, insn)->argument_count < known[i].first + known[i].count)
            continue;
        for (uint32_t a = 0; a < known[i].count; a++)
            resolve(resolver, place, code_operand(code, insn, known[i].first + a), trail, out);
        return true;
    }
    return false;
}

static bool gives_one_line(const char *name)
{
    static const char *const known[] = {
        "strerror",  "strsignal",    "sigdescr_np", "sigabbrev_np",    "strerror_l",
        "hstrerror", "gai_strerror", "inet_ntoa",   "strerrorname_np", "strerrordesc_np"};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (strcmp(known[i], name) == 0)
            return true;
    }
    return false;
}

static void bind_elements(struct log_resolver *resolver, struct log_pattern pattern,
                          struct log_place place, uint32_t call, const struct trail *trail,
                          struct log_patterns *out);

// What the one function of the model that is called returns.
static void resolve_returned(struct log_resolver *resolver, struct log_place place, uint32_t call,
                             const struct trail *trail, struct log_patterns *out)
{
    const struct model *model = resolver->model;
    const struct model_module *module = &model->modules[place.module];
    uint32_t index = code_call(module->code, &module->code->insns[call])->site;
    struct site_id site = {index == CODE_NONE ? MODEL_NONE : module->first_site + index};
    if (index == CODE_NONE || model_site(model, site)->flags & (SITE_EXTERNAL | SITE_INDIRECT) ||
        model_callees(model, site).count != 1) {
        add_hole(resolver, LOG_TEXT, out);
        return;
    }
    const struct model_function *callee = model_function(model, model_callees(model, site).data[0]);
    struct log_place inside = {callee->module.value, callee->index};
    const struct code *code = log_code(resolver, inside);
    const struct code_function *function = &code->functions[inside.function];
    struct log_patterns returned = VEC_INIT;
    for (uint32_t n = function->first_node; n < function->first_node + function->node_count; n++) {
        const struct code_node *node = &code->nodes[n];
        const struct insn *last =
            node->insn_count ? &code->insns[node->first_insn + node->insn_count - 1] : NULL;
        if (last && last->opcode == INSN_RET && last->operand_count)
            resolve(resolver, inside, code_operand(code, last, 0), trail, &returned);
    }
    for (size_t i = 0; i < returned.length; i++)
        bind_elements(resolver, returned.data[i], place, call, trail, out);
    log_patterns_deinit(&returned);
}

static void resolve_call(struct log_resolver *resolver, struct log_place place, uint32_t call,
                         const struct trail *trail, struct log_patterns *out)
{
    const struct code *code = log_code(resolver, place);
    const char *name = log_library_callee(resolver, place.module, call);
    if (!name)
        resolve_returned(resolver, place, call, trail, out);
    else if (gives_one_line(name))
        add_hole(resolver, LOG_LINE, out);
    else if (!resolve_translation(resolver, place, &code->insns[call], name, trail, out))
        add_hole(resolver, LOG_TEXT, out);
}

// ---- Operands

static void resolve_insn(struct log_resolver *resolver, struct log_place place, uint32_t index,
                         const struct trail *trail, struct log_patterns *out)
{
    const struct code *code = log_code(resolver, place);
    const struct insn *insn = &code->insns[index];
    struct address address;
    switch (insn->opcode) {
    case INSN_LOAD:
        resolve_load(resolver, place, insn, trail, out);
        return;
    case INSN_SELECT:
        resolve(resolver, place, code_operand(code, insn, 1), trail, out);
        resolve(resolver, place, code_operand(code, insn, 2), trail, out);
        return;
    case INSN_PHI:
        for (uint32_t i = 0; i < insn->operand_count; i += 2)
            resolve(resolver, place, code_operand(code, insn, i), trail, out);
        return;
    case INSN_BITCAST:
    case INSN_FREEZE:
        resolve(resolver, place, code_operand(code, insn, 0), trail, out);
        return;
    case INSN_ALLOCA:
        resolve_buffer(resolver, place, index, trail, out);
        return;
    case INSN_CALL:
    case INSN_INVOKE:
        resolve_call(resolver, place, index, trail, out);
        return;
    case INSN_GEP:
        if (find_address(code, operand_make(OPERAND_INSN, index), &address) && !address.stride) {
            add_literal(resolver, code, address.global, address.offset, out);
            return;
        }
        address = (struct address){0};
        if (add_gep(code, insn->detail, &address) && !address.stride && address.offset == 0) {
            resolve(resolver, place, code_operand(code, insn, 0), trail, out);
            return;
        }
        break;
    default:
        break;
    }
    add_hole(resolver, LOG_TEXT, out);
}

static bool leads_back(const struct trail *trail, struct log_place place, uint32_t insn)
{
    for (; trail; trail = trail->outer) {
        if (trail->insn == insn && trail->place.module == place.module &&
            trail->place.function == place.function)
            return true;
    }
    return false;
}

static void resolve(struct log_resolver *resolver, struct log_place place, struct operand operand,
                    const struct trail *trail, struct log_patterns *out)
{
    const struct code *code = log_code(resolver, place);
    uint32_t index = operand_index(operand);
    struct trail inner = {trail, place, CODE_NONE, trail ? trail->depth + 1 : 0};
    struct address address;
    if (inner.depth >= DEEPEST) {
        add_hole(resolver, LOG_TEXT, out);
        return;
    }
    switch (operand_kind(operand)) {
    case OPERAND_INSN:
        inner.insn = index;
        if (leads_back(trail, place, index))
            add_hole(resolver, LOG_TEXT, out);
        else
            resolve_insn(resolver, place, index, &inner, out);
        return;
    case OPERAND_ARGUMENT:
        log_patterns_add(
            &resolver->arena, out,
            log_pattern_parameter(&resolver->arena, LOG_TEXT_OF,
                                  index - code->functions[place.function].first_argument));
        return;
    case OPERAND_GLOBAL:
    case OPERAND_CONSTANT:
        if (find_address(code, operand, &address) && !address.stride) {
            add_literal(resolver, code, address.global, address.offset, out);
            return;
        }
        if (operand_kind(operand) == OPERAND_CONSTANT &&
            (code->constants[index].kind == CONSTANT_NULL ||
             code->constants[index].kind == CONSTANT_ZERO)) {
            log_patterns_add(&resolver->arena, out,
                             log_pattern_literal(&resolver->arena, "(null)", 6));
            return;
        }
        break;
    default:
        break;
    }
    add_hole(resolver, LOG_TEXT, out);
}

void log_resolve_text(struct log_resolver *resolver, struct log_place place, struct operand operand,
                      struct log_patterns *out)
{
    resolve(resolver, place, operand, NULL, out);
}

// ---- Binding

// Alternatives for one element of a callee's pattern.
static void bind_element(struct log_resolver *resolver, const struct log_element *element,
                         struct log_place place, uint32_t call, const struct trail *trail,
                         struct log_patterns *out)
{
    const struct code *code = log_code(resolver, place);
    const struct insn *insn = &code->insns[call];
    if (element->kind == LOG_LITERAL || element->kind == LOG_HOLE) {
        log_patterns_add(&resolver->arena, out, (struct log_pattern){element, 1});
    } else if (element->parameter >= code_call(code, insn)->argument_count) {
        add_hole(resolver, LOG_TEXT, out);
    } else if (element->kind == LOG_TEXT_OF) {
        resolve(resolver, place, code_operand(code, insn, element->parameter), trail, out);
    } else {
        // Which argument a conversion takes is not told: the callee may have taken some before.
        resolve_format(resolver, place, call, code_operand(code, insn, element->parameter),
                       CODE_NONE, trail, out);
    }
}

static void bind_elements(struct log_resolver *resolver, struct log_pattern pattern,
                          struct log_place place, uint32_t call, const struct trail *trail,
                          struct log_patterns *out)
{
    struct log_patterns bound = VEC_INIT;
    log_patterns_push(&bound, (struct log_pattern){NULL, 0});
    for (uint32_t i = 0; i < pattern.count; i++) {
        struct log_patterns texts = VEC_INIT;
        bind_element(resolver, &pattern.elements[i], place, call, trail, &texts);
        log_patterns_join(&resolver->arena, &bound, &texts);
        log_patterns_deinit(&texts);
    }
    for (size_t i = 0; i < bound.length; i++)
        log_patterns_add(&resolver->arena, out, bound.data[i]);
    log_patterns_deinit(&bound);
}

void log_bind(struct log_resolver *resolver, struct log_pattern pattern, struct log_place place,
              uint32_t call, struct log_patterns *out)
{
    bind_elements(resolver, pattern, place, call, NULL, out);
}
