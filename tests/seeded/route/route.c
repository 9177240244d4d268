// SPDX-License-Identifier: Apache-2.0
/*
 * Roads between towns, driven by commands: road A B KM, close A B, town A, path A B, far A,
 * unreached A, towns, merge A B (B becomes another name of A and is forgotten).
 *
 *     route [-o]     -o: roads go one way
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNREACHED INT_MAX

struct road {
    int to, length;
    struct road *next;
};

struct town {
    char *name; // NULL: it was merged into another
    struct road *roads;
    int distance, before; // of the last search
    bool done;
};

struct map {
    struct town *towns;
    int count, capacity;
    bool one_way;
    int searches, relaxed;
};

static void *must(void *memory)
{
    if (memory == NULL)
        exit(3);
    return memory;
}

// ---- Towns and roads

static int town_find(const struct map *map, const char *name)
{
    for (int i = 0; i < map->count; i++) {
        if (map->towns[i].name != NULL && strcmp(map->towns[i].name, name) == 0)
            return i;
    }
    return -1;
}

static int town_make(struct map *map, const char *name)
{
    int number = town_find(map, name);
    if (number >= 0)
        return number;
    if (map->count == map->capacity) {
        int capacity = map->capacity == 0 ? 5 : map->capacity * 2 - 1;
        map->towns = must(realloc(map->towns, (size_t)capacity * sizeof *map->towns));
        memset(map->towns + map->capacity, 0,
               (size_t)(capacity - map->capacity) * sizeof *map->towns);
        map->capacity = capacity;
    }
    map->towns[map->count].name = must(strdup(name));
    return map->count++;
}

static struct road **road_find(struct map *map, int from, int to)
{
    struct road **link = &map->towns[from].roads;
    while (*link != NULL && (*link)->to != to)
        link = &(*link)->next;
    return link;
}

static void road_add(struct map *map, int from, int to, int length)
{
    struct road **link = road_find(map, from, to);
    if (*link == NULL) {
        *link = must(calloc(1, sizeof **link));
        (*link)->to = to;
        (*link)->length = length;
    } else if (length < (*link)->length) {
        (*link)->length = length;
    }
}

static bool road_remove(struct map *map, int from, int to)
{
    struct road **link = road_find(map, from, to);
    struct road *road = *link;
    if (road == NULL)
        return false;
    *link = road->next;
    free(road);
    return true;
}

static void roads_free(struct town *town)
{
    while (town->roads != NULL) {
        struct road *next = town->roads->next;
        free(town->roads);
        town->roads = next;
    }
}

// ---- Searching

static int nearest(const struct map *map)
{
    int best = -1;
    for (int i = 0; i < map->count; i++) {
        const struct town *town = &map->towns[i];
        if (town->name == NULL || town->done || town->distance == UNREACHED)
            continue;
        if (best < 0 || town->distance < map->towns[best].distance)
            best = i;
    }
    return best;
}

static void search(struct map *map, int start)
{
    for (int i = 0; i <= map->count; i++) {
        map->towns[i].distance = UNREACHED;
        map->towns[i].before = -1;
        map->towns[i].done = false;
    }
    map->searches++;
    map->towns[start].distance = 0;
    for (int at = start; at >= 0; at = nearest(map)) {
        map->towns[at].done = true;
        for (const struct road *road = map->towns[at].roads; road != NULL; road = road->next) {
            struct town *town = &map->towns[road->to];
            int distance = map->towns[at].distance + road->length;
            if (distance < town->distance) {
                town->distance = distance;
                town->before = at;
                map->relaxed++;
            }
        }
    }
}

static void print_path(const struct map *map, int end)
{
    if (map->towns[end].before >= 0) {
        print_path(map, map->towns[end].before);
        printf(" - ");
    }
    printf("%s", map->towns[end].name);
}

// ---- Commands

static void command_path(struct map *map, int from, int to)
{
    search(map, from);
    if (map->towns[to].distance == UNREACHED) {
        puts("no way");
        return;
    }
    print_path(map, to);
    printf(": %d\n", map->towns[to].distance);
}

static void command_far(struct map *map, int from)
{
    int best = from;
    search(map, from);
    for (int i = 0; i < map->count; i++) {
        const struct town *town = &map->towns[i];
        if (town->name != NULL && town->distance != UNREACHED &&
            town->distance > map->towns[best].distance)
            best = i;
    }
    printf("farthest: %s, %d\n", map->towns[best].name, map->towns[best].distance);
}

static void command_unreached(struct map *map, int from)
{
    int count = 0;
    search(map, from);
    for (int i = 0; i < map->count; i++) {
        const struct town *town = &map->towns[i];
        if (town->name == NULL || town->distance != UNREACHED)
            continue;
        printf("%s%s", count == 0 ? "unreached: " : " ", town->name);
        count++;
    }
    puts(count == 0 ? "all are reached" : "");
}

// Roads of `other` become roads of `town`.
static void command_merge(struct map *map, int town, int other)
{
    if (town == other)
        return;
    for (int i = 0; i < map->count; i++) {
        struct road **link = road_find(map, i, other);
        if (*link == NULL)
            continue;
        int length = (*link)->length;
        road_remove(map, i, other);
        if (i != town && i != other)
            road_add(map, i, town, length);
    }
    for (const struct road *road = map->towns[other].roads; road != NULL; road = road->next) {
        if (road->to != town)
            road_add(map, town, road->to, road->length);
    }
    roads_free(&map->towns[other]);
    free(map->towns[other].name);
    map->towns[other].name = NULL;
}

static void command_towns(const struct map *map)
{
    for (int i = 0; i < map->count; i++) {
        const struct town *town = &map->towns[i];
        int roads = 0;
        if (town->name == NULL)
            continue;
        for (const struct road *road = town->roads; road != NULL; road = road->next)
            roads++;
        printf("%s: %d roads\n", town->name, roads);
    }
}

static void command_road(struct map *map, const char *a, const char *b, int length)
{
    if (length <= 0 || strcmp(a, b) == 0) {
        puts("bad road");
        return;
    }
    int from = town_make(map, a), to = town_make(map, b);
    road_add(map, from, to, length);
    if (!map->one_way)
        road_add(map, to, from, length);
}

static void command_close(struct map *map, int from, int to)
{
    bool there = road_remove(map, from, to);
    if (!map->one_way)
        there |= road_remove(map, to, from);
    if (!there)
        puts("no such road");
}

static void command(struct map *map, const char *line)
{
    char word[16], a[16] = "", b[16] = "";
    int length = 0;
    int count = sscanf(line, "%15s %15s %15s %d", word, a, b, &length);
    if (count < 1)
        return;
    if (strcmp(word, "road") == 0 && count == 4) {
        command_road(map, a, b, length);
        return;
    }
    if (strcmp(word, "town") == 0 && count == 2) {
        town_make(map, a);
        return;
    }
    if (strcmp(word, "towns") == 0) {
        command_towns(map);
        return;
    }
    int first = town_find(map, a), second = town_find(map, b);
    if (first < 0 || (count > 2 && second < 0))
        puts("no such town");
    else if (strcmp(word, "far") == 0)
        command_far(map, first);
    else if (strcmp(word, "unreached") == 0)
        command_unreached(map, first);
    else if (second < 0)
        puts("which town?");
    else if (strcmp(word, "path") == 0)
        command_path(map, first, second);
    else if (strcmp(word, "close") == 0)
        command_close(map, first, second);
    else if (strcmp(word, "merge") == 0)
        command_merge(map, first, second);
    else
        puts("what?");
}

int main(int argc, char **argv)
{
    struct map map = {0};
    char line[128];
    map.one_way = argc > 1 && strcmp(argv[1], "-o") == 0;
    while (fgets(line, sizeof line, stdin) != NULL)
        command(&map, line);
    printf("%d towns, %d searches, %d steps\n", map.count, map.searches, map.relaxed);
    for (int i = 0; i < map.count; i++) {
        roads_free(&map.towns[i]);
        free(map.towns[i].name);
    }
    free(map.towns);
    return 0;
}
