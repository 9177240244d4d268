// SPDX-License-Identifier: Apache-2.0
/*
 * A spreadsheet without a window. The input has lines "A1 = 12", "B2 = =A1*2+sum(A1:A4)", "calc",
 * "show A1", "clear A1", "dump". Cells are made when they are first spoken of.
 *
 *     sheet [-d DEPTH]     how deep cells may hang on each other (else 24)
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 10
#define ROWS    20

enum state { STATE_EMPTY, STATE_STALE, STATE_BUSY, STATE_DONE };

struct cell {
    int column, row;
    enum state state;
    char *formula; // NULL: none
    long value;
    const char *error; // NULL: the value is good
};

struct sheet {
    struct cell *cells;
    int count, capacity;
    int index[COLUMNS][ROWS]; // 1 + the number of the cell, 0: none
    int depth, depth_most;
    int evaluations;
};

struct reader {
    struct sheet *sheet;
    const char *at;
    const char *error;
};

static long read_sum(struct reader *reader);
static struct cell *cell_value(struct sheet *sheet, int column, int row);

static void *must(void *memory)
{
    if (memory == NULL)
        exit(3);
    return memory;
}

// ---- Cells

// Makes it if it is not there. Other pointers to cells may move.
static struct cell *cell_get(struct sheet *sheet, int column, int row)
{
    int number = sheet->index[column][row];
    if (number > 0)
        return &sheet->cells[number - 1];
    if (sheet->count == sheet->capacity) {
        sheet->capacity = sheet->capacity == 0 ? 4 : sheet->capacity * 2;
        sheet->cells = must(realloc(sheet->cells, (size_t)sheet->capacity * sizeof(struct cell)));
    }
    struct cell *cell = &sheet->cells[sheet->count++];
    memset(cell, 0, sizeof *cell);
    cell->column = column;
    cell->row = row;
    sheet->index[column][row] = sheet->count;
    return cell;
}

static void cell_set(struct sheet *sheet, int column, int row, const char *text)
{
    struct cell *cell = cell_get(sheet, column, row);
    free(cell->formula);
    cell->formula = NULL;
    cell->error = NULL;
    if (text[0] == '=') {
        cell->formula = must(strdup(text + 1));
        cell->state = STATE_STALE;
    } else {
        cell->value = atol(text);
        cell->state = STATE_DONE;
    }
}

static void cell_clear(struct cell *cell)
{
    free(cell->formula);
    cell->formula = NULL;
    cell->error = NULL;
    cell->value = 0;
    cell->state = STATE_EMPTY;
}

static bool read_reference(const char **at, int *column, int *row)
{
    const char *text = *at;
    if (*text < 'A' || *text >= 'A' + COLUMNS || !isdigit((unsigned char)text[1]))
        return false;
    *column = *text++ - 'A';
    *row = 0;
    while (isdigit((unsigned char)*text) && *row < 1000)
        *row = *row * 10 + (*text++ - '0');
    if (*row < 1 || *row > ROWS)
        return false;
    *row -= 1;
    *at = text;
    return true;
}

// ---- Formulas

static long fail(struct reader *reader, const char *message)
{
    if (reader->error == NULL)
        reader->error = message;
    return 0;
}

static long wrap(long value)
{
    return (long)(int)(unsigned)(unsigned long)value;
}

static bool accept(struct reader *reader, char wanted)
{
    while (*reader->at == ' ')
        reader->at++;
    if (*reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

static long read_cell(struct reader *reader, int column, int row)
{
    const struct cell *cell = cell_value(reader->sheet, column, row);
    if (cell->error != NULL)
        return fail(reader, cell->error);
    return cell->value;
}

// name(FROM:TO)
static long read_function(struct reader *reader)
{
    char name[8];
    size_t length = 0;
    int from_column, from_row, to_column, to_row, count = 0;
    long result = 0;
    while (islower((unsigned char)*reader->at) && length < sizeof name - 1)
        name[length++] = *reader->at++;
    name[length] = '\0';
    if (!accept(reader, '(') || !read_reference(&reader->at, &from_column, &from_row) ||
        !accept(reader, ':') || !read_reference(&reader->at, &to_column, &to_row) ||
        !accept(reader, ')'))
        return fail(reader, "#SYNTAX");
    for (int column = from_column; column <= to_column; column++) {
        for (int row = from_row; row <= to_row; row++) {
            long value = read_cell(reader, column, row);
            if (reader->error != NULL)
                return 0;
            if (strcmp(name, "sum") == 0)
                result = wrap(result + value);
            else if (strcmp(name, "max") == 0)
                result = count == 0 || value > result ? value : result;
            else if (strcmp(name, "min") == 0)
                result = count == 0 || value < result ? value : result;
            else if (strcmp(name, "count") == 0)
                result++;
            else
                return fail(reader, "#NAME");
            count++;
        }
    }
    return result;
}

static long read_primary(struct reader *reader)
{
    int column, row;
    if (accept(reader, '(')) {
        long value = read_sum(reader);
        return accept(reader, ')') ? value : fail(reader, "#SYNTAX");
    }
    if (accept(reader, '-'))
        return wrap(-read_primary(reader));
    if (isdigit((unsigned char)*reader->at)) {
        char *end;
        long value = strtol(reader->at, &end, 10);
        reader->at = end;
        return wrap(value);
    }
    if (islower((unsigned char)*reader->at))
        return read_function(reader);
    if (read_reference(&reader->at, &column, &row))
        return read_cell(reader, column, row);
    return fail(reader, "#SYNTAX");
}

static long read_product(struct reader *reader)
{
    long value = read_primary(reader);
    for (;;) {
        if (accept(reader, '*')) {
            value = wrap(value * read_primary(reader));
        } else if (accept(reader, '/')) {
            long divisor = read_primary(reader);
            if (divisor == 0)
                return fail(reader, "#ZERO");
            value = wrap(value / divisor);
        } else {
            return value;
        }
    }
}

static long read_sum(struct reader *reader)
{
    long value = read_product(reader);
    for (;;) {
        if (accept(reader, '+'))
            value = wrap(value + read_product(reader));
        else if (accept(reader, '-'))
            value = wrap(value - read_product(reader));
        else
            return value;
    }
}

static void evaluate(struct sheet *sheet, struct cell *cell)
{
    struct reader reader = {.sheet = sheet, .at = cell->formula};
    cell->state = STATE_BUSY;
    sheet->evaluations++;
    long value = read_sum(&reader);
    if (reader.error == NULL && *reader.at != '\0')
        reader.error = "#SYNTAX";
    cell->value = value;
    cell->error = reader.error;
    cell->state = STATE_DONE;
}

// The cell with its value as it should be now.
static struct cell *cell_value(struct sheet *sheet, int column, int row)
{
    struct cell *cell = cell_get(sheet, column, row);
    if (cell->state == STATE_BUSY) {
        cell->error = "#CYCLE";
        return cell;
    }
    if (cell->state != STATE_STALE)
        return cell;
    if (++sheet->depth > sheet->depth_most) {
        cell->error = "#DEEP";
        return cell;
    }
    evaluate(sheet, cell);
    sheet->depth--;
    return cell_get(sheet, column, row);
}

// ---- Commands

static void recalculate(struct sheet *sheet)
{
    for (int i = 0; i < sheet->count; i++) {
        if (sheet->cells[i].formula != NULL)
            sheet->cells[i].state = STATE_STALE;
    }
    for (int i = 0; i < sheet->count; i++)
        cell_value(sheet, sheet->cells[i].column, sheet->cells[i].row);
}

static void show(struct sheet *sheet, int column, int row)
{
    const struct cell *cell = cell_value(sheet, column, row);
    printf("%c%d: ", 'A' + column, row + 1);
    if (cell->error != NULL)
        puts(cell->error);
    else
        printf("%ld\n", cell->value);
}

static void dump(struct sheet *sheet)
{
    for (int column = 0; column < COLUMNS; column++) {
        for (int row = 0; row < ROWS; row++) {
            int number = sheet->index[column][row];
            if (number > 0 && sheet->cells[number - 1].state != STATE_EMPTY)
                show(sheet, column, row);
        }
    }
}

static void command(struct sheet *sheet, char *line)
{
    const char *at = line;
    int column, row;
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, "calc") == 0) {
        recalculate(sheet);
    } else if (strcmp(line, "dump") == 0) {
        dump(sheet);
    } else if (strncmp(line, "show ", 5) == 0) {
        at += 5;
        if (read_reference(&at, &column, &row))
            show(sheet, column, row);
    } else if (strncmp(line, "clear ", 6) == 0) {
        at += 6;
        if (read_reference(&at, &column, &row))
            cell_clear(cell_get(sheet, column, row));
    } else if (read_reference(&at, &column, &row) && strncmp(at, " = ", 3) == 0) {
        cell_set(sheet, column, row, at + 3);
    } else if (line[0] != '\0') {
        printf("what: %s\n", line);
    }
}

int main(int argc, char **argv)
{
    struct sheet sheet = {.depth_most = 24};
    char line[256];
    if (argc > 2 && strcmp(argv[1], "-d") == 0)
        sheet.depth_most = atoi(argv[2]);
    while (fgets(line, sizeof line, stdin) != NULL)
        command(&sheet, line);
    printf("%d cells\n", sheet.count);
    for (int i = 0; i < sheet.count; i++)
        free(sheet.cells[i].formula);
    free(sheet.cells);
    return 0;
}
