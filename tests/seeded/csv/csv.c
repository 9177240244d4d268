// SPDX-License-Identifier: Apache-2.0
/*
 * A report of a table of comma-separated values: the first line has the names of the columns.
 *
 *     csv [-s COLUMN] [-r] [-f COLUMN=TEXT] [-t] [-u]
 *
 * -s: sorted by a column (numbers as numbers), -r: backwards, -f: only rows with TEXT in the
 * column, -t: totals of the columns that have numbers only, -u: equal neighbours once
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_MOST 12

struct row {
    char *cells[COLUMN_MOST];
    int count;
    struct row *next;
};

struct table {
    char *names[COLUMN_MOST];
    int name_count;
    int width[COLUMN_MOST];
    struct row *first, **end;
    int row_count;
    int cut; // rows that were too long
};

struct options {
    const char *sort, *filter, *filter_text;
    bool backwards, totals, unique;
};

static void *must(void *memory)
{
    if (memory == NULL)
        exit(3);
    return memory;
}

// ---- Reading

// One field, with quotes taken away; the place after it.
static char *field(char *at, char **text)
{
    char *out = at;
    *text = at;
    if (*at != '"') {
        at += strcspn(at, ",");
        return at;
    }
    at++;
    while (*at != '\0') {
        if (at[0] == '"' && at[1] == '"')
            at++;
        else if (at[0] == '"')
            break;
        *out++ = *at++;
    }
    if (*at == '"')
        at++;
    at += strcspn(at, ",");
    if (out < at)
        *out = '\0';
    return at;
}

static void measure(struct table *table, int column, const char *text)
{
    int length = (int)strlen(text);
    if (length > table->width[column])
        table->width[column] = length;
}

static void read_names(struct table *table, char *line)
{
    for (char *at = line;;) {
        char *text;
        char *end = field(at, &text);
        bool last = *end == '\0';
        *end = '\0';
        if (table->name_count < COLUMN_MOST) {
            table->names[table->name_count] = must(strdup(text));
            measure(table, table->name_count, text);
            table->name_count++;
        }
        if (last)
            return;
        at = end + 1;
    }
}

static struct row *row_new(struct table *table)
{
    struct row *row = must(calloc(1, sizeof *row));
    *table->end = row;
    table->end = &row->next;
    table->row_count++;
    return row;
}

static void read_row(struct table *table, char *line)
{
    struct row *row = row_new(table);
    int column = 0;
    for (char *at = line;; column++) {
        char *text;
        char *end = field(at, &text);
        bool last = *end == '\0';
        *end = '\0';
        if (column > COLUMN_MOST) {
            table->cut++;
            return;
        }
        row->cells[column] = must(strdup(text));
        row->count++;
        if (column < table->name_count)
            measure(table, column, text);
        if (last)
            return;
        at = end + 1;
    }
}

static void read_table(struct table *table, FILE *file)
{
    char line[1024];
    table->end = &table->first;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] == '\0')
            continue;
        if (table->name_count == 0)
            read_names(table, line);
        else
            read_row(table, line);
    }
}

// ---- Selecting

static int column_find(const struct table *table, const char *name)
{
    for (int i = 0; i < table->name_count; i++) {
        if (strcmp(table->names[i], name) == 0)
            return i;
    }
    return -1;
}

static const char *cell(const struct row *row, int column)
{
    return column < row->count ? row->cells[column] : "";
}

static bool number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

static void row_free(struct row *row)
{
    for (int i = 0; i < row->count; i++)
        free(row->cells[i]);
    free(row);
}

static void filter(struct table *table, const struct options *options)
{
    int column = column_find(table, options->filter);
    if (column < 0) {
        printf("no column '%s'\n", options->filter);
        return;
    }
    for (struct row **link = &table->first; *link != NULL;) {
        struct row *row = *link;
        if (strstr(cell(row, column), options->filter_text) != NULL) {
            link = &row->next;
            continue;
        }
        *link = row->next;
        row_free(row);
        table->row_count--;
    }
}

static int compare(const struct row *a, const struct row *b, int column)
{
    double x, y;
    bool a_number = number(cell(a, column), &x), b_number = number(cell(b, column), &y);
    if (a_number && b_number)
        return x < y ? -1 : x > y;
    if (a_number != b_number)
        return a_number ? -1 : 1;
    return strcmp(cell(a, column), cell(b, column));
}

// Merges two sorted lists.
static struct row *merge(struct row *a, struct row *b, int column, int sign)
{
    struct row *first = NULL, **end = &first;
    while (a != NULL && b != NULL) {
        struct row **less = compare(a, b, column) * sign <= 0 ? &a : &b;
        *end = *less;
        end = &(*less)->next;
        *less = *end;
    }
    *end = a != NULL ? a : b;
    return first;
}

static struct row *sort(struct row *list, int column, int sign)
{
    if (list == NULL || list->next == NULL)
        return list;
    struct row *slow = list;
    for (struct row *fast = list->next; fast != NULL && fast->next != NULL; fast = fast->next->next)
        slow = slow->next;
    struct row *half = slow->next;
    slow->next = NULL;
    return merge(sort(list, column, sign), sort(half, column, sign), column, sign);
}

static bool same_row(const struct row *a, const struct row *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++) {
        if (strcmp(a->cells[i], b->cells[i]) != 0)
            return false;
    }
    return true;
}

static void unique(struct table *table)
{
    for (struct row *row = table->first; row != NULL && row->next != NULL;) {
        struct row *next = row->next;
        if (!same_row(row, next)) {
            row = next;
            continue;
        }
        row->next = next->next;
        row_free(next);
        table->row_count--;
    }
}

// ---- Writing

static void print_cell(const char *text, int width, bool last)
{
    double value;
    if (number(text, &value))
        printf("%*s", width, text);
    else
        printf("%-*s", last ? 0 : width, text);
    fputs(last ? "\n" : " | ", stdout);
}

static void print_rows(const struct table *table)
{
    for (int i = 0; i < table->name_count; i++)
        print_cell(table->names[i], table->width[i], i == table->name_count - 1);
    for (const struct row *row = table->first; row != NULL; row = row->next) {
        for (int i = 0; i < table->name_count; i++)
            print_cell(cell(row, i), table->width[i], i == table->name_count - 1);
    }
}

static void print_totals(const struct table *table)
{
    for (int i = 0; i < table->name_count; i++) {
        double sum = 0, value;
        int count = 0;
        for (const struct row *row = table->first; row != NULL; row = row->next) {
            if (!number(cell(row, i), &value))
                break;
            sum += value;
            count++;
        }
        if (count > 0 && count == table->row_count)
            printf("%s: total %g, mean %g\n", table->names[i], sum, sum / count);
    }
}

static bool read_options(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-s") == 0 && i + 1 < argc) {
            options->sort = argv[++i];
        } else if (strcmp(argv[i], "-f") == 0 && i + 1 < argc) {
            char *equals = strchr(argv[++i], '=');
            if (equals == NULL)
                return false;
            *equals = '\0';
            options->filter = argv[i];
            options->filter_text = equals + 1;
        } else if (strcmp(argv[i], "-r") == 0) {
            options->backwards = true;
        } else if (strcmp(argv[i], "-t") == 0) {
            options->totals = true;
        } else if (strcmp(argv[i], "-u") == 0) {
            options->unique = true;
        } else {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct table table = {0};
    struct options options = {0};
    if (!read_options(argc, argv, &options)) {
        puts("usage: csv [-s COLUMN] [-r] [-f COLUMN=TEXT] [-t] [-u]");
        return 0;
    }
    read_table(&table, stdin);
    if (options.filter != NULL)
        filter(&table, &options);
    if (options.sort != NULL) {
        int column = column_find(&table, options.sort);
        if (column >= 0)
            table.first = sort(table.first, column, options.backwards ? -1 : 1);
        else
            printf("no column '%s'\n", options.sort);
    }
    if (options.unique)
        unique(&table);
    print_rows(&table);
    if (options.totals)
        print_totals(&table);
    printf("%d rows, %d cut\n", table.row_count, table.cut);
    while (table.first != NULL) {
        struct row *next = table.first->next;
        row_free(table.first);
        table.first = next;
    }
    for (int i = 0; i < table.name_count; i++)
        free(table.names[i]);
    return 0;
}
