// SPDX-License-Identifier: Apache-2.0
/*
 * An assembler and a machine with a stack. A program is text: labels "name:", instructions, and
 * "func name ARGUMENTS" which starts a function; every function leaves one value. It starts at
 * main.
 *
 *     vm [-t] [-l STEPS]     -t: the number of times that each instruction was done
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MOST  512
#define LABEL_MOST 64
#define STACK_MOST 256
#define FRAME_MOST 32

enum opcode {
    OP_PUSH,
    OP_POP,
    OP_DUP,
    OP_SWAP,
    OP_OVER,
    OP_ROT,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_LT,
    OP_EQ,
    OP_NOT,
    OP_NEG,
    OP_JUMP,
    OP_JZ,
    OP_ARG,
    OP_CALL,
    OP_RET,
    OP_PRINT,
    OP_LOAD,
    OP_STORE,
    OP_COUNT
};

static const struct {
    const char *name;
    char operand; // 'n' a number, 'l' a label, 0 none
    int needs, leaves;
} instructions[OP_COUNT] = {
    {"push", 'n', 0, 1}, {"pop", 0, 1, 0},     {"dup", 0, 1, 2},    {"swap", 0, 2, 2},
    {"over", 0, 2, 3},   {"rot", 0, 3, 3},     {"add", 0, 2, 1},    {"sub", 0, 2, 1},
    {"mul", 0, 2, 1},    {"div", 0, 2, 1},     {"lt", 0, 2, 1},     {"eq", 0, 2, 1},
    {"not", 0, 1, 1},    {"neg", 0, 1, 1},     {"jump", 'l', 0, 0}, {"jz", 'l', 1, 0},
    {"arg", 'n', 0, 1},  {"call", 'l', 0, 1},  {"ret", 0, 1, 0},    {"print", 0, 1, 0},
    {"load", 'n', 0, 1}, {"store", 'n', 1, 0},
};

struct label {
    char name[24];
    int address;   // -1: not seen yet
    int arguments; // -1: no function
};

struct code {
    unsigned char opcode[CODE_MOST];
    int operand[CODE_MOST];
    int line[CODE_MOST];
    int count;
    struct label label[LABEL_MOST];
    int label_count;
};

struct frame {
    int back;     // where to go on
    int base;     // the stack's height below the arguments
    int height;   // and above them, when the function began
    int function; // its label
};

struct machine {
    const struct code *code;
    int stack[STACK_MOST];
    int top;
    struct frame frame[FRAME_MOST];
    int frames;
    int memory[16];
    int pc;
    long steps, limit;
    long done[OP_COUNT];
    const char *fault;
};

// ---- The assembler

static int label_get(struct code *code, const char *name)
{
    for (int i = 0; i < code->label_count; i++) {
        if (strcmp(code->label[i].name, name) == 0)
            return i;
    }
    if (code->label_count == LABEL_MOST || strlen(name) >= sizeof code->label[0].name)
        return -1;
    struct label *label = &code->label[code->label_count];
    snprintf(label->name, sizeof label->name, "%s", name);
    label->address = label->arguments = -1;
    return code->label_count++;
}

static bool define(struct code *code, const char *name, int arguments)
{
    int number = label_get(code, name);
    if (number < 0 || code->label[number].address >= 0)
        return false;
    code->label[number].address = code->count;
    code->label[number].arguments = arguments;
    return true;
}

static int opcode_find(const char *name)
{
    for (int i = 0; i < OP_COUNT; i++) {
        if (strcmp(instructions[i].name, name) == 0)
            return i;
    }
    return -1;
}

static bool instruction(struct code *code, const char *name, const char *operand, int line)
{
    int opcode = opcode_find(name);
    if (opcode < 0 || code->count == CODE_MOST)
        return false;
    int value = 0;
    if (instructions[opcode].operand != 0 && operand == NULL)
        return false;
    if (instructions[opcode].operand == 'n')
        value = atoi(operand);
    else if (instructions[opcode].operand == 'l')
        value = label_get(code, operand);
    if (instructions[opcode].operand == 'l' && value < 0)
        return false;
    if ((opcode == OP_LOAD || opcode == OP_STORE) && (value < 0 || value >= 16))
        return false;
    code->opcode[code->count] = (unsigned char)opcode;
    code->operand[code->count] = value;
    code->line[code->count] = line;
    code->count++;
    return true;
}

static bool assemble_line(struct code *code, char *text, int line)
{
    text[strcspn(text, ";\n")] = '\0';
    char *word = strtok(text, " \t");
    if (word == NULL)
        return true;
    char *operand = strtok(NULL, " \t");
    size_t length = strlen(word);
    if (word[length - 1] == ':') {
        word[length - 1] = '\0';
        return define(code, word, -1);
    }
    if (strcmp(word, "func") == 0) {
        char *arguments = strtok(NULL, " \t");
        return operand != NULL && arguments != NULL && define(code, operand, atoi(arguments));
    }
    return instruction(code, word, operand, line);
}

static bool link_code(const struct code *code)
{
    bool ok = code->count > 0;
    for (int i = 0; i < code->label_count; i++) {
        const struct label *label = &code->label[i];
        if (label->address < 0 || label->address >= code->count) {
            printf("label '%s' is not there\n", label->name);
            ok = false;
        }
    }
    for (int i = 0; i < code->count; i++) {
        if (code->opcode[i] == OP_CALL && code->label[code->operand[i]].arguments < 0) {
            printf("line %d: not a function\n", code->line[i]);
            ok = false;
        }
    }
    return ok;
}

// ---- The machine

static void fault(struct machine *machine, const char *message)
{
    machine->fault = message;
}

static int pop(struct machine *machine)
{
    return machine->stack[--machine->top];
}

static void push(struct machine *machine, int value)
{
    machine->stack[machine->top++] = value;
}

static int wrap(long long value)
{
    return (int)(unsigned)(unsigned long long)value;
}

static void enter(struct machine *machine, int label)
{
    const struct label *target = &machine->code->label[label];
    int floor = machine->frames > 0 ? machine->frame[machine->frames - 1].height : 0;
    if (machine->frames == FRAME_MOST) {
        fault(machine, "calls too deep");
        return;
    }
    if (machine->top - target->arguments < floor) {
        fault(machine, "too few arguments");
        return;
    }
    struct frame *frame = &machine->frame[machine->frames++];
    frame->back = machine->pc;
    frame->base = machine->top - target->arguments;
    frame->height = machine->top;
    frame->function = label;
    machine->pc = target->address;
}

static void leave(struct machine *machine)
{
    int result = pop(machine);
    const struct frame *frame = &machine->frame[--machine->frames];
    machine->top = frame->base;
    push(machine, result);
    machine->pc = frame->back;
}

static void argument(struct machine *machine, int number)
{
    const struct frame *frame = &machine->frame[machine->frames - 1];
    if (number < 0 || frame->base + number >= frame->height)
        fault(machine, "no such argument");
    else
        push(machine, machine->stack[frame->base + number]);
}

static void binary(struct machine *machine, enum opcode opcode)
{
    long long b = pop(machine), a = pop(machine);
    switch (opcode) {
    case OP_ADD:
        push(machine, wrap(a + b));
        break;
    case OP_SUB:
        push(machine, wrap(a - b));
        break;
    case OP_MUL:
        push(machine, wrap(a * b));
        break;
    case OP_DIV:
        if (b == 0)
            fault(machine, "division by zero");
        else
            push(machine, wrap(a / b));
        break;
    case OP_LT:
        push(machine, a < b);
        break;
    default:
        push(machine, a == b);
        break;
    }
}

static void shuffle(struct machine *machine, enum opcode opcode)
{
    int *top = &machine->stack[machine->top - 1];
    int value = *top;
    switch (opcode) {
    case OP_DUP:
        push(machine, value);
        break;
    case OP_SWAP:
        top[0] = top[-1];
        top[-1] = value;
        break;
    case OP_OVER:
        push(machine, top[-1]);
        break;
    case OP_ROT:
        top[0] = top[-2];
        top[-2] = top[-1];
        top[-1] = value;
    default:
        pop(machine);
        break;
    }
}

static void step(struct machine *machine)
{
    int at = machine->pc++;
    enum opcode opcode = (enum opcode)machine->code->opcode[at];
    int operand = machine->code->operand[at];
    int floor = machine->frame[machine->frames - 1].height;
    machine->done[opcode]++;
    if (opcode != OP_CALL && machine->top - instructions[opcode].needs < floor) {
        fault(machine, "stack too low");
        return;
    }
    if (machine->top + 1 >= STACK_MOST) {
        fault(machine, "stack too high");
        return;
    }
    switch (opcode) {
    case OP_PUSH:
        push(machine, operand);
        break;
    case OP_JUMP:
        machine->pc = machine->code->label[operand].address;
        break;
    case OP_JZ:
        if (pop(machine) == 0)
            machine->pc = machine->code->label[operand].address;
        break;
    case OP_ARG:
        argument(machine, operand);
        break;
    case OP_CALL:
        enter(machine, operand);
        break;
    case OP_RET:
        leave(machine);
        break;
    case OP_PRINT:
        printf("%d\n", pop(machine));
        break;
    case OP_LOAD:
        push(machine, machine->memory[operand]);
        break;
    case OP_STORE:
        machine->memory[operand] = pop(machine);
        break;
    case OP_NOT:
        push(machine, !pop(machine));
        break;
    case OP_NEG:
        push(machine, wrap(-(long long)pop(machine)));
        break;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_LT:
    case OP_EQ:
        binary(machine, opcode);
        break;
    default:
        shuffle(machine, opcode);
        break;
    }
}

static void execute(struct machine *machine)
{
    while (machine->frames > 0 && machine->fault == NULL) {
        if (machine->pc >= machine->code->count)
            fault(machine, "end of the program");
        else if (machine->steps++ >= machine->limit)
            fault(machine, "too many steps");
        else
            step(machine);
    }
    if (machine->fault != NULL)
        printf("fault: %s\n", machine->fault);
    else
        printf("result: %d\n", machine->stack[0]);
}

int main(int argc, char **argv)
{
    static struct code code;
    static struct machine machine;
    char line[128];
    bool totals = false, ok = true;
    machine.limit = 20000;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-t") == 0)
            totals = true;
        else if (strcmp(argv[i], "-l") == 0 && i + 1 < argc)
            machine.limit = atol(argv[++i]);
    }
    for (int number = 1; fgets(line, sizeof line, stdin) != NULL; number++) {
        if (!assemble_line(&code, line, number)) {
            printf("line %d: bad\n", number);
            ok = false;
        }
    }
    int start = label_get(&code, "main");
    if (!link_code(&code) || !ok || code.label[start].arguments != 0)
        return 0;
    machine.code = &code;
    enter(&machine, start);
    execute(&machine);
    for (int i = 0; totals && i < OP_COUNT; i++) {
        if (machine.done[i] > 0)
            printf("%s %ld\n", instructions[i].name, machine.done[i]);
    }
    return 0;
}
