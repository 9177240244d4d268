// SPDX-License-Identifier: Apache-2.0
/*
 * words: counts the words on standard input and prints the most frequent ones; a line that starts
 * with '-' takes its words out again.
 *
 * What goes wrong: bucket_remove() unlinks an entry by its predecessor, and for the first entry of
 * a bucket there is none: removing it follows a null pointer, unless the entry is alone in its
 * bucket, which has a case of its own. So it takes two words in one bucket, and the later one
 * removed: `words < inputs/words.crash`.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 32 };

struct entry {
    struct entry *next;
    unsigned count;
    char word[32];
};

struct words {
    struct entry *buckets[BUCKETS];
    unsigned entries;
};

static unsigned hash(const char *word)
{
    unsigned h = 5381;

    while (*word)
        h = h * 33 + (unsigned char)*word++;
    return h % BUCKETS;
}

static struct entry *bucket_find(struct entry *entry, const char *word, struct entry **before)
{
    *before = NULL;
    for (; entry; entry = entry->next) {
        if (strcmp(entry->word, word) == 0)
            return entry;
        *before = entry;
    }
    return NULL;
}

static void words_add(struct words *words, const char *word)
{
    struct entry *before, **bucket = &words->buckets[hash(word)];
    struct entry *entry = bucket_find(*bucket, word, &before);

    if (!entry) {
        entry = calloc(1, sizeof(*entry));
        if (!entry)
            abort();
        strncpy(entry->word, word, sizeof(entry->word) - 1);
        entry->next = *bucket;
        *bucket = entry;
        words->entries++;
    }
    entry->count++;
}

static void bucket_remove(struct entry **bucket, struct entry *entry, struct entry *before)
{
    if (*bucket == entry && !entry->next)
        *bucket = NULL;
    else
        before->next = entry->next;
    free(entry);
}

static void words_remove(struct words *words, const char *word)
{
    struct entry *before, **bucket = &words->buckets[hash(word)];
    struct entry *entry = bucket_find(*bucket, word, &before);

    if (!entry)
        return;
    if (--entry->count == 0) {
        bucket_remove(bucket, entry, before);
        words->entries--;
    }
}

static void words_line(struct words *words, char *line)
{
    void (*change)(struct words *, const char *) = words_add;

    if (*line == '-') {
        change = words_remove;
        line++;
    }
    for (char *word = strtok(line, " \t\n"); word; word = strtok(NULL, " \t\n")) {
        for (char *c = word; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        if (strlen(word) > 31)
            word[31] = '\0';
        change(words, word);
    }
}

static int by_count(const void *a, const void *b)
{
    const struct entry *x = *(const struct entry *const *)a, *y = *(const struct entry *const *)b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->word, y->word);
}

static void words_print(const struct words *words, unsigned most)
{
    struct entry **all = calloc(words->entries + 1, sizeof(struct entry *));
    unsigned count = 0;

    for (unsigned b = 0; b < BUCKETS; b++)
        for (struct entry *entry = words->buckets[b]; entry; entry = entry->next)
            all[count++] = entry;
    qsort(all, count, sizeof(struct entry *), by_count);
    for (unsigned i = 0; i < count && i < most; i++)
        printf("%6u %s\n", all[i]->count, all[i]->word);
    free(all);
}

int main(int argc, char **argv)
{
    struct words words = {0};
    char line[512];

    while (fgets(line, sizeof(line), stdin))
        words_line(&words, line);
    words_print(&words, argc > 1 ? (unsigned)atoi(argv[1]) : 10);
    return 0;
}
