// SPDX-License-Identifier: Apache-2.0
// Variables of the source with a scalar type: where they live, what they are called, who sees them.
#include "instrument/suspects.h"

#include <inttypes.h>

enum {
    TAG_POINTER = 0x0f,
    TAG_TYPEDEF = 0x16,
    TAG_BASE = 0x24,
    TAG_CONST = 0x26,
    TAG_VOLATILE = 0x35,
    TAG_RESTRICT = 0x37,
    TAG_ATOMIC = 0x47,
};

// Operands of debug nodes (DebugInfoMetadata.h), and DW_ATE_ codes.
enum { SCOPE_PARENT = 1, VARIABLE_SCOPE = 0, VARIABLE_NAME = 1, VARIABLE_TYPE = 3, TYPE_BASE = 3 };
enum { ENCODING_BOOLEAN = 2, ENCODING_UNSIGNED = 7, ENCODING_UNSIGNED_CHAR = 8, ENCODING_UTF = 16 };

static LLVMValueRef node_operand(LLVMValueRef node, unsigned index)
{
    LLVMValueRef operands[32];
    unsigned count = node && LLVMIsAMDNode(node) ? (unsigned)LLVMGetMDNodeNumOperands(node) : 0;

    if (index >= count || count > 32)
        return NULL;
    LLVMGetMDNodeOperands(node, operands);
    return operands[index];
}

static const char *node_string(struct suspects *suspects, LLVMValueRef node, unsigned index)
{
    LLVMValueRef operand = node_operand(node, index);
    unsigned length;

    if (!operand || !LLVMIsAMDString(operand))
        return NULL;
    const char *text = LLVMGetMDString(operand, &length);
    return arena_strndup(&suspects->arena, text, length);
}

// Without typedefs and const; NULL for what must not be read at will (volatile, atomic), or
// unknown.
static LLVMValueRef plain_type(LLVMValueRef type)
{
    for (int depth = 0; type && LLVMIsAMDNode(type) && depth < 64; depth++) {
        LLVMMetadataRef node = LLVMValueAsMetadata(type);
        uint16_t tag =
            LLVMGetMetadataKind(node) == LLVMDIDerivedTypeMetadataKind ? LLVMGetDINodeTag(node) : 0;

        if (tag == TAG_VOLATILE || tag == TAG_ATOMIC)
            return NULL;
        if (tag != TAG_TYPEDEF && tag != TAG_CONST && tag != TAG_RESTRICT)
            return type;
        type = node_operand(type, TYPE_BASE);
    }
    return NULL;
}

// The encoding is no operand: it is read from the text of the node.
static bool type_is_unsigned(LLVMValueRef type)
{
    LLVMMetadataRef node = LLVMValueAsMetadata(type);

    if (LLVMGetMetadataKind(node) == LLVMDIDerivedTypeMetadataKind)
        return true; // pointers
    if (LLVMGetMetadataKind(node) != LLVMDIBasicTypeMetadataKind)
        return false;
    char *text = LLVMPrintValueToString(type);
    bool is_unsigned = strstr(text, "DW_ATE_unsigned") || strstr(text, "DW_ATE_boolean") ||
                       strstr(text, "DW_ATE_UTF");
    LLVMDisposeMessage(text);
    return is_unsigned;
}

static bool is_scalar(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) <= 64;
    case LLVMPointerTypeKind:
        return LLVMGetPointerAddressSpace(type) == 0;
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
        return true;
    default:
        return false;
    }
}

static bool describe_variable(struct suspects *suspects, LLVMValueRef storage, LLVMValueRef node,
                              LLVMTypeRef ir, struct suspects_variable *ret)
{
    LLVMValueRef type = plain_type(node_operand(node, VARIABLE_TYPE));
    LLVMValueRef scope = node_operand(node, VARIABLE_SCOPE);
    const char *name = node_string(suspects, node, VARIABLE_NAME);

    // a name that the front end made up has two underscores
    if (!type || !name || !*name || !strncmp(name, "__", 2) || !is_scalar(ir))
        return false;
    *ret = (struct suspects_variable){
        .storage = storage,
        .type = LLVMValueAsMetadata(type),
        .scope = scope ? LLVMValueAsMetadata(scope) : NULL,
        .name = name,
        .ir = ir,
        .is_unsigned = type_is_unsigned(type),
    };
    return true;
}

void suspects_globals_find(struct suspects *suspects)
{
    LLVMModuleRef module = suspects->module->module;
    unsigned kind = LLVMGetMDKindIDInContext(suspects->module->context, "dbg", 3);

    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
        size_t count;
        struct suspects_variable variable;

        if (LLVMIsThreadLocal(g) || LLVMIsGlobalConstant(g) ||
            !is_scalar(LLVMGlobalGetValueType(g)))
            continue;
        LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(g, &count);
        for (unsigned i = 0; i < count; i++) {
            if (LLVMValueMetadataEntriesGetKind(entries, i) != kind)
                continue;
            LLVMMetadataRef described = LLVMDIGlobalVariableExpressionGetVariable(
                LLVMValueMetadataEntriesGetMetadata(entries, i));
            if (!describe_variable(suspects, g,
                                   LLVMMetadataAsValue(suspects->module->context, described),
                                   LLVMGlobalGetValueType(g), &variable))
                break;
            *suspects_index_put(&suspects->global_index, (uintptr_t)g) =
                (uint32_t)suspects->globals.length;
            suspects_variables_push(&suspects->globals, variable);
            break;
        }
        LLVMDisposeValueMetadataEntries(entries);
    }
}

static void add_local(struct suspects_scope *scope, LLVMValueRef wrapped, LLVMValueRef node)
{
    struct suspects_variable variable;
    LLVMValueRef storage;
    bool is_new;

    if (!LLVMIsAValueAsMetadata(wrapped))
        return;
    LLVMGetMDNodeOperands(wrapped, &storage);
    if (!LLVMIsAAllocaInst(storage) || !clone_is_static_alloca(storage) ||
        !describe_variable(scope->suspects, storage, node, LLVMGetAllocatedType(storage),
                           &variable))
        return;
    variable.line = LLVMDIVariableGetLine(LLVMValueAsMetadata(node));
    uint32_t *index = suspects_index_put_new(&scope->index, (uintptr_t)storage, &is_new);
    if (!is_new)
        return;
    *index = (uint32_t)scope->variables.length;
    suspects_variables_push(&scope->variables, variable);
}

// Declarations; or assignments, which take their place when code is optimised.
void suspects_scope_init(struct suspects_scope *scope, struct suspects *suspects,
                         LLVMValueRef function)
{
    static const char declare_name[] = "llvm.dbg.declare", assign_name[] = "llvm.dbg.assign";
    enum { VARIABLE = 1, ADDRESS = 4 };
    unsigned declare = LLVMLookupIntrinsicID(declare_name, sizeof(declare_name) - 1);
    unsigned assign = LLVMLookupIntrinsicID(assign_name, sizeof(assign_name) - 1);

    *scope = (struct suspects_scope){.suspects = suspects, .function = function};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            unsigned id = LLVMIsAIntrinsicInst(i) ? LLVMGetIntrinsicID(LLVMGetCalledValue(i)) : 0;

            if (id && (id == declare || id == assign))
                add_local(scope, LLVMGetOperand(i, id == assign ? ADDRESS : 0),
                          LLVMGetOperand(i, VARIABLE));
        }
}

void suspects_scope_deinit(struct suspects_scope *scope)
{
    suspects_variables_deinit(&scope->variables);
    suspects_index_deinit(&scope->index);
}

const struct suspects_variable *suspects_variable_at(const struct suspects_scope *scope,
                                                     LLVMValueRef storage)
{
    uint32_t *found = suspects_index_get(&scope->index, (uintptr_t)storage);

    if (found)
        return &scope->variables.data[*found];
    found = suspects_index_get(&scope->suspects->global_index, (uintptr_t)storage);
    return found ? &scope->suspects->globals.data[*found] : NULL;
}

bool suspects_in_scope(const struct suspects *suspects, const struct suspects_variable *variable,
                       LLVMMetadataRef location)
{
    LLVMContextRef context = suspects->module->context;

    if (LLVMIsAGlobalVariable(variable->storage) || !location)
        return LLVMIsAGlobalVariable(variable->storage);
    if (variable->line > LLVMDILocationGetLine(location))
        return false; // not declared yet
    LLVMMetadataRef scope = LLVMDILocationGetScope(location);
    for (int depth = 0; scope && depth < 256; depth++) {
        if (scope == variable->scope)
            return true;
        if (LLVMGetMetadataKind(scope) == LLVMDISubprogramMetadataKind)
            return false;
        LLVMValueRef parent = node_operand(LLVMMetadataAsValue(context, scope), SCOPE_PARENT);
        scope = parent ? LLVMValueAsMetadata(parent) : NULL;
    }
    return false;
}

// ---- Conditions

// What conversions and the like leave of a value.
static LLVMValueRef source_of(LLVMValueRef value)
{
    for (;;)
        switch (LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : LLVMRet) {
        case LLVMZExt:
        case LLVMSExt:
        case LLVMTrunc:
        case LLVMFreeze:
            value = LLVMGetOperand(value, 0);
            break;
        default:
            return value;
        }
}

static const struct suspects_variable *loaded_variable(const struct suspects_scope *scope,
                                                       LLVMValueRef value)
{
    LLVMValueRef load = source_of(value);

    return LLVMIsALoadInst(load) ? suspects_variable_at(scope, LLVMGetOperand(load, 0)) : NULL;
}

static bool constant_value(LLVMValueRef value, int64_t *ret)
{
    if (LLVMIsAConstantPointerNull(value)) {
        *ret = 0;
        return true;
    }
    if (!LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *ret = LLVMConstIntGetSExtValue(value);
    return true;
}

struct relation {
    const char *text;
    uint32_t op; // enum suspects_operator
    bool is_unsigned;
};

static struct relation relation_of(LLVMIntPredicate predicate)
{
    switch (predicate) {
    case LLVMIntEQ:
        return (struct relation){"==", SUSPECTS_EQUAL, false};
    case LLVMIntNE:
        return (struct relation){"!=", SUSPECTS_NOT_EQUAL, false};
    case LLVMIntULT:
        return (struct relation){"<", SUSPECTS_LESS, true};
    case LLVMIntSLT:
        return (struct relation){"<", SUSPECTS_LESS, false};
    case LLVMIntULE:
        return (struct relation){"<=", SUSPECTS_LESS_EQUAL, true};
    case LLVMIntSLE:
        return (struct relation){"<=", SUSPECTS_LESS_EQUAL, false};
    case LLVMIntUGT:
        return (struct relation){">", SUSPECTS_GREATER, true};
    case LLVMIntSGT:
        return (struct relation){">", SUSPECTS_GREATER, false};
    case LLVMIntUGE:
        return (struct relation){">=", SUSPECTS_GREATER_EQUAL, true};
    default:
        return (struct relation){">=", SUSPECTS_GREATER_EQUAL, false};
    }
}

// A value in words: a variable, a constant, a call; NULL where there are none.
static const char *words_of(struct suspects *suspects, const struct suspects_scope *scope,
                            LLVMValueRef value)
{
    const struct suspects_variable *variable = loaded_variable(scope, value);
    LLVMValueRef source = source_of(value);
    int64_t constant;
    size_t length;

    if (variable)
        return variable->name;
    if (LLVMIsAConstantPointerNull(value))
        return "NULL";
    if (constant_value(value, &constant))
        return arena_printf(&suspects->arena, "%" PRId64, constant);
    if (LLVMIsACallInst(source) && LLVMIsAFunction(LLVMGetCalledValue(source)))
        return arena_printf(&suspects->arena, "%s()",
                            LLVMGetValueName2(LLVMGetCalledValue(source), &length));
    return NULL;
}

// The two sides, where they are variables and constants, in terms that an analysis can use.
static void describe_sides(const struct suspects_scope *scope, LLVMValueRef left,
                           LLVMValueRef right, struct relation relation, struct suspects_site *site)
{
    int64_t constant;
    // A variable that a conversion may have cut is not the value that was compared.
    bool whole = LLVMIsALoadInst(left) || !LLVMIsATruncInst(left);

    if (loaded_variable(scope, left) && whole)
        site->flags |= SUSPECTS_LEFT_IS_VARIABLE;
    if (loaded_variable(scope, right) && !LLVMIsATruncInst(right))
        site->flags |= SUSPECTS_RIGHT_IS_VARIABLE;
    if (constant_value(right, &constant)) {
        site->flags |= SUSPECTS_RIGHT_IS_CONSTANT;
        site->constant = constant;
    }
    if (relation.is_unsigned)
        site->flags |= SUSPECTS_UNSIGNED;
    site->operator= relation.op;
}

void suspects_describe(struct suspects *suspects, const struct suspects_scope *scope,
                       LLVMValueRef condition, struct suspects_site *site)
{
    if (LLVMIsATruncInst(condition)) { // a _Bool
        LLVMValueRef value = LLVMGetOperand(condition, 0);
        const struct suspects_variable *variable = loaded_variable(scope, value);

        if (!variable)
            return;
        site->left = suspects_string(suspects, variable->name);
        site->flags |= SUSPECTS_LEFT_IS_VARIABLE | SUSPECTS_RIGHT_IS_CONSTANT | SUSPECTS_UNSIGNED;
        site->operator= SUSPECTS_NOT_EQUAL;
        return;
    }
    if (!LLVMIsAICmpInst(condition))
        return;
    LLVMValueRef left = LLVMGetOperand(condition, 0), right = LLVMGetOperand(condition, 1);
    struct relation relation = relation_of(LLVMGetICmpPredicate(condition));
    const char *left_words = words_of(suspects, scope, left);
    const char *right_words = words_of(suspects, scope, right);

    if (!left_words || !right_words)
        return;
    describe_sides(scope, left, right, relation, site);
    site->left = suspects_string(suspects, arena_printf(&suspects->arena, "%s %s %s", left_words,
                                                        relation.text, right_words));
    site->right = suspects_string(suspects, right_words);
}

void suspects_describe_sides(struct suspects *suspects, const struct suspects_scope *scope,
                             LLVMValueRef condition, struct suspects_site *site)
{
    LLVMValueRef left = LLVMGetOperand(condition, 0), right = LLVMGetOperand(condition, 1);
    struct relation relation = relation_of(LLVMGetICmpPredicate(condition));
    const char *left_words = words_of(suspects, scope, left);
    const char *right_words = words_of(suspects, scope, right);

    describe_sides(scope, left, right, relation, site);
    site->operator= SUSPECTS_NO_OPERATOR;
    site->left = suspects_string(suspects, left_words ? left_words : "the left side");
    site->right = suspects_string(suspects, right_words ? right_words : "the right side");
}

void suspects_describe_case(struct suspects *suspects, const struct suspects_scope *scope,
                            LLVMValueRef value, LLVMValueRef constant, struct suspects_site *site)
{
    const char *words = words_of(suspects, scope, value);
    const char *number = words_of(suspects, scope, constant);

    describe_sides(scope, value, constant, relation_of(LLVMIntEQ), site);
    site->left = suspects_string(
        suspects, arena_printf(&suspects->arena, "%s == %s", words ? words : "switch", number));
    site->right = suspects_string(suspects, number);
}
