// SPDX-License-Identifier: Apache-2.0
// One function's dependences as text: docs/formats/dependence.md.
#include "analysis/dependence_internal.h"
#include "common/strbuf.h"

struct writer {
    struct dependence *dependence;
    struct strbuf *text;
    struct function_id function;
    uint32_t first_insn;
    struct bitset named; // classes that were mentioned
};

static void write_classes(struct writer *writer, const char *word, struct class_set set)
{
    if (set.count == 0)
        return;
    strbuf_printf(writer->text, " %s", word);
    for (uint32_t i = 0; i < set.count; i++) {
        strbuf_printf(writer->text, " %u", set.data[i].value);
        bitset_set(&writer->named, set.data[i].value);
    }
}

static void write_insns(struct writer *writer, const char *word, const struct insn_vec *insns)
{
    if (insns->length == 0)
        return;
    strbuf_printf(writer->text, " %s", word);
    for (size_t i = 0; i < insns->length; i++)
        strbuf_printf(writer->text, " %u", insns->data[i].value - writer->first_insn);
}

static void write_definitions(struct writer *writer, struct class_id class,
                              const struct definitions *definitions)
{
    strbuf_printf(writer->text, " %u:", class.value);
    bitset_set(&writer->named, class.value);
    write_insns(writer, "writers", &definitions->writers);
    write_insns(writer, "calls", &definitions->calls);
    write_insns(writer, "jumps", &definitions->jumps);
    if (definitions->from_entry)
        strbuf_append(writer->text, " entry");
    if (definitions->asynchronous.count)
        strbuf_printf(writer->text, " aside %u", definitions->asynchronous.count);
    strbuf_append_char(writer->text, '\n');
}

static void write_insn(struct writer *writer, struct insn_id insn)
{
    struct dependence *dependence = writer->dependence;
    struct class_accesses accesses = dependence_accesses(dependence, insn);
    struct definitions definitions;

    if (accesses.reads.count == 0 && accesses.writes.count == 0)
        return;
    strbuf_printf(writer->text, "    insn %u %s", insn.value - writer->first_insn,
                  insn_opcode_name(dependence_insn_at(dependence, insn, NULL, NULL)->opcode));
    write_classes(writer, "reads", accesses.reads);
    write_classes(writer, "writes", accesses.writes);
    write_classes(writer, "certain", accesses.certain);
    strbuf_append_char(writer->text, '\n');
    for (uint32_t i = 0; i < accesses.reads.count; i++) {
        dependence_reaching(dependence, insn, accesses.reads.data[i], NULL, &definitions);
        strbuf_append(writer->text, "      from");
        write_definitions(writer, accesses.reads.data[i], &definitions);
        definitions_deinit(&definitions);
    }
}

static void write_node(struct writer *writer, struct node_id node)
{
    struct control control = dependence_control(writer->dependence, node);
    uint32_t first = model_function(writer->dependence->model, writer->function)->first_node;
    uint32_t end, insn = node_first_insn(writer->dependence, node, &end).value;

    strbuf_printf(writer->text, "  node %u%s", node.value - first,
                  control.is_entry ? " entry" : "");
    if (control.count)
        strbuf_append(writer->text, " on");
    for (uint32_t i = 0; i < control.count; i++)
        strbuf_printf(writer->text, " %u", control.nodes[i].value - first);
    strbuf_append_char(writer->text, '\n');
    for (; insn < end; insn++)
        write_insn(writer, (struct insn_id){insn});
}

static void write_exits(struct writer *writer)
{
    struct class_set mod = dependence_mod(writer->dependence, writer->function);
    struct definitions definitions;

    for (uint32_t i = 0; i < mod.count; i++) {
        dependence_reaching_exit(writer->dependence, writer->function, mod.data[i], NULL,
                                 &definitions);
        strbuf_append(writer->text, "  exit");
        write_definitions(writer, mod.data[i], &definitions);
        definitions_deinit(&definitions);
    }
    if (!dependence_may_jump(writer->dependence, writer->function))
        return;
    for (uint32_t i = 0; i < mod.count; i++) {
        dependence_reaching_jump(writer->dependence, writer->function, mod.data[i], NULL,
                                 &definitions);
        strbuf_append(writer->text, "  jump");
        write_definitions(writer, mod.data[i], &definitions);
        definitions_deinit(&definitions);
    }
}

static void write_names(struct writer *writer)
{
    struct strbuf name = STRBUF_INIT;

    for (size_t c = bitset_next(&writer->named, 0); c < writer->named.size;
         c = bitset_next(&writer->named, c + 1)) {
        const char *found =
            dependence_class_name(writer->dependence, (struct class_id){(uint32_t)c}, &name);
        strbuf_printf(writer->text, "class %zu \"", c);
        strbuf_append_escaped(writer->text, found);
        strbuf_append(writer->text, "\"\n");
    }
    strbuf_deinit(&name);
}

void dependence_write_text(struct dependence *dependence, struct function_id function,
                           struct strbuf *text)
{
    const struct model_function *f = model_function(dependence->model, function);
    struct writer writer = {.dependence = dependence, .text = text, .function = function};
    uint32_t end;

    if (f->node_count)
        writer.first_insn =
            node_first_insn(dependence, (struct node_id){f->first_node}, &end).value;
    bitset_init(&writer.named, dependence_class_count(dependence));
    strbuf_printf(text, "function %u \"", function.value);
    strbuf_append_escaped(text, f->name);
    strbuf_printf(text, "\"%s%s", dependence_may_stay(dependence, function) ? " stays" : "",
                  dependence_may_jump(dependence, function) ? " jumps" : "");
    write_classes(&writer, "mod", dependence_mod(dependence, function));
    write_classes(&writer, "ref", dependence_ref(dependence, function));
    strbuf_append_char(text, '\n');
    for (uint32_t n = f->first_node; n < f->first_node + f->node_count; n++)
        write_node(&writer, (struct node_id){n});
    write_exits(&writer);
    write_names(&writer);
    bitset_deinit(&writer.named);
}
