/* What the files that walk over a link's inputs share. Only they include it. */
#ifndef INQUEST_INSTRUMENT_DRIVER_LINK_WALK_H
#define INQUEST_INSTRUMENT_DRIVER_LINK_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/map.h"
#include "instrument/driver/extraction.h"
#include "instrument/driver/link_inputs.h"
#include "instrument/driver/object.h"
#include "program/archive.h"
#include "program/link_record.h"

#define WALK_STATES_MAX  32 /* of --push-state */
#define WALK_NESTING_MAX 8  /* of linker scripts */

MAP_DEFINE_STRING(input_numbers, uint32_t); /* path -> 1 + number */

/* What options that stand before an input say of it. */
struct walk_state {
    bool archives_only; /* -Bstatic */
    bool whole;         /* --whole-archive */
};

/* An archive whose members are chosen when all inputs are known. */
struct walk_member {
    struct archive_member file;
    struct object object;
    uint32_t extraction; /* its number there */
};
VEC_DEFINE(walk_members, struct walk_member);
struct walk_archive {
    uint32_t input;
    bool whole;
    struct walk_members members;
};
VEC_DEFINE(walk_archives, struct walk_archive);

/* Libraries that a shared library needs. */
struct walk_needed {
    uint32_t input;
    const char *name;
    const char *origin;      /* the directory of the library that needs it */
    struct arguments search; /* where that says to look */
};
VEC_DEFINE(walk_needed_list, struct walk_needed);

struct walk {
    struct link_inputs *inputs;
    struct arena *arena;
    struct link_record *record;
    struct arguments directories;
    struct arguments library_directories; /* where libraries look for what they need */
    struct name_set user;
    struct input_numbers done;
    struct name_set hashes; /* of the bodies */
    const char *sysroot;
    struct walk_state state;
    struct walk_state states[WALK_STATES_MAX];
    unsigned state_count;
    bool binary;     /* --format=binary */
    bool makes;      /* the file being read is a temporary one, made from a source */
    uint32_t within; /* the script that is being read, or LINK_NONE */
    unsigned nesting;
    struct extraction extraction;
    struct walk_archives archives;
    struct walk_needed_list needed;
};

/* A path as it is stored. */
const char *walk_mapped(const struct walk *walk, const char *path);

/* link_options.c: what the options of linkers mean. */
enum option_use {
    OPTION_OTHER,     /* no value, or one that says nothing of inputs */
    OPTION_LIBRARY,   /* -l */
    OPTION_DIRECTORY, /* -L */
    OPTION_SYSROOT,
    OPTION_FORMAT,     /* of the inputs that follow */
    OPTION_FILE,       /* names a text */
    OPTION_SCRIPT,     /* names a script that may name inputs */
    OPTION_COMMANDS,   /* names a text that may name inputs, and is not looked into */
    OPTION_PLUGIN,     /* names a plugin */
    OPTION_OBJECT,     /* names an object, or a directory */
    OPTION_SYMBOL,     /* names a symbol that archives are searched for */
    OPTION_EXPRESSION, /* words, some of them symbols */
    OPTION_ANY_SYMBOL, /* names symbols by pattern */
    OPTION_WRAP,
    OPTION_RUN_PATH, /* directories where libraries look for what they need */
    OPTION_OUTPUT,
};
struct option {
    enum option_use use;
    const char *value; /* NULL: it has none */
    size_t before;     /* how many bytes of the argument stand before the value */
    bool is_next;      /* the value is the next argument */
};
/* Of the argument at index, which begins with '-'. */
struct option walk_option(const struct arguments *arguments, size_t index);
/* Whether it is -NAME, --NAME. */
bool walk_is_option(const char *argument, const char *name);

/* link_files.c: a file of any kind, once; its number. */
uint32_t walk_read_file(struct walk *walk, const char *path, bool user);
/* A file that an option names: a script that is not looked into, a plugin. */
uint32_t walk_read_option_file(struct walk *walk, const char *path, enum link_kind kind, bool user);
/* What was searched for and not found. */
uint32_t walk_add_missing(struct walk *walk, const char *name, bool user);
/* What there is to say of an object, of which this takes the content. */
void walk_take_object(struct walk *walk, uint32_t input, const char *path, struct object *object);
/* Its contents count. */
void walk_hash(struct walk *walk, struct link_content *content, const unsigned char *data,
               size_t size, enum link_embedding embedding);

/* link_archives.c */
void walk_read_archive(struct walk *walk, uint32_t input, const char *path,
                       const unsigned char *data, size_t size);
/* Where --whole-archive is in force for this input. */
void walk_note_whole(struct walk *walk, uint32_t input);
/* Once all inputs are known. */
void walk_choose_members(struct walk *walk);
void walk_read_needed(struct walk *walk);

/* link_scripts.c: -lNAME, and what a script names. */
uint32_t walk_read_library(struct walk *walk, const char *name, bool user);
void walk_read_script(struct walk *walk, const struct file_bytes *bytes, uint32_t input, bool user);
const char *walk_in_sysroot(const struct walk *walk, const char *path);
/* The path of a script, or of what one names, searched for as the linker does. */
const char *walk_find_script(const struct walk *walk, const char *name);
/* Every word of the text may be a symbol that is wanted. */
void walk_want_words(struct walk *walk, const char *text);

#endif
