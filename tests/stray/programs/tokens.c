// SPDX-License-Identifier: Apache-2.0
// Text is cut into words with library calls; buffers in .bss directly behind one another.
#include "../stray.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static char word[24];
static char last[24];
static int counts[5];

static int is_name(int c)
{
    return isalpha(c) || c == '_';
}

static int read_word(const char *text, int from)
{
    int length = 0;

    L;
    while (text[from] && !isspace((unsigned char)text[from]) && length < 20) {
        L;
        word[length++] = text[from++];
    }
    word[length] = 0;
    if (length > 5) {
        L;
        STRAY(0, word);
        CRASH;
    }
    return from;
}

static void classify(void)
{
    char copy[24], line[40];

    L;
    strcpy(copy, word);
    for (char *c = copy; *c; c++) {
        L;
        if (is_name((unsigned char)*c))
            counts[0]++;
        else if (isdigit((unsigned char)*c))
            counts[1]++;
        else
            counts[2]++;
    }
    if (strcmp(copy, last) == 0) {
        L;
        counts[3]++;
        STRAY(1, copy);
        CRASH;
    }
    if (counts[0] > 12) {
        L;
        snprintf(line, sizeof(line), "%s %d\n", copy, counts[0]);
        STRAY(2, line);
        CRASH;
        counts[0] = 0;
    }
    strcpy(last, copy);
    STRAY(3, counts);
    CRASH;
}

int main(void)
{
    static const char text[] =
        "one two two 3333 fourteen x_y x_y 55 sixteen+ seventeen eighteen 9 ten ten";
    int at = 0;

    L;
    while (text[at]) {
        L;
        if (isspace((unsigned char)text[at])) {
            L;
            at++;
            continue;
        }
        at = read_word(text, at);
        classify();
    }
    CRASH;
    return 0;
}
