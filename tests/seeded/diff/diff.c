// SPDX-License-Identifier: Apache-2.0
/*
 * Differences of two texts. The input has the old text, a line "====", and the new one. Writes the
 * hunks, then applies them to the old text: exit status 1 if that does not give the new one.
 *
 *     diff [-c CONTEXT] [-q] [-w]     -q: only how many hunks, -w: spaces at ends do not matter
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MOST 128

struct text {
    char *line[LINE_MOST];
    int count;
};

// What becomes of lines: kept, taken from the old, put in from the new.
enum kind { KIND_KEEP, KIND_OLD, KIND_NEW };

struct edit {
    enum kind kind;
    const char *line;
};

struct script {
    struct edit edit[2 * LINE_MOST];
    int count;
};

struct hunk {
    int first, end;         // edits
    int old_line, new_line; // as shown: the first one, or the one before if there is none
    int old_count, new_count;
};

struct options {
    int context;
    bool quiet, spaces;
};

// ---- Reading

static void text_add(struct text *text, const char *line, const struct options *options)
{
    if (text->count == LINE_MOST)
        return;
    char *copy = strdup(line);
    if (copy == NULL)
        exit(3);
    size_t length = strlen(copy);
    while (options->spaces && length > 0 && isspace((unsigned char)copy[length - 1]))
        copy[--length] = '\0';
    text->line[text->count++] = copy;
}

static void text_free(struct text *text)
{
    for (int i = 0; i < text->count; i++)
        free(text->line[i]);
}

static void read_input(struct text *old, struct text *new, const struct options *options)
{
    struct text *text = old;
    char line[256];
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (text == old && strcmp(line, "====") == 0)
            text = new;
        else
            text_add(text, line, options);
    }
}

// ---- Comparing: the longest common subsequence

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void script_add(struct script *script, enum kind kind, const char *line)
{
    script->edit[script->count].kind = kind;
    script->edit[script->count].line = line;
    script->count++;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void compare(const struct text *old, const struct text *new, struct script *script)
{
    static int length[LINE_MOST + 1][LINE_MOST + 1];
    for (int i = old->count; i >= 0; i--) {
        for (int j = new->count; j >= 0; j--) {
            if (i == old->count || j == new->count)
                length[i][j] = 0;
            else if (same(old->line[i], new->line[j]))
                length[i][j] = length[i + 1][j + 1] + 1;
            else
                length[i][j] = larger(length[i + 1][j], length[i][j + 1]);
        }
    }
    int i = 0, j = 0;
    while (i < old->count || j < new->count) {
        if (i < old->count && j < new->count &&same(old->line[i], new->line[j])) {
            script_add(script, KIND_KEEP, old->line[i++]);
            j++;
        } else if (j == new->count || (i < old->count && length[i + 1][j] >= length[i][j + 1])) {
            script_add(script, KIND_OLD, old->line[i++]);
        } else {
            script_add(script, KIND_NEW, new->line[j++]);
        }
    }
}

// ---- Hunks

static int next_change(const struct script *script, int at)
{
    while (at < script->count && script->edit[at].kind == KIND_KEEP)
        at++;
    return at;
}

static void hunk_count(const struct script *script, struct hunk *hunk)
{
    hunk->old_line = hunk->new_line = hunk->old_count = hunk->new_count = 0;
    for (int i = 0; i < hunk->end; i++) {
        bool inside = i >= hunk->first;
        if (script->edit[i].kind != KIND_NEW)
            *(inside ? &hunk->old_count : &hunk->old_line) += 1;
        if (script->edit[i].kind != KIND_OLD)
            *(inside ? &hunk->new_count : &hunk->new_line) += 1;
    }
    hunk->old_line += hunk->old_count > 0;
    hunk->new_line += hunk->new_count > 0;
}

// The hunk that begins at the next change from `at`; false: there is none.
static bool hunk_next(const struct script *script, int at, int context, struct hunk *hunk)
{
    int change = next_change(script, at);
    if (change == script->count)
        return false;
    hunk->first = change - context > at ? change - context : at;
    int last = change;
    for (;;) {
        while (last < script->count && script->edit[last].kind != KIND_KEEP)
            last++;
        change = next_change(script, last);
        if (change == script->count || change - last > 2 * context)
            break;
        last = change;
    }
    hunk->end = last + context < script->count ? last + context : script->count;
    hunk_count(script, hunk);
    return true;
}

static void print_position(char sign, int line, int count)
{
    if (count == 1)
        printf("%c%d", sign, line);
    else
        printf("%c%d,%d", sign, line, count);
}

static void print_hunk(const struct script *script, const struct hunk *hunk)
{
    printf("@@ ");
    print_position('-', hunk->old_line, hunk->old_count);
    putchar(' ');
    print_position('+', hunk->new_line, hunk->new_count);
    puts(" @@");
    for (int i = hunk->first; i < hunk->end; i++)
        printf("%c%s\n", " -+"[script->edit[i].kind], script -> edit[i].line);
}

// ---- Applying

static void copy_lines(struct text *to, const struct text *from, int first, int end)
{
    for (int i = first; i < end && to->count < LINE_MOST; i++)
        to->line[to->count++] = from->line[i];
}

static bool apply_hunk(const struct text *old, int *at, const struct script *script,
                       const struct hunk *hunk, struct text *result)
{
    int start = hunk->old_line - 1;
    copy_lines(result, old, *at, start);
    *at = start;
    for (int i = hunk->first; i < hunk->end; i++) {
        const struct edit *edit = &script->edit[i];
        if (edit->kind != KIND_NEW) {
            if (*at >= old->count || !same(old->line[*at], edit->line))
                return false;
            *at += 1;
        }
        if (edit->kind != KIND_OLD && result->count < LINE_MOST)
            result->line[result->count++] = (char *)edit->line;
    }
    return true;
}

static bool equal(const struct text *a, const struct text *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++) {
        if (!same(a->line[i], b->line[i]))
            return false;
    }
    return true;
}

static bool check(const struct text *old, const struct text *new, const struct script *script,
                  const struct options *options)
{
    static struct text result;
    struct hunk hunk;
    int at = 0;
    for (int from = 0; hunk_next(script, from, options->context, &hunk); from = hunk.end) {
        if (!apply_hunk(old, &at, script, &hunk, &result))
            return false;
    }
    copy_lines(&result, old, at, old->count);
    return equal(&result, new);
}

static void summary(const struct script *script, int hunks)
{
    int count[3] = {0};
    for (int i = 0; i < script->count; i++)
        count[script->edit[i].kind]++;
    printf("%d hunks, %d kept, %d out, %d in\n", hunks, count[KIND_KEEP], count[KIND_OLD],
           count[KIND_NEW]);
}

int main(int argc, char **argv)
{
    static struct text old, new;
    static struct script script;
    struct options options = {.context = 3};
    struct hunk hunk;
    int hunks = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-c") == 0 && i + 1 < argc)
            options.context = atoi(argv[++i]);
        else if (strcmp(argv[i], "-q") == 0)
            options.quiet = true;
        else if (strcmp(argv[i], "-w") == 0)
            options.spaces = true;
    }
    read_input(&old, &new, &options);
    compare(&old, &new, &script);
    for (int at = 0; hunk_next(&script, at, options.context, &hunk); at = hunk.end) {
        if (!options.quiet)
            print_hunk(&script, &hunk);
        hunks++;
    }
    summary(&script, hunks);
    int status = check(&old, &new, &script, &options) ? 0 : 1;
    text_free(&old);
    text_free(&new);
    return status;
}
