// SPDX-License-Identifier: Apache-2.0
/*
 * Fills paragraphs of text. Lines that start with '.' are requests: .fill, .nofill, .left,
 * .justify, .center, .indent N, .width N, .bullet, .break, .title TEXT.
 *
 *     fmt [-w WIDTH] [-j] [-n]     -j: justified from the start, -n: lines are numbered
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_LEAST 16
#define WIDTH_MOST  120

enum align { ALIGN_LEFT, ALIGN_JUSTIFY, ALIGN_CENTER };

struct word {
    char *text;
    int length;
    struct word *next;
};

struct line {
    struct word *first, **end;
    int count, length; // without spaces
};

struct format {
    int width, indent;
    enum align align;
    bool fill, numbers, bullet;
    struct line line;
    char **output;
    int output_count, output_capacity;
    int paragraphs, broken;
};

static void *must(void *memory)
{
    if (memory == NULL)
        exit(3);
    return memory;
}

// ---- Output: lines are kept until the end, where they are numbered

static void output_add(struct format *format, char *text)
{
    if (format->output_count == format->output_capacity) {
        format->output_capacity = format->output_capacity * 2 + 8;
        format->output =
            must(realloc(format->output, (size_t)format->output_capacity * sizeof *format->output));
    }
    format->output[format->output_count++] = text;
}

static void output_blank(struct format *format)
{
    if (format->output_count > 0 && format->output[format->output_count - 1][0] != '\0')
        output_add(format, must(strdup("")));
}

static void output_print(struct format *format)
{
    for (int i = 0; i < format->output_count; i++) {
        if (format->numbers)
            printf("%4d ", i + 1);
        puts(format->output[i]);
        free(format->output[i]);
    }
    free(format->output);
}

// ---- A line of words

static void line_reset(struct line *line)
{
    line->first = NULL;
    line->end = &line->first;
    line->count = line->length = 0;
}

static void line_add(struct line *line, const char *text, int length)
{
    struct word *word = must(calloc(1, sizeof *word));
    word->text = must(strndup(text, (size_t)length));
    word->length = length;
    *line->end = word;
    line->end = &word->next;
    line->count++;
    line->length += length;
}

static void line_free(struct line *line)
{
    while (line->first != NULL) {
        struct word *next = line->first->next;
        free(line->first->text);
        free(line->first);
        line->first = next;
    }
    line_reset(line);
}

// Columns that the words and single spaces between them take.
static int line_columns(const struct line *line)
{
    return line->count == 0 ? 0 : line->length + line->count - 1;
}

static int margin(const struct format *format)
{
    return format->indent + (format->bullet ? 2 : 0);
}

static int room(const struct format *format)
{
    return format->width - margin(format);
}

// The spaces after word `number` such that the last word ends at the margin.
static int gap_justified(const struct line *line, int number, int columns)
{
    int gaps = line->count - 1;
    int spaces = columns - line->length;
    return spaces * (number + 1) / gaps - spaces * number / gaps;
}

static int put_spaces(char *text, int at, int count)
{
    memset(text + at, ' ', (size_t)count);
    return at + count;
}

static int put_margin(struct format *format, char *text, bool first)
{
    int at = put_spaces(text, 0, format->indent);
    if (format->bullet) {
        text[at++] = first ? '*' : ' ';
        text[at++] = ' ';
    }
    return at;
}

static void line_flush(struct format *format, bool last)
{
    struct line *line = &format->line;
    if (line->count == 0)
        return;
    bool justify = format->align == ALIGN_JUSTIFY && !last && line->count > 1;
    char *text = must(malloc((size_t)format->width));
    int at = put_margin(format, text, format->broken == 0);
    if (format->align == ALIGN_CENTER)
        at = put_spaces(text, at, (room(format) - line_columns(line)) / 2);
    int number = 0;
    for (const struct word *word = line->first; word != NULL; word = word->next, number++) {
        memcpy(text + at, word->text, (size_t)word->length);
        at += word->length;
        if (word->next != NULL)
            at = put_spaces(text, at, justify ? gap_justified(line, number, room(format)) : 1);
    }
    text[at] = '\0';
    output_add(format, text);
    format->broken++;
    line_free(line);
}

// ---- Words into lines

static void word_split(struct format *format, const char *text, int length)
{
    int part = room(format) - 1;
    while (length > room(format)) {
        char piece[WIDTH_MOST + 1];
        memcpy(piece, text, (size_t)part);
        piece[part] = '-';
        line_flush(format, false);
        line_add(&format->line, piece, part + 1);
        text += part;
        length -= part;
    }
    line_flush(format, false);
    line_add(&format->line, text, length);
}

static void word_add(struct format *format, const char *text, int length)
{
    if (length > room(format)) {
        word_split(format, text, length);
        return;
    }
    int columns = line_columns(&format->line);
    if (columns > 0 && columns + 1 + length > room(format))
        line_flush(format, false);
    line_add(&format->line, text, length);
}

static void paragraph_end(struct format *format)
{
    if (format->line.count > 0)
        format->paragraphs++;
    line_flush(format, true);
    format->broken = 0;
    format->bullet = false;
}

static void text_line(struct format *format, const char *text)
{
    while (*text != '\0') {
        while (isspace((unsigned char)*text))
            text++;
        int length = (int)strcspn(text, " \t\n");
        if (length > 0)
            word_add(format, text, length);
        text += length;
    }
    if (!format->fill)
        paragraph_end(format);
}

// ---- Requests

static void request_title(struct format *format, const char *text)
{
    enum align before = format->align;
    paragraph_end(format);
    output_blank(format);
    format->align = ALIGN_CENTER;
    text_line(format, text);
    paragraph_end(format);
    output_blank(format);
    format->align = before;
}

static void request_number(int value, int least, int most, int *setting)
{
    if (value >= least && value <= most)
        *setting = value;
}

static void request(struct format *format, char *line)
{
    char *argument = line + strcspn(line, " ");
    if (*argument != '\0')
        *argument++ = '\0';
    if (strcmp(line, ".title") == 0) {
        request_title(format, argument);
        return;
    }
    paragraph_end(format);
    if (strcmp(line, ".fill") == 0) {
        format->fill = true;
    } else if (strcmp(line, ".nofill") == 0) {
        format->fill = false;
    } else if (strcmp(line, ".left") == 0) {
        format->align = ALIGN_LEFT;
    } else if (strcmp(line, ".justify") == 0) {
        format->align = ALIGN_JUSTIFY;
    } else if (strcmp(line, ".center") == 0) {
        format->align = ALIGN_CENTER;
    } else if (strcmp(line, ".indent") == 0) {
        request_number(atoi(argument), 0, 8, &format->indent);
    } else if (strcmp(line, ".width") == 0) {
        request_number(atoi(argument), WIDTH_LEAST, WIDTH_MOST, &format->width);
    } else if (strcmp(line, ".bullet") == 0) {
        format->bullet = true;
    } else if (strcmp(line, ".break") != 0) {
        output_add(format, must(strdup("(unknown request)")));
    }
}

int main(int argc, char **argv)
{
    struct format format = {.width = 60, .fill = true};
    char line[1024];
    line_reset(&format.line);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-w") == 0 && i + 1 < argc)
            request_number(atoi(argv[++i]), WIDTH_LEAST, WIDTH_MOST, &format.width);
        else if (strcmp(argv[i], "-j") == 0)
            format.align = ALIGN_JUSTIFY;
        else if (strcmp(argv[i], "-n") == 0)
            format.numbers = true;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '.' && isalpha((unsigned char)line[1])) {
            request(&format, line);
        } else if (line[0] == '\0') {
            paragraph_end(&format);
            output_blank(&format);
        } else {
            text_line(&format, line);
        }
    }
    paragraph_end(&format);
    output_print(&format);
    printf("%d paragraphs\n", format.paragraphs);
    return 0;
}
