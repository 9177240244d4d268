// SPDX-License-Identifier: Apache-2.0
// Reading executables: what is found in good ones, what is said of bad ones, and the cache.
#include "model_fixture.h"

#include <errno.h>
#include <sys/stat.h>

#include "common/file.h"
#include "program/image.h"
#include "program/model.h"

#define ONE "define i32 @main() {\n  call void @g()\n  ret i32 0\n}\ndeclare void @g()\n"
#define TWO                                                                                        \
    "define void @g() {\n  ret void\n}\n"                                                          \
    "define internal void @h() {\n  call void @g()\n  unreachable\n}\n"

static const struct model_options no_cache = {.no_cache = true};

struct place_of_test {
    char *directory, *path;
};

static void place_init(struct place_of_test *place)
{
    place->directory = fixture_directory();
    place->path = file_join(place->directory, "prog");
}

static void place_deinit(struct place_of_test *place)
{
    free(place->path);
    fixture_remove_directory(place->directory);
}

static struct fixture_bytes two_modules(void)
{
    struct fixture_bytes frames = {0};
    static const unsigned char padding[16];

    fixture_append_module(&frames, ONE);
    fixture_bytes_append(&frames, padding, sizeof(padding)); // as a linker aligns
    fixture_append_module(&frames, TWO);
    return frames;
}

// ---- Good ones

static void modules_are_loaded_lazily(void **state)
{
    struct place_of_test place;
    struct fixture_bytes frames = two_modules();
    struct model *model;
    struct module_id module;
    struct function_id function;

    (void)state;
    place_init(&place);
    fixture_write_elf(place.path, &(struct fixture_elf){0}, &frames, NULL);
    fixture_check(model_open(place.path, &no_cache, &model));
    assert_int_equal(model->module_count, 2);
    assert_int_equal(model->function_count, 3);
    assert_int_equal(model->site_count, 2);
    assert_int_equal(model->node_count, 0);
    assert_false(model_find_module(model, 12345, &module));
    assert_true(model_find_module(model, model->modules[1].id, &module));
    assert_int_equal(module.value, 1);
    assert_false(model_find_function(model, module, 2, &function));
    assert_true(model_find_function(model, module, 1, &function));
    assert_int_equal(function.value, 2);

    // the second first: its nodes come first
    fixture_check(model_load_function(model, function));
    assert_string_equal(model_function(model, function)->name, "h");
    assert_int_equal(model->node_count, 3);
    assert_false(model->modules[0].loaded);
    assert_int_equal(model_function(model, function)->first_node, 1);
    assert_int_equal(model_function(model, function)->first_site, 1);
    fixture_check(model_complete(model));
    assert_int_equal(model->node_count, 5);
    assert_int_equal(model->modules[0].first_node, 3);
    struct node_list next = model_successors(model, (struct node_id){3});
    assert_int_equal(next.count, 1);
    assert_int_equal(next.data[0].value, 4);
    // main of the first module calls g of the second
    struct function_list callees = model_callees(model, (struct site_id){0});
    assert_int_equal(callees.count, 1);
    assert_string_equal(model_function(model, callees.data[0])->name, "g");
    fixture_expect(model_find_debug_name(model, module, "nobody", &function), ERROR_NOT_FOUND,
                   "no function 'nobody'");
    fixture_check(model_find_debug_name(model, module, "g", &function));
    assert_int_equal(function.value, 1);
    model_destroy(model);
    free(frames.data);
    place_deinit(&place);
}

static void debug_file_by_build_id(void **state)
{
    static const char id[20] = "\xab\xcd-any-twenty-bytes";
    static const char other[20] = "another twenty bytes";
    struct place_of_test place;
    struct fixture_bytes frames = two_modules();
    struct model *model;

    (void)state;
    place_init(&place);
    char *folder = xasprintf("%s/debug/.build-id/ab", place.directory);
    char name[64] = ""; // the bytes behind "ab" in hexadecimal
    for (int i = 1; i < 20; i++)
        snprintf(name + 2 * (i - 1), 3, "%02x", (unsigned char)id[i]);
    char *debug = xasprintf("%s/%s.debug", folder, name);
    fixture_check(file_make_directories(folder));
    fixture_write_elf(place.path, &(struct fixture_elf){.build_id = id}, NULL, NULL);
    char *root = file_join(place.directory, "debug");
    const char *directories[] = {root};
    const struct model_options options = {directories, 1, true};
    fixture_expect(model_open(place.path, &options, &model), ERROR_NOT_FOUND, "no model");
    // one of another build does not count
    fixture_write_elf(debug, &(struct fixture_elf){.build_id = other}, &frames, NULL);
    fixture_expect(model_open(place.path, &options, &model), ERROR_NOT_FOUND, "no model");
    fixture_write_elf(debug, &(struct fixture_elf){.build_id = id}, &frames, NULL);
    fixture_check(model_open(place.path, &options, &model));
    assert_int_equal(model->module_count, 2);
    fixture_check(model_complete(model));
    model_destroy(model);
    free(root);
    free(debug);
    free(folder);
    free(frames.data);
    place_deinit(&place);
}

// ---- Bad ones

static void not_ours(void **state)
{
    struct place_of_test place;
    struct fixture_bytes frames = two_modules();
    struct model *model;

    (void)state;
    place_init(&place);
    fixture_expect(model_open(place.path, &no_cache, &model), ERROR_SYSTEM, "No such file");
    fixture_check(file_write(place.path, "", 0, 0666));
    fixture_expect(model_open(place.path, &no_cache, &model), ERROR_FORMAT, "not an ELF");
    fixture_check(file_write(place.path, "#!/bin/sh\n", 10, 0666));
    fixture_expect(model_open(place.path, &no_cache, &model), ERROR_FORMAT, "not an ELF");
    fixture_write_elf(place.path, &(struct fixture_elf){.machine = EM_AARCH64}, &frames, NULL);
    fixture_expect(model_open(place.path, &no_cache, &model), ERROR_UNSUPPORTED, "x86-64");
    fixture_write_elf(place.path, &(struct fixture_elf){.type = ET_REL}, &frames, NULL);
    fixture_expect(model_open(place.path, &no_cache, &model), ERROR_FORMAT, "neither");
    fixture_write_elf(place.path, &(struct fixture_elf){0}, NULL, NULL);
    fixture_expect(model_open(place.path, &no_cache, &model), ERROR_NOT_FOUND, "no model");
    fixture_expect(model_open(place.directory, &no_cache, &model), ERROR_FORMAT, "not an ELF");
    free(frames.data);
    place_deinit(&place);
}

// Opens and completes; what is wrong, or NULL.
static struct error *try_model(const char *path)
{
    struct model *model = NULL;
    struct error *err = model_open(path, &no_cache, &model);

    if (!err) {
        err = model_complete(model);
        model_destroy(model);
    }
    return err;
}

static void every_flipped_byte_is_found(void **state)
{
    struct place_of_test place;
    struct fixture_bytes frames = {0};

    (void)state;
    place_init(&place);
    fixture_append_module(&frames, ONE);
    for (size_t i = 0; i < frames.size; i++) {
        if (i >= sizeof(struct section_header) && i + 8 >= frames.size)
            continue; // perhaps only the zeros behind it
        frames.data[i] ^= 0x40;
        fixture_write_elf(place.path, &(struct fixture_elf){0}, &frames, NULL);
        struct error *err = try_model(place.path);
        if (!err)
            fail_msg("flipped byte %zu was not found", i);
        assert_true(err->code == ERROR_FORMAT || err->code == ERROR_MISMATCH);
        assert_int_equal(err->place_kind, ERROR_PLACE_OFFSET);
        assert_string_equal(err->file, place.path);
        error_destroy(err);
        frames.data[i] ^= 0x40;
    }
    free(frames.data);
    place_deinit(&place);
}

static void every_cut_is_found(void **state)
{
    struct place_of_test place;
    struct fixture_bytes frames = two_modules();
    struct file_bytes whole = FILE_BYTES_INIT;

    (void)state;
    place_init(&place);
    fixture_write_elf(place.path, &(struct fixture_elf){0}, &frames, NULL);
    fixture_check(try_model(place.path));
    fixture_check(file_read(place.path, &whole));
    for (size_t size = 0; size < whole.size; size += size < 200 ? 1 : 37) {
        fixture_check(file_write(place.path, whole.data, size, 0666));
        struct error *err = try_model(place.path);
        if (!err)
            fail_msg("cut to %zu bytes, and nothing was said", size);
        assert_int_equal(err->code, ERROR_FORMAT);
        error_destroy(err);
    }
    file_bytes_deinit(&whole);
    free(frames.data);
    place_deinit(&place);
}

static void other_version_is_named(void **state)
{
    struct place_of_test place;
    struct fixture_bytes frames = two_modules();
    struct model *model;

    (void)state;
    place_init(&place);
    frames.data[8] = 99;
    fixture_write_elf(place.path, &(struct fixture_elf){0}, &frames, NULL);
    fixture_expect(model_open(place.path, &no_cache, &model), ERROR_MISMATCH, "version 99");
    free(frames.data);
    place_deinit(&place);
}

// Frames whose hash is right but which do not say the truth.
static void false_headers_are_refused(void **state)
{
    struct place_of_test place;
    struct section_module module;
    struct section_function *entries;
    struct fixture_bytes bitcode = fixture_bitcode(TWO, &module, &entries);
    static const struct {
        size_t offset;
        uint32_t value;
        const char *text;
    } changes[] = {
        {offsetof(struct section_module, module_id), 1, "bitcode"},
        {offsetof(struct section_module, bitcode_length), 100, "length"},
        {offsetof(struct section_module, bitcode_length) + 4, 1000, "sizes"},
        {offsetof(struct section_module, level), 9, "level"},
        {offsetof(struct section_module, function_count), 1000000, "more functions"},
        {offsetof(struct section_module, function_count), 1, "bitcode"},
        {offsetof(struct section_module, site_count), 4, "call sites"},
        {offsetof(struct section_module, site_count), 4000000, "sizes"},
    };

    (void)state;
    place_init(&place);
    for (size_t i = 0; i <= sizeof(changes) / sizeof(*changes); i++) {
        struct fixture_bytes frames = {0}, payload = {0};
        struct section_module changed = module;
        const char *text = "other nodes";
        fixture_append_parts(&frames, &module, entries, &bitcode);
        struct section_header header;
        memcpy(&header, frames.data, sizeof(header));
        fixture_bytes_append(&payload, frames.data + sizeof(header), header.payload_length);
        if (i < sizeof(changes) / sizeof(*changes)) {
            memcpy((char *)&changed + changes[i].offset, &changes[i].value, 4);
            memcpy(payload.data, &changed, sizeof(changed));
            text = changes[i].text;
        } else {
            payload.data[sizeof(changed)] ^= 1; // a checksum
        }
        free(frames.data);
        frames = (struct fixture_bytes){0};
        fixture_append_frame(&frames, SECTION_KIND_MODULE, &payload);
        fixture_write_elf(place.path, &(struct fixture_elf){0}, &frames, NULL);
        fixture_expect(try_model(place.path), ERROR_FORMAT, text);
        free(frames.data);
        free(payload.data);
    }
    free(entries);
    free(bitcode.data);
    place_deinit(&place);
}

// ---- The cache

static void write_text_of(const char *path, const char *output)
{
    struct model *model;
    FILE *stream = fopen(output, "w");

    assert_non_null(stream);
    fixture_check(model_open(path, &(struct model_options){0}, &model));
    fixture_check(model_complete(model));
    model_write_text(model, (struct function_id){MODEL_NONE}, true, stream);
    model_destroy(model);
    fclose(stream);
}

static void assert_same_file(const char *a, const char *b)
{
    struct file_bytes x = FILE_BYTES_INIT, y = FILE_BYTES_INIT;

    fixture_check(file_read(a, &x));
    fixture_check(file_read(b, &y));
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    file_bytes_deinit(&x);
    file_bytes_deinit(&y);
}

static void cache_is_filled_and_checked(void **state)
{
    static const char id[20] = "\x01\x02 and eighteen..";
    struct place_of_test place;
    struct fixture_bytes frames = {0};
    struct section_module module;
    struct section_function *entries;
    struct fixture_bytes bitcode = fixture_bitcode(ONE, &module, &entries);

    (void)state;
    place_init(&place);
    fixture_append_parts(&frames, &module, entries, &bitcode);
    fixture_write_elf(place.path, &(struct fixture_elf){.build_id = id}, &frames, NULL);
    char *cache = file_join(place.directory, "cache"), *first = file_join(place.directory, "1"),
         *second = file_join(place.directory, "2");
    setenv("XDG_CACHE_HOME", cache, 1);
    write_text_of(place.path, first);
    char name[64];
    for (int i = 0; i < 20; i++)
        snprintf(name + 2 * i, 3, "%02x", (unsigned char)id[i]);
    char *file =
        xasprintf("%s/inquest/model/%s/%016llx", cache, name, (unsigned long long)module.module_id);
    struct file_bytes cached = FILE_BYTES_INIT;
    fixture_check(file_read(file, &cached));
    write_text_of(place.path, second);
    assert_same_file(first, second);
    // damaged in any way, it is as if it were not there, and is written anew
    for (size_t i = 0; i < cached.size; i += 61) {
        unsigned char *changed = xmemdup(cached.data, cached.size);
        changed[i] ^= 0x10;
        fixture_check(file_write(file, changed, i % 2 ? cached.size : i, 0666));
        free(changed);
        write_text_of(place.path, second);
        assert_same_file(first, second);
        struct file_bytes again = FILE_BYTES_INIT;
        fixture_check(file_read(file, &again));
        assert_int_equal(again.size, cached.size);
        assert_memory_equal(again.data, cached.data, cached.size);
        file_bytes_deinit(&again);
    }
    // a cache that cannot be written to does no harm
    fixture_check(file_write(first, "", 0, 0666));
    setenv("XDG_CACHE_HOME", first, 1);
    write_text_of(place.path, second);
    unsetenv("XDG_CACHE_HOME");
    file_bytes_deinit(&cached);
    free(file);
    free(cache);
    free(first);
    free(second);
    free(frames.data);
    free(entries);
    free(bitcode.data);
    place_deinit(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_are_loaded_lazily),
        cmocka_unit_test(debug_file_by_build_id),
        cmocka_unit_test(not_ours),
        cmocka_unit_test(every_flipped_byte_is_found),
        cmocka_unit_test(every_cut_is_found),
        cmocka_unit_test(other_version_is_named),
        cmocka_unit_test(false_headers_are_refused),
        cmocka_unit_test(cache_is_filled_and_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
