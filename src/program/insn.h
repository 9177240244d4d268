// SPDX-License-Identifier: Apache-2.0
/*
 * The code of one module, free of LLVM: everything that points-to, dependence, constant propagation
 * and a bit-precise encoding need to know of its functions, nodes and instructions.
 *
 * A `struct code` is a set of flat tables; every id in it counts within the module, in module
 * order. (The ids of the whole program are in model.h: function F of the module is function
 * module.first_function + F there, and so on.) All of it is read-only, lies in one block of memory
 * and holds no pointers into itself but the table heads, so that it can be mapped from a file.
 *
 *     const struct code_node *node = &code->nodes[n];
 *     for (uint32_t i = node->first_insn; i < node->first_insn + node->insn_count; i++) {
 *             const struct insn *insn = &code->insns[i];
 *             if (insn->opcode == INSN_STORE)
 *                     store(code_operand(code, insn, 0), code_operand(code, insn, 1));
 *     }
 *
 * Invariants: the nodes of a function, the instructions of a node, the operands of an instruction
 * are contiguous and in order. Instructions are those of the front end (before optimisation); what
 * only describes (debug intrinsics) is in `variables` instead. Index 0 of `types` is void, of
 * `places` and `debug_types` "none", of `strings` the empty string.
 */
#ifndef PROGRAM_INSN_H
#define PROGRAM_INSN_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define CODE_NONE UINT32_MAX // "no such thing" in every plain index below

struct type_id {
    uint32_t value;
};
struct place_id {
    uint32_t value; // 0: no place
};
struct string_id {
    uint32_t value; // offset in code->strings; 0: ""
};
struct debug_type_id {
    uint32_t value; // 0: none, or void
};

// ---- Operands

// What an operand refers to: a kind in the upper 3 bits, an index into that kind's table below.
struct operand {
    uint32_t bits;
};

enum operand_kind {
    OPERAND_NONE,     // absent
    OPERAND_INSN,     // the result of insns[index]
    OPERAND_ARGUMENT, // arguments[index], of the function at hand
    OPERAND_CONSTANT, // constants[index]
    OPERAND_GLOBAL,   // the address of globals[index]
    OPERAND_NODE,     // nodes[index]: a branch target, or the predecessor that a PHI names
    OPERAND_ASM,      // asms[index], as a callee
    OPERAND_METADATA, // something that only intrinsics take; not kept
};

#define OPERAND_INDEX_BITS 29u

static inline struct operand operand_make(enum operand_kind kind, uint32_t index)
{
    assert(index < 1u << OPERAND_INDEX_BITS);
    return (struct operand){(uint32_t)kind << OPERAND_INDEX_BITS | index};
}

static inline enum operand_kind operand_kind(struct operand operand)
{
    return (enum operand_kind)(operand.bits >> OPERAND_INDEX_BITS);
}

static inline uint32_t operand_index(struct operand operand)
{
    return operand.bits & ((1u << OPERAND_INDEX_BITS) - 1);
}

// ---- Types

enum type_kind {
    TYPE_VOID,
    TYPE_INT,      // bits
    TYPE_FLOAT,    // bits: 16, 32, 64, 80 (x87), 128; TYPE_FLAG_BRAIN for bfloat
    TYPE_POINTER,  // bits; opaque, as LLVM's are
    TYPE_ARRAY,    // members[0] is the element, count its number
    TYPE_VECTOR,   // the same
    TYPE_STRUCT,   // members with offsets
    TYPE_FUNCTION, // members[0] is the result, then the fixed parameters
    TYPE_LABEL,
    TYPE_METADATA,
    TYPE_OTHER, // tokens, target types
};

enum type_flag {
    TYPE_FLAG_PACKED = 1u << 0,
    TYPE_FLAG_OPAQUE = 1u << 1,  // a struct without a body
    TYPE_FLAG_VARARGS = 1u << 2, // of a function
    TYPE_FLAG_BRAIN = 1u << 3,
    TYPE_FLAG_SIZED = 1u << 4,
};

struct type {
    uint8_t kind;      // enum type_kind
    uint8_t alignment; // of the ABI, as a power of two
    uint16_t flags;    // enum type_flag
    uint32_t bits;     // of a scalar
    uint64_t size;     // bytes between two of them in an array; 0 when not sized
    uint64_t store;    // bytes that a store writes
    uint64_t count;    // of an array or vector
    uint32_t first_member;
    uint32_t member_count;
    struct string_id name; // of a struct
    uint32_t reserved;
};

struct type_member {
    uint64_t offset; // in bytes, of a struct's field
    struct type_id type;
    uint32_t reserved;
};

// ---- Constants and globals

enum constant_kind {
    CONSTANT_INT,   // value, when the type has at most 64 bits; else `bytes`, little-endian
    CONSTANT_FLOAT, // the bits of the float: value, or `bytes` when there are more than 64
    CONSTANT_NULL,
    CONSTANT_UNDEF,
    CONSTANT_POISON,
    CONSTANT_ZERO,       // of an aggregate
    CONSTANT_AGGREGATE,  // operands: the elements in order
    CONSTANT_BYTES,      // an array or vector of numbers, as it lies in memory
    CONSTANT_EXPRESSION, // opcode and operands, as an instruction; with INSN_GEP detail is in geps
    CONSTANT_BLOCK,      // the address of a block: operand 0 the function, 1 its first node
    CONSTANT_ALIAS_OF,   // dso_local_equivalent, no_cfi: operand 0
    CONSTANT_OTHER,
};

struct constant {
    uint8_t kind;   // enum constant_kind
    uint8_t opcode; // enum insn_opcode, of an expression
    uint16_t flags; // enum insn_flag
    struct type_id type;
    uint64_t value;
    uint32_t first_operand;
    uint32_t operand_count;
    uint32_t first_byte; // in `bytes`
    uint32_t byte_count;
    uint32_t detail; // of an expression, as struct insn has it
    uint32_t reserved;
};

enum global_kind {
    GLOBAL_FUNCTION, // target: its index in `functions`, or CODE_NONE when only declared
    GLOBAL_VARIABLE, // initialiser, or OPERAND_NONE when only declared
    GLOBAL_ALIAS,    // initialiser: what it stands for
    GLOBAL_IFUNC,    // initialiser: the resolver
};

enum global_linkage {
    LINKAGE_EXTERNAL,
    LINKAGE_INTERNAL, // and private
    LINKAGE_WEAK,
    LINKAGE_WEAK_ODR,
    LINKAGE_LINKONCE,
    LINKAGE_LINKONCE_ODR,
    LINKAGE_AVAILABLE_EXTERNALLY,
    LINKAGE_COMMON,
    LINKAGE_EXTERN_WEAK,
    LINKAGE_APPENDING,
};

enum global_flag {
    GLOBAL_DECLARED = 1u << 0, // not defined here
    GLOBAL_CONSTANT = 1u << 1, // a variable that is never written
    GLOBAL_THREAD_LOCAL = 1u << 2,
    GLOBAL_COMDAT = 1u << 3,
    GLOBAL_HIDDEN = 1u << 4,        // not preemptible: hidden
    GLOBAL_PROTECTED = 1u << 5,     // not preemptible: protected
    GLOBAL_ADDRESS_TAKEN = 1u << 6, // used otherwise than as the function that a call names
    GLOBAL_USED = 1u << 7,          // in llvm.used or llvm.compiler.used
    GLOBAL_CONSTRUCTOR = 1u << 8,   // in llvm.global_ctors
    GLOBAL_DESTRUCTOR = 1u << 9,    // in llvm.global_dtors
    GLOBAL_INTRINSIC = 1u << 10,
};

struct global {
    uint8_t kind;      // enum global_kind
    uint8_t linkage;   // enum global_linkage
    uint8_t alignment; // power of two; 0 also when not given
    uint8_t reserved;
    uint32_t flags; // enum global_flag
    struct string_id name;
    struct type_id type; // of the value: of the variable, or a function type
    struct operand initialiser;
    uint32_t target;
    struct string_id section;
    struct string_id debug_name;     // of a variable: as the source names it
    struct debug_type_id debug_type; // of a variable
    struct place_id place;           // of its declaration
};

struct asm_text {
    struct string_id text;
    struct string_id constraints;
    uint32_t flags; // 1: has side effects, 2: aligned stack, 4: Intel syntax, 8: may unwind
};

// ---- Instructions

/*
 * Operands in order, and what `detail` and `subcode` hold:
 *
 *   RET                [value] or none
 *   BR                 target | condition, if true, if false
 *   SWITCH             value, default, then pairs: constant, target
 *   INDIRECTBR         address, targets...
 *   CALL               arguments..., callee                   detail: calls[]
 *   INVOKE             arguments..., callee, normal, unwind   detail: calls[]
 *   CALLBR             arguments..., callee, default, others  detail: calls[]
 *   RESUME             value            UNREACHABLE  none
 *   CLEANUPRET, CATCHRET, CATCHSWITCH, CLEANUPPAD, CATCHPAD: LLVM's order
 *   FNEG, FREEZE       value
 *   ADD ... XOR        left, right
 *   ALLOCA             count            detail: type id of one
 *   LOAD               address          detail: type id of what is read
 *   STORE              value, address   detail: type id of what is written
 *   FENCE              none
 *   CMPXCHG            address, expected, new     detail: type id; subcode: ordering on failure
 *   RMW                address, value             detail: type id; subcode: enum insn_rmw
 *   GEP                base, indices...           detail: geps[]
 *   TRUNC ... ADDRSPACECAST   value
 *   ICMP, FCMP         left, right      subcode: enum insn_predicate
 *   PHI                pairs: value, predecessor node (the last of its block)
 *   SELECT             condition, if true, if false
 *   VAARG              list             detail: type id
 *   EXTRACTELEMENT     vector, index    INSERTELEMENT  vector, value, index
 *   SHUFFLEVECTOR      a, b, mask elements as constants (undef where any will do)
 *   EXTRACTVALUE       aggregate, indices as constants
 *   INSERTVALUE        aggregate, value, indices as constants
 *   LANDINGPAD         clauses...       subcode: 1 when a cleanup
 */
#define INSN_OPCODES(X)                                                                            \
    X(RET, "ret")                                                                                  \
    X(BR, "br")                                                                                    \
    X(SWITCH, "switch")                                                                            \
    X(INDIRECTBR, "indirectbr")                                                                    \
    X(INVOKE, "invoke")                                                                            \
    X(CALLBR, "callbr")                                                                            \
    X(RESUME, "resume")                                                                            \
    X(UNREACHABLE, "unreachable")                                                                  \
    X(CLEANUPRET, "cleanupret")                                                                    \
    X(CATCHRET, "catchret")                                                                        \
    X(CATCHSWITCH, "catchswitch")                                                                  \
    X(CALL, "call")                                                                                \
    X(FNEG, "fneg")                                                                                \
    X(ADD, "add")                                                                                  \
    X(FADD, "fadd")                                                                                \
    X(SUB, "sub")                                                                                  \
    X(FSUB, "fsub")                                                                                \
    X(MUL, "mul")                                                                                  \
    X(FMUL, "fmul")                                                                                \
    X(UDIV, "udiv")                                                                                \
    X(SDIV, "sdiv")                                                                                \
    X(FDIV, "fdiv")                                                                                \
    X(UREM, "urem")                                                                                \
    X(SREM, "srem")                                                                                \
    X(FREM, "frem")                                                                                \
    X(SHL, "shl")                                                                                  \
    X(LSHR, "lshr")                                                                                \
    X(ASHR, "ashr")                                                                                \
    X(AND, "and")                                                                                  \
    X(OR, "or")                                                                                    \
    X(XOR, "xor")                                                                                  \
    X(ALLOCA, "alloca")                                                                            \
    X(LOAD, "load")                                                                                \
    X(STORE, "store")                                                                              \
    X(FENCE, "fence")                                                                              \
    X(CMPXCHG, "cmpxchg")                                                                          \
    X(RMW, "atomicrmw")                                                                            \
    X(GEP, "getelementptr")                                                                        \
    X(TRUNC, "trunc")                                                                              \
    X(ZEXT, "zext")                                                                                \
    X(SEXT, "sext")                                                                                \
    X(FPTOUI, "fptoui")                                                                            \
    X(FPTOSI, "fptosi")                                                                            \
    X(UITOFP, "uitofp")                                                                            \
    X(SITOFP, "sitofp")                                                                            \
    X(FPTRUNC, "fptrunc")                                                                          \
    X(FPEXT, "fpext")                                                                              \
    X(PTRTOINT, "ptrtoint")                                                                        \
    X(INTTOPTR, "inttoptr")                                                                        \
    X(BITCAST, "bitcast")                                                                          \
    X(ADDRSPACECAST, "addrspacecast")                                                              \
    X(ICMP, "icmp")                                                                                \
    X(FCMP, "fcmp")                                                                                \
    X(PHI, "phi")                                                                                  \
    X(SELECT, "select")                                                                            \
    X(VAARG, "va_arg")                                                                             \
    X(EXTRACTELEMENT, "extractelement")                                                            \
    X(INSERTELEMENT, "insertelement")                                                              \
    X(SHUFFLEVECTOR, "shufflevector")                                                              \
    X(EXTRACTVALUE, "extractvalue")                                                                \
    X(INSERTVALUE, "insertvalue")                                                                  \
    X(FREEZE, "freeze")                                                                            \
    X(LANDINGPAD, "landingpad")                                                                    \
    X(CLEANUPPAD, "cleanuppad")                                                                    \
    X(CATCHPAD, "catchpad")                                                                        \
    X(OTHER, "other")

enum insn_opcode {
#define X(name, text) INSN_##name,
    INSN_OPCODES(X)
#undef X
        INSN_OPCODE_COUNT
};

enum insn_flag {
    INSN_VOLATILE = 1u << 0,
    INSN_NSW = 1u << 1, // signed overflow is undefined
    INSN_NUW = 1u << 2, // unsigned overflow is undefined
    INSN_EXACT = 1u << 3,
    INSN_INBOUNDS = 1u << 4,
    INSN_DISJOINT = 1u << 5,
    INSN_NNEG = 1u << 6,
    INSN_FAST = 1u << 7, // some fast-math flag
    INSN_TAIL = 1u << 8,
    INSN_MUSTTAIL = 1u << 9,
    INSN_NOTAIL = 1u << 10,
    INSN_WEAK = 1u << 11,          // cmpxchg
    INSN_SINGLE_THREAD = 1u << 12, // atomic with respect to signal handlers only
};

enum insn_ordering { // as LLVM has them
    ORDERING_NONE = 0,
    ORDERING_UNORDERED = 1,
    ORDERING_MONOTONIC = 2,
    ORDERING_ACQUIRE = 4,
    ORDERING_RELEASE = 5,
    ORDERING_ACQ_REL = 6,
    ORDERING_SEQ_CST = 7,
};

enum insn_predicate {
    PREDICATE_EQ,
    PREDICATE_NE,
    PREDICATE_UGT,
    PREDICATE_UGE,
    PREDICATE_ULT,
    PREDICATE_ULE,
    PREDICATE_SGT,
    PREDICATE_SGE,
    PREDICATE_SLT,
    PREDICATE_SLE,
    // of floats: o.. is false, u.. is true, when an operand is not a number
    PREDICATE_FALSE,
    PREDICATE_OEQ,
    PREDICATE_OGT,
    PREDICATE_OGE,
    PREDICATE_OLT,
    PREDICATE_OLE,
    PREDICATE_ONE,
    PREDICATE_ORD,
    PREDICATE_UNO,
    PREDICATE_UEQ,
    PREDICATE_FUGT,
    PREDICATE_FUGE,
    PREDICATE_FULT,
    PREDICATE_FULE,
    PREDICATE_UNE,
    PREDICATE_TRUE,
};

enum insn_rmw {
    RMW_XCHG,
    RMW_ADD,
    RMW_SUB,
    RMW_AND,
    RMW_NAND,
    RMW_OR,
    RMW_XOR,
    RMW_MAX,
    RMW_MIN,
    RMW_UMAX,
    RMW_UMIN,
    RMW_FADD,
    RMW_FSUB,
    RMW_FMAX,
    RMW_FMIN,
    RMW_OTHER,
};

struct insn {
    uint8_t opcode;    // enum insn_opcode
    uint8_t subcode;   // see above
    uint8_t ordering;  // enum insn_ordering, of atomic accesses and fences
    uint8_t alignment; // power of two, of memory accesses and allocas
    uint16_t flags;    // enum insn_flag
    uint16_t reserved;
    struct type_id type; // of the result; void when there is none
    uint32_t first_operand;
    uint32_t operand_count;
    uint32_t detail; // see above, or CODE_NONE
    struct place_id place;
    uint32_t node;
};

// A GEP: address = base + offset + sum of stride * index over the steps whose index is no constant.
struct gep {
    struct type_id source; // what the base points to
    uint32_t first_step;
    uint32_t step_count;
    uint32_t reserved;
    int64_t offset; // of all constant steps together
};

struct gep_step {
    struct operand index;
    struct type_id container; // the type stepped into
    uint32_t field;           // of a struct; CODE_NONE for arrays, vectors and the pointer itself
    uint32_t reserved;
    int64_t stride; // bytes of one; for a field its offset
};

enum call_flag {
    CALL_NORETURN = 1u << 0,
    CALL_RETURNS_TWICE = 1u << 1,
    CALL_NOUNWIND = 1u << 2,
    CALL_INTRINSIC = 1u << 3, // callee is an intrinsic: no call site
    CALL_ASM = 1u << 4,       // callee is inline assembly: no call site
    CALL_READ_NONE = 1u << 5, // declared const
    CALL_READ_ONLY = 1u << 6, // declared pure
};

struct call {
    struct type_id type; // of the function, as called
    uint32_t site;       // in `sites`, or CODE_NONE
    uint32_t flags;      // enum call_flag
    uint32_t argument_count;
};

// ---- Functions, nodes, call sites

enum argument_flag {
    ARGUMENT_BYVAL = 1u << 0, // in memory, copied by the caller
    ARGUMENT_SRET = 1u << 1,
    ARGUMENT_SIGNEXT = 1u << 2,
    ARGUMENT_ZEROEXT = 1u << 3,
    ARGUMENT_NOALIAS = 1u << 4,
};

struct argument {
    struct type_id type;
    struct type_id pointee; // of byval and sret; else void
    uint32_t flags;         // enum argument_flag
    uint32_t variable;      // in `variables`, or CODE_NONE
    uint32_t function;
};

// How many arguments of which class are passed (x86-64): enough to say whether a call fits.
struct signature {
    uint8_t integers; // ints and pointers
    uint8_t floats;   // in vector registers
    uint8_t memory;   // on the stack by their type
    uint8_t varargs;  // 1: takes more; as a call: made through a variadic type
};

enum function_flag {
    FUNCTION_OPTNONE = 1u << 0,
    FUNCTION_NAKED = 1u << 1,
    FUNCTION_VARARGS = 1u << 2,
    FUNCTION_NORETURN = 1u << 3,
    FUNCTION_WEAK = 1u << 4, // any of weak, linkonce
    FUNCTION_COMDAT = 1u << 5,
    FUNCTION_AVAILABLE_EXTERNALLY = 1u << 6, // a copy for inlining only
    FUNCTION_INTERNAL = 1u << 7,
    FUNCTION_SETJMP = 1u << 8,         // holds a call that returns twice
    FUNCTION_ADDRESS_TAKEN = 1u << 9,  // somewhere in the program, once the model is complete
    FUNCTION_NO_INSTRUMENT = 1u << 10, // attribute that asks for no instrumentation
    FUNCTION_MODELLESS_USE = 1u << 11, // model-less code refers to it
    FUNCTION_EXPORTED = 1u << 12,      // in .dynsym
    FUNCTION_HIDDEN = 1u << 13,        // not preemptible: hidden or protected
    FUNCTION_BLOCK_ADDRESS = 1u << 14, // addresses of its blocks are taken
    FUNCTION_INDIRECT_BRANCH = 1u << 15,
    FUNCTION_MUSTTAIL = 1u << 16,
    FUNCTION_ASM = 1u << 17, // holds inline assembly
    FUNCTION_ALWAYS_INLINE = 1u << 18,
    FUNCTION_NOUNWIND = 1u << 19,
    FUNCTION_INVOKE = 1u << 20, // holds landing pads
    FUNCTION_USED = 1u << 21,   // kept for uses that the compiler cannot see
    FUNCTION_IFUNC_RESOLVER = 1u << 22,
};

struct code_function {
    uint32_t global;
    struct string_id name;        // the symbol
    struct string_id debug_name;  // as DWARF names the subprogram: its linkage name, or its name
    struct string_id source_name; // as the source names it
    uint32_t flags;               // enum function_flag, what the module alone tells
    struct type_id type;
    struct signature signature;
    struct place_id place; // of its definition
    uint32_t first_node, node_count;
    uint32_t first_edge, edge_count;
    uint32_t first_site, site_count;
    uint32_t first_argument, argument_count;
    uint32_t first_variable, variable_count;
    uint64_t checksum; // path_graph_checksum()
};

enum node_flag {
    NODE_CALL = 1u << 0,          // ends with a call (PATH_NODE_CALL)
    NODE_RETURNS_TWICE = 1u << 1, // ends with a call such as setjmp (PATH_NODE_RETURNS_TWICE)
    NODE_RETURN = 1u << 2,        // ends with a return
    NODE_UNREACHABLE = 1u << 3,   // ends where control does not go on
    NODE_RESUME = 1u << 4,        // ends by unwinding further
    NODE_ASM = 1u << 5,           // holds inline assembly
    NODE_LANDING = 1u << 6,       // begins with a landing pad
    NODE_BLOCK_START = 1u << 7,   // first of its block
    NODE_BLOCK_ADDRESS = 1u << 8, // its block's address is taken
    NODE_SETJMP = 1u << 9,        // holds __builtin_setjmp, which is no call site
    NODE_LONGJMP = 1u << 10,      // holds __builtin_longjmp
};

struct code_node {
    uint32_t function;
    uint32_t block; // index of its block in the function
    uint32_t first_insn, insn_count;
    uint32_t first_edge;   // in edge_targets, edge_flags; ends where the next node's begin
    uint32_t site;         // or CODE_NONE
    uint32_t flags;        // enum node_flag
    struct place_id place; // of the first instruction that has one
};

enum site_flag {
    SITE_INDIRECT = 1u << 0, // through a pointer
    SITE_NORETURN = 1u << 1,
    SITE_RETURNS_TWICE = 1u << 2,
    SITE_NOUNWIND = 1u << 3,
    SITE_INVOKE = 1u << 4,  // unwinds to a landing pad
    SITE_LONGJMP = 1u << 5, // longjmp and its like: may land behind any call that returns twice
    SITE_MUSTTAIL = 1u << 6,
    SITE_EXTERNAL = 1u << 7,      // may run model-less code
    SITE_CALLS_BACK = 1u << 8,    // that code may call functions of the model
    SITE_MAY_LONGJMP = 1u << 9,   // that code may itself jump to a jmp_buf it was given
    SITE_THREAD_START = 1u << 10, // pthread_create and its like: an argument starts a thread
    SITE_SIGNAL_SETUP = 1u << 11, // signal, sigaction and their like
    SITE_AT_EXIT = 1u << 12,      // atexit and its like
    SITE_IFUNC = 1u << 13,        // names an ifunc
    SITE_EXITS = 1u << 14,        // exit and its like: runs atexit handlers and destructors
    SITE_LOOSE = 1u << 15,        // the optimiser may have moved, merged or dropped it
};

struct code_site {
    uint32_t node;
    uint32_t insn;
    uint32_t callee;            // in `globals`, or CODE_NONE when indirect
    uint32_t flags;             // enum site_flag, what the module alone tells
    struct signature signature; // of what is passed
};

struct place {
    uint32_t file; // in `files`
    uint32_t line;
    uint32_t column;
    uint32_t carried; // enum place_carried
};

// Whose place is it? The front end gives jumps the place of what stands elsewhere in the function
// where it has no better one (`case 4:;` goes on by the line before): machine code may be found by
// it, but the line did not run with it.
enum place_carried {
    PLACE_OWN,
    PLACE_OTHERS,  // of another statement
    PLACE_PERHAPS, // of a jump that may be a statement (`break`) or not, on a line with others
};

struct code_file {
    struct string_id directory;
    struct string_id name; // as the compiler was given it
};

// ---- Variables and types of the source

enum variable_kind {
    VARIABLE_DECLARED, // lives at the address `storage`
    VARIABLE_VALUE,    // has the value `storage` from insn on
};

struct variable {
    struct string_id name;
    uint32_t function;
    uint8_t kind; // enum variable_kind
    uint8_t reserved[3];
    uint32_t argument; // number from 1, or 0
    uint32_t insn;     // the instruction before which it is described, or CODE_NONE
    struct operand storage;
    struct debug_type_id type;
    struct place_id place; // of the declaration
};

enum debug_type_kind {
    DEBUG_TYPE_VOID,
    DEBUG_TYPE_BASIC, // an int, a float, a char...; by name and size
    DEBUG_TYPE_POINTER,
    DEBUG_TYPE_STRUCT,
    DEBUG_TYPE_UNION,
    DEBUG_TYPE_ARRAY,
    DEBUG_TYPE_ENUM,
    DEBUG_TYPE_TYPEDEF,
    DEBUG_TYPE_CONST,
    DEBUG_TYPE_VOLATILE,
    DEBUG_TYPE_FUNCTION,
    DEBUG_TYPE_OTHER,
};

struct debug_type {
    uint8_t kind; // enum debug_type_kind
    uint8_t reserved[3];
    struct string_id name;
    struct debug_type_id base; // pointed to, element, aliased, qualified
    uint32_t first_member;
    uint32_t member_count;
    uint32_t reserved2;
    uint64_t bits;
};

struct debug_member {
    struct string_id name;
    struct debug_type_id type;
    uint64_t bit_offset;
    uint64_t bits;
};

// ---- The tables

#define CODE_TABLES(X)                                                                             \
    X(strings, char)                                                                               \
    X(types, struct type)                                                                          \
    X(type_members, struct type_member)                                                            \
    X(files, struct code_file)                                                                     \
    X(places, struct place)                                                                        \
    X(constants, struct constant)                                                                  \
    X(bytes, uint8_t)                                                                              \
    X(globals, struct global)                                                                      \
    X(asms, struct asm_text)                                                                       \
    X(functions, struct code_function)                                                             \
    X(arguments, struct argument)                                                                  \
    X(nodes, struct code_node)                                                                     \
    X(edge_targets, uint32_t) /* node of the same function, counted from its first */              \
    X(edge_flags, uint8_t)    /* enum path_edge_flag */                                            \
    X(sites, struct code_site)                                                                     \
    X(insns, struct insn)                                                                          \
    X(operands, struct operand)                                                                    \
    X(calls, struct call)                                                                          \
    X(geps, struct gep)                                                                            \
    X(gep_steps, struct gep_step)                                                                  \
    X(variables, struct variable)                                                                  \
    X(debug_types, struct debug_type)                                                              \
    X(debug_members, struct debug_member)

struct code {
#define X(name, type)                                                                              \
    const type *name;                                                                              \
    uint32_t name##_count;
    CODE_TABLES(X)
#undef X
    struct string_id source;     // what was compiled
    struct string_id module_asm; // assembly outside functions
    const void *block;           // all tables
    size_t block_size;
    bool mapped; // block is mapped from a file
};

static inline const char *code_string(const struct code *code, struct string_id id)
{
    assert(id.value < code->strings_count);
    return code->strings + id.value;
}

static inline struct operand code_operand(const struct code *code, const struct insn *insn,
                                          uint32_t index)
{
    assert(index < insn->operand_count);
    return code->operands[insn->first_operand + index];
}

static inline const struct type *code_type(const struct code *code, struct type_id id)
{
    assert(id.value < code->types_count);
    return &code->types[id.value];
}

static inline struct type_id code_type_member(const struct code *code, struct type_id id,
                                              uint32_t index)
{
    const struct type *type = code_type(code, id);
    assert(index < type->member_count);
    return code->type_members[type->first_member + index].type;
}

// NULL when id says none.
static inline const struct place *code_place(const struct code *code, struct place_id id)
{
    assert(id.value < code->places_count);
    return id.value ? &code->places[id.value] : NULL;
}

// NULL also where the place is another instruction's: what ran is told by this one.
static inline const struct place *code_own_place(const struct code *code, struct place_id id)
{
    const struct place *place = code_place(code, id);
    return place && !place->carried ? place : NULL;
}

// The end of node n's edges in edge_targets.
static inline uint32_t code_edge_end(const struct code *code, uint32_t n)
{
    return n + 1 < code->nodes_count ? code->nodes[n + 1].first_edge : code->edge_targets_count;
}

// The call that an instruction (CALL, INVOKE, CALLBR) makes, and the operand that is called.
static inline const struct call *code_call(const struct code *code, const struct insn *insn)
{
    assert(insn->opcode == INSN_CALL || insn->opcode == INSN_INVOKE || insn->opcode == INSN_CALLBR);
    return &code->calls[insn->detail];
}

static inline struct operand code_callee(const struct code *code, const struct insn *insn)
{
    return code_operand(code, insn, code_call(code, insn)->argument_count);
}

// A call of an intrinsic that uses the addresses it is given and hands none of them on.
bool code_is_memory_intrinsic(const struct code *code, const struct insn *insn);
// A call of an intrinsic that stops the program.
bool code_is_trap(const struct code *code, const struct insn *insn);

// The type of an operand's value; void for nodes, assembly and metadata.
struct type_id code_operand_type(const struct code *code, struct operand operand);

const char *insn_opcode_name(enum insn_opcode opcode);
const char *insn_predicate_name(enum insn_predicate predicate);

// A short text of an instruction or operand, for people; to be freed.
char *insn_text(const struct code *code, uint32_t insn);
char *operand_text(const struct code *code, struct operand operand);

void code_destroy(struct code *code); // NULL is fine

// The tables as a file, and back (mapped). A damaged file is ERROR_FORMAT, one that another version
// wrote ERROR_MISMATCH.
struct error *code_write(const struct code *code, const char *path);
struct error *code_read(const char *path, struct code **ret);

#endif
