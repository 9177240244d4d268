// SPDX-License-Identifier: Apache-2.0
// from_bitcode: every table, against small modules whose answers are known by hand.
#include "model_fixture.h"

#include "program/from_bitcode.h"
#include "program/insn.h"

#define LAYOUT                                                                                     \
    "target datalayout = "                                                                         \
    "\"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n"        \
    "target triple = \"x86_64-pc-linux-gnu\"\n"

static struct code *code_of(const char *assembly)
{
    struct section_module module;
    struct section_function *entries;
    struct fixture_bytes bitcode = fixture_bitcode(assembly, &module, &entries);
    struct code *code;

    fixture_check(from_bitcode(bitcode.data, bitcode.size, &code));
    assert_int_equal(code->functions_count, module.function_count);
    assert_int_equal(code->sites_count, module.site_count);
    for (uint32_t f = 0; f < module.function_count; f++)
        assert_true(code->functions[f].checksum == entries[f].checksum);
    free(entries);
    free(bitcode.data);
    return code;
}

static uint32_t global_named(const struct code *code, const char *name)
{
    for (uint32_t g = 0; g < code->globals_count; g++)
        if (strcmp(code_string(code, code->globals[g].name), name) == 0)
            return g;
    fail_msg("no global %s", name);
    return 0;
}

// The n-th instruction of this opcode in the module.
static uint32_t find_insn(const struct code *code, enum insn_opcode opcode, uint32_t n)
{
    for (uint32_t i = 0; i < code->insns_count; i++)
        if (code->insns[i].opcode == opcode && n-- == 0)
            return i;
    fail_msg("no such %s", insn_opcode_name(opcode));
    return 0;
}

static uint64_t constant_value(const struct code *code, struct operand operand)
{
    assert_int_equal(operand_kind(operand), OPERAND_CONSTANT);
    assert_int_equal(code->constants[operand_index(operand)].kind, CONSTANT_INT);
    return code->constants[operand_index(operand)].value;
}

// ---- Control flow

static void nodes_and_sites(void **state)
{
    struct code *code = code_of(LAYOUT "declare void @a()\n"
                                       "declare i32 @b(i32)\n"
                                       "declare void @llvm.donothing()\n"
                                       "define i32 @first(i32 %x) {\n"
                                       "entry:\n"
                                       "  call void @a()\n"
                                       "  %r = call i32 @b(i32 %x)\n"
                                       "  call void @llvm.donothing()\n"
                                       "  %c = icmp slt i32 %r, 7\n"
                                       "  br i1 %c, label %yes, label %no\n"
                                       "yes:\n"
                                       "  br label %no\n"
                                       "no:\n"
                                       "  %p = phi i32 [ %r, %entry ], [ 4, %yes ]\n"
                                       "  ret i32 %p\n"
                                       "}\n"
                                       "define void @second(ptr %f) {\n"
                                       "  call void %f(i32 1, double 2.0)\n"
                                       "  call void asm sideeffect \"nop\", \"\"()\n"
                                       "  unreachable\n"
                                       "}\n");
    (void)state;
    assert_int_equal(code->functions_count, 2);
    assert_int_equal(code->functions[0].node_count, 5);
    assert_int_equal(code->functions[1].first_node, 5);
    assert_int_equal(code->functions[1].node_count, 2);
    // 0 -> 1 -> 2 -> {3, 4}, 3 -> 4
    static const uint32_t targets[] = {1, 2, 3, 4, 4, 1};
    assert_int_equal(code->edge_targets_count, 6);
    assert_memory_equal(code->edge_targets, targets, sizeof(targets));
    assert_int_equal(code->nodes[2].first_edge, 2);
    assert_int_equal(code_edge_end(code, 2), 4);
    assert_int_equal(code->nodes[0].flags, NODE_CALL | NODE_BLOCK_START);
    assert_int_equal(code->nodes[1].flags, NODE_CALL);
    assert_int_equal(code->nodes[2].flags, 0);
    assert_int_equal(code->nodes[4].flags, NODE_BLOCK_START | NODE_RETURN);
    assert_int_equal(code->nodes[6].flags, NODE_UNREACHABLE | NODE_ASM);
    assert_int_equal(code->nodes[0].insn_count, 1);
    assert_int_equal(code->nodes[2].insn_count, 3);

    assert_int_equal(code->sites_count, 3);
    assert_int_equal(code->sites[0].callee, global_named(code, "a"));
    assert_int_equal(code->sites[1].node, 1);
    assert_int_equal(code->sites[2].callee, CODE_NONE);
    assert_int_equal(code->sites[2].flags, SITE_INDIRECT);
    assert_int_equal(code->sites[2].signature.integers, 1);
    assert_int_equal(code->sites[2].signature.floats, 1);
    assert_int_equal(code->functions[1].first_site, 2);

    const struct insn *phi = &code->insns[find_insn(code, INSN_PHI, 0)];
    assert_int_equal(phi->operand_count, 4);
    // the predecessor is the last node of its block: 2, not 0
    assert_int_equal(code_operand(code, phi, 1).bits, operand_make(OPERAND_NODE, 2).bits);
    assert_int_equal(code_operand(code, phi, 3).bits, operand_make(OPERAND_NODE, 3).bits);
    assert_int_equal(constant_value(code, code_operand(code, phi, 2)), 4);
    const struct insn *branch = &code->insns[find_insn(code, INSN_BR, 0)];
    assert_int_equal(operand_kind(code_operand(code, branch, 0)), OPERAND_INSN);
    assert_int_equal(code_operand(code, branch, 1).bits, operand_make(OPERAND_NODE, 3).bits);
    assert_int_equal(code_operand(code, branch, 2).bits, operand_make(OPERAND_NODE, 4).bits);
    assert_int_equal(code->insns[find_insn(code, INSN_ICMP, 0)].subcode, PREDICATE_SLT);
    code_destroy(code);
}

static void switch_cases_and_blocks(void **state)
{
    struct code *code =
        code_of(LAYOUT "@table = constant [2 x ptr] [ptr blockaddress(@f, %one), ptr "
                       "blockaddress(@f, %two)]\n"
                       "define i32 @f(i64 %x, ptr %p) {\n"
                       "  switch i64 %x, label %two [ i64 -1, label %one\n i64 9, label %jump ]\n"
                       "one:\n  ret i32 1\n"
                       "two:\n  ret i32 2\n"
                       "jump:\n  indirectbr ptr %p, [label %one, label %two]\n"
                       "}\n");
    (void)state;
    const struct insn *insn = &code->insns[find_insn(code, INSN_SWITCH, 0)];
    assert_int_equal(insn->operand_count, 6);
    assert_int_equal(code_operand(code, insn, 1).bits, operand_make(OPERAND_NODE, 2).bits);
    assert_true(constant_value(code, code_operand(code, insn, 2)) == UINT64_MAX);
    assert_int_equal(code_operand(code, insn, 3).bits, operand_make(OPERAND_NODE, 1).bits);
    assert_int_equal(code_operand(code, insn, 5).bits, operand_make(OPERAND_NODE, 3).bits);
    assert_true(code->nodes[1].flags & NODE_BLOCK_ADDRESS);
    assert_true(code->functions[0].flags & FUNCTION_BLOCK_ADDRESS);
    assert_true(code->functions[0].flags & FUNCTION_INDIRECT_BRANCH);
    // a block's address does not make its function callable through pointers
    assert_false(code->functions[0].flags & FUNCTION_ADDRESS_TAKEN);

    const struct global *table = &code->globals[global_named(code, "table")];
    const struct constant *array = &code->constants[operand_index(table->initialiser)];
    assert_int_equal(array->kind, CONSTANT_AGGREGATE);
    assert_int_equal(array->operand_count, 2);
    const struct constant *block =
        &code->constants[operand_index(code->operands[array->first_operand + 1])];
    assert_int_equal(block->kind, CONSTANT_BLOCK);
    assert_int_equal(code->operands[block->first_operand + 1].bits,
                     operand_make(OPERAND_NODE, 2).bits);
    code_destroy(code);
}

// ---- Data

static void types_and_addresses(void **state)
{
    struct code *code =
        code_of(LAYOUT "%in = type { i8, i64 }\n"
                       "%s = type { i16, [4 x %in], ptr }\n"
                       "define ptr @f(ptr %p, i64 %i) {\n"
                       "  %q = getelementptr inbounds %s, ptr %p, i64 2, i32 1, i64 %i, i32 1\n"
                       "  %a = alloca [3 x i32], align 16\n"
                       "  ret ptr %q\n"
                       "}\n");
    (void)state;
    const struct insn *insn = &code->insns[find_insn(code, INSN_GEP, 0)];
    const struct gep *gep = &code->geps[insn->detail];
    assert_true(insn->flags & INSN_INBOUNDS);
    assert_int_equal(gep->step_count, 4);
    // sizeof(s) = 8 + 4 * 16 + 8 = 80
    assert_int_equal(gep->offset, 2 * 80 + 8 + 8);
    const struct gep_step *steps = code->gep_steps + gep->first_step;
    assert_int_equal(steps[0].stride, 80);
    assert_int_equal(steps[0].field, CODE_NONE);
    assert_int_equal(steps[1].field, 1);
    assert_int_equal(steps[1].stride, 8);
    assert_int_equal(steps[2].stride, 16);
    assert_int_equal(operand_kind(steps[2].index), OPERAND_ARGUMENT);
    assert_int_equal(operand_index(steps[2].index), 1);
    assert_int_equal(steps[3].field, 1);
    assert_int_equal(steps[3].stride, 8);

    const struct type *source = code_type(code, gep->source);
    assert_int_equal(source->kind, TYPE_STRUCT);
    assert_string_equal(code_string(code, source->name), "s");
    assert_int_equal(source->size, 80);
    assert_int_equal(code->type_members[source->first_member + 2].offset, 72);
    const struct insn *alloca = &code->insns[find_insn(code, INSN_ALLOCA, 0)];
    assert_int_equal(code_type(code, (struct type_id){alloca->detail})->size, 12);
    assert_int_equal(alloca->alignment, 4);
    code_destroy(code);
}

static void memory_accesses(void **state)
{
    struct code *code = code_of(LAYOUT "define i16 @f(ptr %p) {\n"
                                       "  %a = load volatile i16, ptr %p, align 2\n"
                                       "  store atomic i64 5, ptr %p release, align 8\n"
                                       "  %b = atomicrmw umax ptr %p, i32 7 seq_cst\n"
                                       "  %c = cmpxchg weak ptr %p, i8 1, i8 2 acq_rel monotonic\n"
                                       "  fence syncscope(\"singlethread\") acquire\n"
                                       "  %d = add nsw i16 %a, 1\n"
                                       "  %e = ashr exact i16 %d, 1\n"
                                       "  %g = extractvalue { i8, i1 } %c, 1\n"
                                       "  ret i16 %e\n"
                                       "}\n");
    (void)state;
    const struct insn *load = &code->insns[find_insn(code, INSN_LOAD, 0)];
    assert_int_equal(load->flags, INSN_VOLATILE);
    assert_int_equal(code_type(code, (struct type_id){load->detail})->bits, 16);
    const struct insn *store = &code->insns[find_insn(code, INSN_STORE, 0)];
    assert_int_equal(store->ordering, ORDERING_RELEASE);
    assert_int_equal(code_type(code, (struct type_id){store->detail})->store, 8);
    assert_int_equal(constant_value(code, code_operand(code, store, 0)), 5);
    assert_int_equal(operand_kind(code_operand(code, store, 1)), OPERAND_ARGUMENT);
    const struct insn *rmw = &code->insns[find_insn(code, INSN_RMW, 0)];
    assert_int_equal(rmw->subcode, RMW_UMAX);
    assert_int_equal(rmw->ordering, ORDERING_SEQ_CST);
    const struct insn *exchange = &code->insns[find_insn(code, INSN_CMPXCHG, 0)];
    assert_int_equal(exchange->ordering, ORDERING_ACQ_REL);
    assert_int_equal(exchange->subcode, ORDERING_MONOTONIC);
    assert_true(exchange->flags & INSN_WEAK);
    assert_int_equal(code_type(code, (struct type_id){exchange->detail})->bits, 8);
    const struct insn *fence = &code->insns[find_insn(code, INSN_FENCE, 0)];
    assert_int_equal(fence->flags, INSN_SINGLE_THREAD);
    assert_int_equal(code->insns[find_insn(code, INSN_ADD, 0)].flags, INSN_NSW);
    assert_int_equal(code->insns[find_insn(code, INSN_ASHR, 0)].flags, INSN_EXACT);
    const struct insn *extract = &code->insns[find_insn(code, INSN_EXTRACTVALUE, 0)];
    assert_int_equal(extract->operand_count, 2);
    assert_int_equal(constant_value(code, code_operand(code, extract, 1)), 1);
    code_destroy(code);
}

static const struct constant *initialiser(const struct code *code, const char *name)
{
    const struct global *global = &code->globals[global_named(code, name)];

    assert_int_equal(operand_kind(global->initialiser), OPERAND_CONSTANT);
    return &code->constants[operand_index(global->initialiser)];
}

static void constants(void **state)
{
    struct code *code = code_of(LAYOUT "@wide = global i128 -2\n"
                                       "@big = global i128 18446744073709551618\n"
                                       "@d = global double 1.5\n"
                                       "@f = global float 1.5\n"
                                       "@x = global x86_fp80 0xK3FFFC000000000000000\n"
                                       "@half = global half 0xH3E00\n"
                                       "@text = global [3 x i8] c\"a\\00b\"\n"
                                       "@data = global [2 x i16] [i16 258, i16 -1]\n"
                                       "@zero = global [2 x i16] zeroinitializer\n"
                                       "@null = global ptr null\n"
                                       "@inner = global ptr getelementptr (i8, ptr @data, i64 2)\n"
                                       "@mixed = global { i32, ptr } { i32 3, ptr @data }\n");
    (void)state;
    const struct constant *wide = initialiser(code, "wide");
    assert_int_equal(wide->byte_count, 16);
    assert_int_equal(code->bytes[wide->first_byte], 0xfe);
    for (uint32_t i = 1; i < 16; i++)
        assert_int_equal(code->bytes[wide->first_byte + i], 0xff);
    static const uint8_t two_64_and_2[16] = {2, 0, 0, 0, 0, 0, 0, 0, 1};
    assert_memory_equal(code->bytes + initialiser(code, "big")->first_byte, two_64_and_2, 16);
    assert_true(initialiser(code, "d")->value == UINT64_C(0x3ff8000000000000));
    assert_true(initialiser(code, "f")->value == 0x3fc00000);
    static const uint8_t one_and_half[10] = {0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x3f};
    const struct constant *x87 = initialiser(code, "x");
    assert_int_equal(x87->byte_count, 10);
    assert_memory_equal(code->bytes + x87->first_byte, one_and_half, 10);
    assert_true(initialiser(code, "half")->value == 0x3e00);
    const struct constant *text = initialiser(code, "text");
    assert_int_equal(text->kind, CONSTANT_BYTES);
    assert_memory_equal(code->bytes + text->first_byte, "a\0b", 3);
    const struct constant *data = initialiser(code, "data");
    assert_int_equal(data->byte_count, 4);
    assert_memory_equal(code->bytes + data->first_byte, "\x02\x01\xff\xff", 4);
    assert_int_equal(initialiser(code, "zero")->kind, CONSTANT_ZERO);
    assert_int_equal(initialiser(code, "null")->kind, CONSTANT_NULL);
    const struct constant *inner = initialiser(code, "inner");
    assert_int_equal(inner->kind, CONSTANT_EXPRESSION);
    assert_int_equal(inner->opcode, INSN_GEP);
    assert_int_equal(code->geps[inner->detail].offset, 2);
    assert_int_equal(code->operands[inner->first_operand].bits,
                     operand_make(OPERAND_GLOBAL, global_named(code, "data")).bits);
    const struct constant *mixed = initialiser(code, "mixed");
    assert_int_equal(mixed->operand_count, 2);
    assert_int_equal(constant_value(code, code->operands[mixed->first_operand]), 3);
    code_destroy(code);
}

// ---- Globals

static void address_taken(void **state)
{
    struct code *code = code_of(
        LAYOUT "@table = global [2 x ptr] [ptr @stored, ptr @ext]\n"
               "@llvm.used = appending global [1 x ptr] [ptr @kept], section \"llvm.metadata\"\n"
               "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } "
               "{ i32 65535, ptr @early, ptr null }]\n"
               "@other = alias void (), ptr @aliased\n"
               "@shown = alias void (), ptr @quiet\n"
               "declare void @ext()\n"
               "declare void @take(ptr)\n"
               "define void @stored() {\n ret void\n}\n"
               "define void @passed() {\n ret void\n}\n"
               "define internal void @kept() {\n ret void\n}\n"
               "define internal void @early() {\n ret void\n}\n"
               "define void @aliased() {\n ret void\n}\n"
               "define void @quiet() {\n ret void\n}\n"
               "define weak void @called() comdat {\n ret void\n}\n"
               "$called = comdat any\n"
               "define hidden void @caller() noreturn naked optnone noinline {\n"
               "  call void @called()\n"
               "  call void @take(ptr @passed)\n"
               "  call void @take(ptr @other)\n"
               "  call void @shown()\n"
               "  unreachable\n"
               "}\n");
    static const struct {
        const char *name;
        bool taken;
    } expected[] = {{"stored", true},  {"passed", true}, {"kept", false},   {"early", false},
                    {"aliased", true}, {"quiet", false}, {"called", false}, {"caller", false},
                    {"ext", true},     {"take", false}};
    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        uint32_t flags = code->globals[global_named(code, expected[i].name)].flags;
        if (((flags & GLOBAL_ADDRESS_TAKEN) != 0) != expected[i].taken)
            fail_msg("%s", expected[i].name);
    }
    assert_true(code->globals[global_named(code, "kept")].flags & GLOBAL_USED);
    assert_true(code->globals[global_named(code, "early")].flags & GLOBAL_CONSTRUCTOR);
    assert_true(code->globals[global_named(code, "ext")].flags & GLOBAL_DECLARED);
    const struct code_function *called =
        &code->functions[code->globals[global_named(code, "called")].target];
    assert_int_equal(called->flags, FUNCTION_WEAK | FUNCTION_COMDAT);
    const struct code_function *caller =
        &code->functions[code->globals[global_named(code, "caller")].target];
    assert_int_equal(caller->flags,
                     FUNCTION_HIDDEN | FUNCTION_NORETURN | FUNCTION_NAKED | FUNCTION_OPTNONE);
    code_destroy(code);
}

static void calls_and_signatures(void **state)
{
    struct code *code = code_of(
        LAYOUT "declare i32 @setjmp(ptr) returns_twice\n"
               "declare void @stop() noreturn nounwind\n"
               "declare i32 @__gxx_personality_v0(...)\n"
               "define i32 @f(ptr byval(i64) %a, i32 %b, float %c, x86_fp80 %d, i128 %e, ...) "
               "personality ptr @__gxx_personality_v0 {\n"
               "  %r = call i32 @setjmp(ptr null)\n"
               "  invoke void @stop() to label %fine unwind label %pad\n"
               "fine:\n"
               "  ret i32 %r\n"
               "pad:\n"
               "  %l = landingpad { ptr, i32 } cleanup\n"
               "  resume { ptr, i32 } %l\n"
               "}\n");
    (void)state;
    const struct code_function *f = &code->functions[0];
    assert_int_equal(f->signature.integers, 3);
    assert_int_equal(f->signature.floats, 1);
    assert_int_equal(f->signature.memory, 2);
    assert_int_equal(f->signature.varargs, 1);
    assert_int_equal(f->flags, FUNCTION_VARARGS | FUNCTION_SETJMP | FUNCTION_INVOKE);
    assert_int_equal(f->argument_count, 5);
    assert_int_equal(code->arguments[0].flags, ARGUMENT_BYVAL);
    assert_int_equal(code_type(code, code->arguments[0].pointee)->bits, 64);
    assert_int_equal(code->sites[0].flags, SITE_RETURNS_TWICE);
    assert_int_equal(code->sites[1].flags, SITE_NORETURN | SITE_NOUNWIND | SITE_INVOKE);
    assert_true(code->nodes[0].flags & NODE_RETURNS_TWICE);
    const struct insn *invoke = &code->insns[code->sites[1].insn];
    assert_int_equal(invoke->operand_count, 3);
    assert_int_equal(code_callee(code, invoke).bits,
                     operand_make(OPERAND_GLOBAL, global_named(code, "stop")).bits);
    assert_int_equal(code_operand(code, invoke, 2).bits, operand_make(OPERAND_NODE, 3).bits);
    assert_true(code->nodes[3].flags & NODE_LANDING);
    assert_true(code->nodes[3].flags & NODE_RESUME);
    code_destroy(code);
}

// ---- Debug info

static void places_and_variables(void **state)
{
    struct code *code = code_of(
        LAYOUT
        "%struct.pair = type { ptr, i32 }\n"
        "define i32 @mangled(i32 %n) !dbg !4 {\n"
        "  %n.addr = alloca i32\n"
        "  %local = alloca %struct.pair\n"
        "  store i32 %n, ptr %n.addr\n"
        "    #dbg_declare(ptr %n.addr, !8, !DIExpression(), !20)\n"
        "    #dbg_declare(ptr %local, !9, !DIExpression(), !21)\n"
        "  %r = load i32, ptr %n.addr, !dbg !22\n"
        "  ret i32 %r, !dbg !23\n"
        "}\n"
        "!llvm.dbg.cu = !{!0}\n"
        "!llvm.module.flags = !{!2, !3}\n"
        "!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)\n"
        "!1 = !DIFile(filename: \"dir/a.c\", directory: \"/src\")\n"
        "!2 = !{i32 7, !\"Dwarf Version\", i32 5}\n"
        "!3 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
        "!4 = distinct !DISubprogram(name: \"plain\", linkageName: \"mangled\", scope: !1, file: "
        "!1, line: 10, type: !5, unit: !0, spFlags: DISPFlagDefinition)\n"
        "!5 = !DISubroutineType(types: !6)\n"
        "!6 = !{!7, !7}\n"
        "!7 = !DIBasicType(name: \"int\", size: 32, encoding: DW_ATE_signed)\n"
        "!8 = !DILocalVariable(name: \"n\", arg: 1, scope: !4, file: !1, line: 10, type: !7)\n"
        "!9 = !DILocalVariable(name: \"p\", scope: !4, file: !1, line: 11, type: !10)\n"
        "!10 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: \"pair\", size: 128, "
        "elements: !11)\n"
        "!11 = !{!12, !13}\n"
        "!12 = !DIDerivedType(tag: DW_TAG_member, name: \"next\", baseType: !14, size: 64)\n"
        "!13 = !DIDerivedType(tag: DW_TAG_member, name: \"v\", baseType: !7, size: 32, offset: "
        "64)\n"
        "!14 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !10, size: 64)\n"
        "!20 = !DILocation(line: 10, column: 5, scope: !4)\n"
        "!21 = !DILocation(line: 11, column: 5, scope: !4)\n"
        "!22 = !DILocation(line: 12, column: 3, scope: !4)\n"
        "!23 = !DILocation(line: 0, column: 0, scope: !4)\n");
    (void)state;
    const struct code_function *f = &code->functions[0];
    assert_string_equal(code_string(code, f->name), "mangled");
    assert_string_equal(code_string(code, f->debug_name), "mangled");
    assert_string_equal(code_string(code, f->source_name), "plain");
    assert_int_equal(code_place(code, f->place)->line, 10);
    const struct place *place = code_place(code, code->nodes[0].place);
    assert_int_equal(place->line, 12);
    assert_int_equal(place->column, 3);
    assert_string_equal(code_string(code, code->files[place->file].directory), "/src");
    assert_string_equal(code_string(code, code->files[place->file].name), "dir/a.c");
    assert_null(code_place(code, code->insns[find_insn(code, INSN_RET, 0)].place));

    assert_int_equal(code->variables_count, 2);
    assert_int_equal(code->insns_count, 5); // what describes is no instruction
    const struct variable *n = &code->variables[0], *p = &code->variables[1];
    assert_string_equal(code_string(code, n->name), "n");
    assert_int_equal(n->argument, 1);
    assert_int_equal(n->storage.bits, operand_make(OPERAND_INSN, 0).bits);
    assert_int_equal(code->arguments[0].variable, 0);
    assert_int_equal(p->argument, 0);
    const struct debug_type *pair = &code->debug_types[p->type.value];
    assert_int_equal(pair->kind, DEBUG_TYPE_STRUCT);
    assert_int_equal(pair->member_count, 2);
    const struct debug_member *next = &code->debug_members[pair->first_member];
    assert_string_equal(code_string(code, next->name), "next");
    assert_int_equal(code->debug_types[next->type.value].base.value, p->type.value);
    assert_int_equal(next[1].bit_offset, 64);
    code_destroy(code);
}

static void garbage_is_refused(void **state)
{
    struct code *code;
    char garbage[64] = "BC\xc0\xde";

    (void)state;
    fixture_expect(from_bitcode(garbage, sizeof(garbage), &code), ERROR_FORMAT, "bitcode");
    fixture_expect(from_bitcode("", 0, &code), ERROR_FORMAT, "bitcode");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_and_sites),
        cmocka_unit_test(switch_cases_and_blocks),
        cmocka_unit_test(types_and_addresses),
        cmocka_unit_test(memory_accesses),
        cmocka_unit_test(constants),
        cmocka_unit_test(address_taken),
        cmocka_unit_test(calls_and_signatures),
        cmocka_unit_test(places_and_variables),
        cmocka_unit_test(garbage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
