// SPDX-License-Identifier: Apache-2.0
/*
 * Matrices of whole numbers. The input has commands:
 *     NAME = ROWS COLUMNS NUMBER...      NAME = A + B, A - B, A * B, A ^ N, A ' (transposed)
 *     print NAME, trace NAME, det NAME, sum NAME, drop NAME
 *
 *     matrix [-m MODULUS]     numbers are kept modulo MODULUS (else 1000003)
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE_MOST  8
#define NAME_COUNT 26

struct matrix {
    int rows, columns;
    long **row;
};

struct workspace {
    struct matrix *named[NAME_COUNT];
    long modulus;
    int made, freed;
};

static void *must(void *memory)
{
    if (memory == NULL)
        exit(3);
    return memory;
}

static long reduce(const struct workspace *space, long value)
{
    value %= space->modulus;
    return value < 0 ? value + space->modulus : value;
}

static struct matrix *matrix_new(struct workspace *space, int rows, int columns)
{
    struct matrix *matrix = must(malloc(sizeof *matrix));
    matrix->rows = rows;
    matrix->columns = columns;
    matrix->row = must(calloc((size_t)rows, sizeof *matrix->row));
    for (int i = 0; i < rows; i++)
        matrix->row[i] = must(calloc((size_t)columns, sizeof **matrix->row));
    space->made++;
    return matrix;
}

static void matrix_free(struct workspace *space, struct matrix *matrix)
{
    if (matrix == NULL)
        return;
    for (int i = 0; i < matrix->rows; i++)
        free(matrix->row[i]);
    free(matrix->row);
    free(matrix);
    space->freed++;
}

static struct matrix *matrix_copy(struct workspace *space, const struct matrix *from)
{
    struct matrix *copy = matrix_new(space, from->rows, from->columns);
    for (int i = 0; i < from->rows; i++)
        memcpy(copy->row[i], from->row[i], (size_t)from->columns * sizeof(long));
    return copy;
}

static struct matrix *matrix_identity(struct workspace *space, int side)
{
    struct matrix *matrix = matrix_new(space, side, side);
    for (int i = 0; i < side; i++)
        matrix->row[i][i] = 1;
    return matrix;
}

// ---- Operations: NULL where the shapes do not fit

static struct matrix *matrix_add(struct workspace *space, const struct matrix *a,
                                 const struct matrix *b, int sign)
{
    if (a->rows != b->rows || a->columns != b->columns)
        return NULL;
    struct matrix *result = matrix_new(space, a->rows, a->columns);
    for (int i = 0; i < a->rows; i++) {
        for (int j = 0; j < a->columns; j++)
            result->row[i][j] = reduce(space, a->row[i][j] + sign * b->row[i][j]);
    }
    return result;
}

static struct matrix *matrix_multiply(struct workspace *space, const struct matrix *a,
                                      const struct matrix *b)
{
    if (a->columns != b->rows)
        return NULL;
    struct matrix *result = matrix_new(space, a->rows, b->columns);
    for (int i = 0; i < a->rows; i++) {
        for (int j = 0; j < b->columns; j++) {
            long sum = 0;
            for (int k = 0; k < a->rows; k++)
                sum = reduce(space, sum + a->row[i][k] * b->row[k][j]);
            result->row[i][j] = sum;
        }
    }
    return result;
}

static struct matrix *matrix_transpose(struct workspace *space, const struct matrix *a)
{
    struct matrix *result = matrix_new(space, a->columns, a->rows);
    for (int i = 0; i < a->rows; i++) {
        for (int j = 0; j < a->columns; j++)
            result->row[j][i] = a->row[i][j];
    }
    return result;
}

static struct matrix *matrix_power(struct workspace *space, const struct matrix *a, int exponent)
{
    if (a->rows != a->columns || exponent < 0)
        return NULL;
    struct matrix *result = matrix_identity(space, a->rows);
    struct matrix *base = matrix_copy(space, a);
    for (; exponent > 0; exponent /= 2) {
        struct matrix *next;
        if (exponent % 2 == 1) {
            next = matrix_multiply(space, result, base);
            matrix_free(space, result);
            result = next;
        }
        next = matrix_multiply(space, base, base);
        matrix_free(space, base);
        base = next;
    }
    matrix_free(space, base);
    return result;
}

// By minors along the first row.
static long determinant(struct workspace *space, const struct matrix *a)
{
    long sum = 0;
    if (a->rows == 1)
        return a->row[0][0];
    struct matrix *minor = matrix_new(space, a->rows - 1, a->columns - 1);
    for (int skip = 0; skip < a->columns; skip++) {
        if (a->row[0][skip] == 0)
            continue;
        for (int i = 1; i < a->rows; i++) {
            for (int j = 0, to = 0; j < a->columns; j++) {
                if (j != skip)
                    minor->row[i - 1][to++] = a->row[i][j];
            }
        }
        long part = reduce(space, a->row[0][skip] * determinant(space, minor));
        sum = reduce(space, skip % 2 == 0 ? sum + part : sum - part);
    }
    matrix_free(space, minor);
    return sum;
}

static long trace(const struct workspace *space, const struct matrix *a)
{
    long sum = 0;
    for (int i = 0; i < a->rows && i < a->columns; i++)
        sum = reduce(space, sum + a->row[i][i]);
    return sum;
}

static long total(const struct workspace *space, const struct matrix *a)
{
    long sum = 0;
    for (int i = 0; i < a->rows; i++) {
        for (int j = 0; j < a->columns; j++)
            sum = reduce(space, sum + a->row[i][j]);
    }
    return sum;
}

static void print(const struct matrix *a)
{
    for (int i = 0; i < a->rows; i++) {
        for (int j = 0; j < a->columns; j++)
            printf("%ld%s", a->row[i][j], j == a->columns - 1 ? "\n" : " ");
    }
}

// ---- Commands

static struct matrix **slot(struct workspace *space, const char *name)
{
    if (name == NULL || !isupper((unsigned char)name[0]) || name[1] != '\0')
        return NULL;
    return &space->named[name[0] - 'A'];
}

static struct matrix *get(struct workspace *space, const char *name)
{
    struct matrix **where = slot(space, name);
    return where == NULL ? NULL : *where;
}

static struct matrix *read_numbers(struct workspace *space, const char *first)
{
    char *second = strtok(NULL, " ");
    int rows = atoi(first), columns = second == NULL ? 0 : atoi(second);
    if (rows < 1 || rows > SIDE_MOST || columns < 1 || columns > SIDE_MOST)
        return NULL;
    struct matrix *matrix = matrix_new(space, rows, columns);
    for (int i = 0; i < rows * columns; i++) {
        char *word = strtok(NULL, " ");
        if (word == NULL)
            break;
        matrix->row[i / columns][i % columns] = reduce(space, atol(word));
    }
    return matrix;
}

static struct matrix *expression(struct workspace *space)
{
    char *first = strtok(NULL, " ");
    if (first != NULL && isdigit((unsigned char)*first))
        return read_numbers(space, first);
    struct matrix *left = get(space, first);
    char *sign = strtok(NULL, " ");
    char *second = strtok(NULL, " ");
    if (left == NULL)
        return NULL;
    if (sign == NULL)
        return matrix_copy(space, left);
    if (*sign == '\'')
        return matrix_transpose(space, left);
    if (*sign == '^')
        return second == NULL ? NULL : matrix_power(space, left, atoi(second));
    struct matrix *right = get(space, second);
    if (right == NULL)
        return NULL;
    switch (*sign) {
    case '+':
        return matrix_add(space, left, right, 1);
    case '-':
        return matrix_add(space, left, right, -1);
    case '*':
        return matrix_multiply(space, left, right);
    default:
        return NULL;
    }
}

static void assign(struct workspace *space, struct matrix **where)
{
    struct matrix *result = expression(space);
    if (result == NULL) {
        puts("error");
        return;
    }
    matrix_free(space, *where);
    *where = result;
    printf("%d x %d\n", result->rows, result->columns);
}

static void ask(struct workspace *space, const char *question, const char *name)
{
    struct matrix *matrix = get(space, name);
    if (matrix == NULL) {
        puts("no such matrix");
    } else if (strcmp(question, "print") == 0) {
        print(matrix);
    } else if (strcmp(question, "trace") == 0) {
        printf("trace %ld\n", trace(space, matrix));
    } else if (strcmp(question, "sum") == 0) {
        printf("sum %ld\n", total(space, matrix));
    } else if (strcmp(question, "det") == 0) {
        if (matrix->rows == matrix->columns && matrix->rows <= 5)
            printf("det %ld\n", determinant(space, matrix));
        else
            puts("not square, or too large");
    } else if (strcmp(question, "drop") == 0) {
        matrix_free(space, matrix);
        *slot(space, name) = NULL;
    } else {
        puts("what?");
    }
}

static void command(struct workspace *space, char *line)
{
    char *first = strtok(line, " ");
    char *second = strtok(NULL, " ");
    if (first == NULL)
        return;
    struct matrix **where = slot(space, first);
    if (where != NULL && second != NULL && strcmp(second, "=") == 0)
        assign(space, where);
    else
        ask(space, first, second);
}

int main(int argc, char **argv)
{
    struct workspace space = {.modulus = 1000003};
    char line[1024];
    if (argc > 2 && strcmp(argv[1], "-m") == 0 && atol(argv[2]) > 1)
        space.modulus = atol(argv[2]);
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        command(&space, line);
    }
    for (int i = 0; i < NAME_COUNT; i++)
        matrix_free(&space, space.named[i]);
    printf("%d made, %d freed\n", space.made, space.freed);
    return 0;
}
