// SPDX-License-Identifier: Apache-2.0
/*
 * An integer calculator. Every line of the input is an expression or an assignment; the value of
 * each is printed, or an error with its column.
 *
 *     calc [-x]     -x: values in hexadecimal
 */
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum node_kind { NODE_NUMBER, NODE_VARIABLE, NODE_UNARY, NODE_BINARY, NODE_CALL };

#define ARGUMENT_MOST 4

struct node {
    enum node_kind kind;
    char sign;
    long long number;
    int variable;
    const struct function *function;
    int count;
    struct node *child[ARGUMENT_MOST];
};

struct calc {
    long long variable[26];
    const char *line, *at;
    const char *error;
    int error_column;
    bool hexadecimal;
    unsigned long evaluated;
};

struct function {
    const char *name;
    int least, most;
    long long (*apply)(struct calc *calc, const long long *argument, int count);
};

static struct node *parse_sum(struct calc *calc);
static long long evaluate(struct calc *calc, const struct node *node);

static void fail(struct calc *calc, const char *message)
{
    if (calc->error == NULL) {
        calc->error = message;
        calc->error_column = (int)(calc->at - calc->line) + 1;
    }
}

// ---- Arithmetic that wraps

static long long add(long long a, long long b)
{
    return (long long)((unsigned long long)a + (unsigned long long)b);
}

static long long subtract(long long a, long long b)
{
    return (long long)((unsigned long long)a - (unsigned long long)b);
}

static long long multiply(long long a, long long b)
{
    return (long long)((unsigned long long)a * (unsigned long long)b);
}

static long long divide(struct calc *calc, long long a, long long b)
{
    if (b == 0) {
        fail(calc, "division by zero");
        return 0;
    }
    return b == -1 ? subtract(0, a) : a / b;
}

static long long modulo(struct calc *calc, long long a, long long b)
{
    if (b == 0) {
        fail(calc, "modulo by zero");
        return 0;
    }
    return b == -1 ? 0 : a % b;
}

// ---- Functions

static long long absolute(long long a)
{
    return a < 0 ? subtract(0, a) : a;
}

static long long common_divisor(long long a, long long b)
{
    a = absolute(a);
    b = absolute(b);
    while (b > 0) {
        long long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static long long call_abs(struct calc *calc, const long long *argument, int count)
{
    (void)calc;
    (void)count;
    return absolute(argument[0]);
}

static long long call_min(struct calc *calc, const long long *argument, int count)
{
    long long best = argument[0];
    (void)calc;
    for (int i = 1; i < count; i++) {
        if (argument[i] < best)
            best = argument[i];
    }
    return best;
}

static long long call_max(struct calc *calc, const long long *argument, int count)
{
    long long best = argument[0];
    (void)calc;
    for (int i = 1; i < count; i++) {
        if (argument[i] > best)
            best = argument[i];
    }
    return best;
}

static long long call_gcd(struct calc *calc, const long long *argument, int count)
{
    long long result = argument[0];
    (void)calc;
    for (int i = 1; i < count; i++)
        result = common_divisor(result, argument[i]);
    return result;
}

static long long call_lcm(struct calc *calc, const long long *argument, int count)
{
    (void)calc;
    (void)count;
    long long a = absolute(argument[0]), b = absolute(argument[1]);
    long long divisor = common_divisor(a, b);
    return multiply(a / divisor, b);
}

static long long call_pow(struct calc *calc, const long long *argument, int count)
{
    long long base = argument[0], exponent = argument[1], result = 1;
    (void)count;
    if (exponent < 0) {
        fail(calc, "negative exponent");
        return 0;
    }
    for (exponent &= 63; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result = multiply(result, base);
        base = multiply(base, base);
    }
    return result;
}

static long long call_avg(struct calc *calc, const long long *argument, int count)
{
    long long sum = 0;
    for (int i = 0; i < count; i++)
        sum = add(sum, argument[i]);
    return divide(calc, sum, count);
}

static const struct function functions[] = {
    {"abs", 1, 1, call_abs}, {"min", 1, 4, call_min}, {"max", 1, 4, call_max},
    {"gcd", 1, 4, call_gcd}, {"lcm", 2, 2, call_lcm}, {"pow", 2, 2, call_pow},
    {"avg", 1, 4, call_avg},
};

static const struct function *function_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0)
            return &functions[i];
    }
    return NULL;
}

// ---- Parsing

static struct node *node_create(enum node_kind kind)
{
    struct node *node = calloc(1, sizeof *node);
    if (node == NULL)
        exit(3);
    node->kind = kind;
    return node;
}

static void node_destroy(struct node *node)
{
    if (node == NULL)
        return;
    for (int i = 0; i < node->count; i++)
        node_destroy(node->child[i]);
    free(node);
}

static char peek(struct calc *calc)
{
    while (*calc->at == ' ')
        calc->at++;
    return *calc->at;
}

static bool accept(struct calc *calc, char wanted)
{
    if (peek(calc) != wanted)
        return false;
    calc->at++;
    return true;
}

static struct node *parse_number(struct calc *calc)
{
    struct node *node = node_create(NODE_NUMBER);
    while (isdigit((unsigned char)*calc->at))
        node->number = add(multiply(node->number, 10), *calc->at++ - '0');
    return node;
}

static struct node *parse_call(struct calc *calc, const struct function *function)
{
    struct node *node = node_create(NODE_CALL);
    node->function = function;
    if (!accept(calc, '('))
        fail(calc, "'(' expected");
    do {
        if (node->count == function->most) {
            fail(calc, "too many arguments");
            return node;
        }
        node->child[node->count] = parse_sum(calc);
        node->count++;
    } while (accept(calc, ','));
    if (!accept(calc, ')'))
        fail(calc, "')' expected");
    if (node->count < function->least)
        fail(calc, "too few arguments");
    return node;
}

static struct node *parse_name(struct calc *calc)
{
    const char *start = calc->at;
    while (isalpha((unsigned char)*calc->at))
        calc->at++;
    size_t length = (size_t)(calc->at - start);
    if (length == 1 && islower((unsigned char)*start)) {
        struct node *node = node_create(NODE_VARIABLE);
        node->variable = *start - 'a';
        return node;
    }
    const struct function *function = function_find(start, length);
    if (function == NULL) {
        fail(calc, "unknown function");
        return node_create(NODE_NUMBER);
    }
    return parse_call(calc, function);
}

static struct node *parse_primary(struct calc *calc)
{
    char c = peek(calc);
    if (isdigit((unsigned char)c))
        return parse_number(calc);
    if (isalpha((unsigned char)c))
        return parse_name(calc);
    if (accept(calc, '(')) {
        struct node *node = parse_sum(calc);
        if (!accept(calc, ')'))
            fail(calc, "')' expected");
        return node;
    }
    if (accept(calc, '-')) {
        struct node *node = node_create(NODE_UNARY);
        node->child[node->count++] = parse_primary(calc);
        return node;
    }
    fail(calc, "operand expected");
    return node_create(NODE_NUMBER);
}

static struct node *binary(char sign, struct node *left, struct node *right)
{
    struct node *node = node_create(NODE_BINARY);
    node->sign = sign;
    node->child[0] = left;
    node->child[1] = right;
    node->count = 2;
    return node;
}

static struct node *parse_product(struct calc *calc)
{
    struct node *node = parse_primary(calc);
    while (calc->error == NULL) {
        char c = peek(calc);
        if (c != '*' && c != '/' && c != '%')
            break;
        calc->at++;
        node = binary(c, node, parse_primary(calc));
    }
    return node;
}

static struct node *parse_sum(struct calc *calc)
{
    struct node *node = parse_product(calc);
    while (calc->error == NULL) {
        char c = peek(calc);
        if (c != '+' && c != '-')
            break;
        calc->at++;
        node = binary(c, node, parse_product(calc));
    }
    return node;
}

// ---- Evaluation

static long long evaluate_binary(struct calc *calc, const struct node *node)
{
    long long left = evaluate(calc, node->child[0]);
    long long right = evaluate(calc, node->child[1]);
    switch (node->sign) {
    case '+':
        return add(left, right);
    case '-':
        return subtract(left, right);
    case '*':
        return multiply(left, right);
    case '/':
        return divide(calc, left, right);
    default:
        return modulo(calc, left, right);
    }
}

static long long evaluate(struct calc *calc, const struct node *node)
{
    long long argument[ARGUMENT_MOST];
    calc->evaluated++;
    switch (node->kind) {
    case NODE_NUMBER:
        return node->number;
    case NODE_VARIABLE:
        return calc->variable[node->variable];
    case NODE_UNARY:
        return subtract(0, evaluate(calc, node->child[0]));
    case NODE_BINARY:
        return evaluate_binary(calc, node);
    case NODE_CALL:
        for (int i = 0; i < node->count; i++)
            argument[i] = evaluate(calc, node->child[i]);
        return node->function->apply(calc, argument, node->count);
    }
    return 0;
}

// `x = expression`: the number of x, and the rest of the line; -1 if the line is none.
static int assignment(struct calc *calc)
{
    const char *start = calc->at;
    char name = peek(calc);
    if (islower((unsigned char)name)) {
        calc->at++;
        if (accept(calc, '='))
            return name - 'a';
    }
    calc->at = start;
    return -1;
}

static void run_line(struct calc *calc, const char *line)
{
    calc->line = calc->at = line;
    calc->error = NULL;
    if (peek(calc) == '\0' || peek(calc) == '#')
        return;
    int target = assignment(calc);
    struct node *node = parse_sum(calc);
    if (calc->error == NULL && peek(calc) != '\0')
        fail(calc, "end of line expected");
    long long value = calc->error == NULL ? evaluate(calc, node) : 0;
    if (calc->error != NULL) {
        printf("error: column %d: %s\n", calc->error_column, calc->error);
    } else {
        if (target >= 0)
            calc->variable[target] = value;
        printf(calc->hexadecimal ? "%llx\n" : "%lld\n", value);
    }
    node_destroy(node);
}

int main(int argc, char **argv)
{
    struct calc calc = {0};
    char line[512];
    calc.hexadecimal = argc > 1 && strcmp(argv[1], "-x") == 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        run_line(&calc, line);
    }
    printf("%lu nodes\n", calc.evaluated);
    return 0;
}
