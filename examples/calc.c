// SPDX-License-Identifier: Apache-2.0
/*
 * calc: evaluates lines such as `x = 3 * (4 + y)`, with functions (abs, max, sum) and integers.
 *
 * What goes wrong: a call of a function that is not known gives no function, and apply() calls it
 * all the same (`calc < inputs/calc.crash`). Division by zero is not looked for either (SIGFPE,
 * inputs/calc.divide), and an assertion says that nobody nests deeper than MOST
 * (inputs/calc.assert).
 */
#include <assert.h>
#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, ARGUMENTS = 8 };

struct variable {
    struct variable *next;
    long value;
    char name[16];
};

struct calc {
    const char *at;
    int depth;
    struct variable *variables;
    jmp_buf error;
    const char *message;
};

typedef long function(const long *arguments, int count);

static long function_abs(const long *arguments, int count)
{
    return count && arguments[0] < 0 ? -arguments[0] : count ? arguments[0] : 0;
}

static long function_max(const long *arguments, int count)
{
    long most = arguments[0];

    for (int i = 1; i < count; i++)
        if (arguments[i] > most)
            most = arguments[i];
    return most;
}

static long function_sum(const long *arguments, int count)
{
    return count ? arguments[0] + function_sum(arguments + 1, count - 1) : 0;
}

// A front end may add its own: the table ends with an empty entry.
struct {
    const char *name;
    function *call;
} calc_functions[8] = {{"abs", function_abs}, {"max", function_max}, {"sum", function_sum}};

static long expression(struct calc *calc);

static void fail(struct calc *calc, const char *message)
{
    calc->message = message;
    longjmp(calc->error, 1);
}

static char look(struct calc *calc)
{
    while (*calc->at == ' ')
        calc->at++;
    return *calc->at;
}

static function *find_function(const char *name)
{
    int i = 0;

    while (calc_functions[i].name && strcmp(calc_functions[i].name, name) != 0)
        i++;
    return calc_functions[i].call;
}

static struct variable *find_variable(struct calc *calc, const char *name)
{
    struct variable *variable = calc->variables;

    while (variable && strcmp(variable->name, name) != 0)
        variable = variable->next;
    if (variable)
        return variable;
    variable = calloc(1, sizeof(*variable));
    if (!variable)
        fail(calc, "out of memory");
    strcpy(variable->name, name);
    variable->next = calc->variables;
    return calc->variables = variable;
}

static long apply(struct calc *calc, const char *name)
{
    long arguments[ARGUMENTS];
    int count = 0;

    calc->at++;
    while (look(calc) != ')') {
        if (count == ARGUMENTS)
            fail(calc, "too many arguments");
        arguments[count++] = expression(calc);
        if (look(calc) == ',')
            calc->at++;
        else if (look(calc) != ')')
            fail(calc, "expected ')'");
    }
    calc->at++;
    return find_function(name)(arguments, count);
}

static void read_name(struct calc *calc, char name[16])
{
    int length = 0;

    while (isalnum((unsigned char)*calc->at)) {
        if (length == 15)
            fail(calc, "the name is too long");
        name[length++] = *calc->at++;
    }
    name[length] = '\0';
}

static long primary(struct calc *calc)
{
    char name[16], c = look(calc);
    long value;

    if (isdigit((unsigned char)c))
        return strtol(calc->at, (char **)&calc->at, 10);
    if (isalpha((unsigned char)c)) {
        read_name(calc, name);
        if (look(calc) == '(')
            return apply(calc, name);
        return find_variable(calc, name)->value;
    }
    calc->at++;
    switch (c) {
    case '-':
        return -primary(calc);
    case '(':
        value = expression(calc);
        if (look(calc) != ')')
            fail(calc, "expected ')'");
        calc->at++;
        return value;
    case '\0':
        calc->at--;
        fail(calc, "the line ends too early");
    default:
        fail(calc, "unexpected character");
    }
    return 0;
}

static long term(struct calc *calc)
{
    long value = primary(calc);

    for (;;) {
        switch (look(calc)) {
        case '*':
            calc->at++;
            value *= primary(calc);
            break;
        case '/':
            calc->at++;
            value /= primary(calc);
            break;
        default:
            return value;
        }
    }
}

static long expression(struct calc *calc)
{
    assert(++calc->depth < MOST);
    long value = term(calc);

    for (char c = look(calc); c == '+' || c == '-'; c = look(calc)) {
        calc->at++;
        if (c == '+')
            value += term(calc);
        else
            value -= term(calc);
    }
    calc->depth--;
    return value;
}

static void statement(struct calc *calc, const char *line)
{
    const char *equals = strchr(line, '=');
    struct variable *target = NULL;
    char name[16];

    calc->at = line;
    if (equals) {
        look(calc);
        read_name(calc, name);
        target = find_variable(calc, name);
        calc->at = equals + 1;
    }
    long value = expression(calc);
    if (look(calc))
        fail(calc, "what follows is not understood");
    if (target)
        target->value = value;
    else
        printf("%ld\n", value);
}

int main(void)
{
    struct calc calc = {0};
    char line[256];

    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        calc.depth = 0;
        if (setjmp(calc.error)) {
            printf("error: %s\n", calc.message);
            continue;
        }
        if (*line && *line != '#')
            statement(&calc, line);
    }
    return 0;
}
