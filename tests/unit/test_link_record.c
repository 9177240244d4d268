// SPDX-License-Identifier: Apache-2.0
// Records of links: written and read back, refused where anything is wrong; archives and files that
// an image carries; what a link needs.
#include "model_fixture.h"

#include <sys/stat.h>

#include "common/file.h"
#include "common/sha256.h"
#include "common/strbuf.h"
#include "program/archive.h"
#include "program/image.h"
#include "program/link_needs.h"
#include "program/link_record.h"

#define HEAD                                                                                       \
    "link\t1\ndirectory\t/d\ncommand\tinquest-cc x\ncompiler\tclang\nlinker\t/ld\tab12\tGNU ld\n"
#define OUTPUT "output\tfinal\tprog\n"
#define SHA    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // of nothing

static struct error *parse(const char *text, struct link_record *ret)
{
    return link_record_parse("prog", 100, text, strlen(text), ret);
}

static void same_bytes(const char *text)
{
    struct link_record record;
    struct strbuf again = STRBUF_INIT;

    fixture_check(parse(text, &record));
    link_record_write(&record, &again);
    assert_string_equal(again.data, text);
    strbuf_deinit(&again);
    link_record_deinit(&record);
}

// ---- Good ones

static const char full[] =
    HEAD "environment\tLD_RUN_PATH\t/lib\n" OUTPUT "input\tsource\tuser\tmain.c\n"
         "model\t0123456789abcdef\nmodel\t0000000000000001\nsymbols\tffffffffffffffff\n"
         "input\tobject\tuser\tp\\x01 \\\\\\n\\t\xc3\xa4\\xff.o\nhash\t" SHA
         "\t0\nrecord\t00000000000000aa\n"
         "modelless\nundefined\tf\nundefined\tg\n"
         "input\tarchive\tuser\tlibx.a\nmodelless\nopaque\nundefined\tf\n"
         "member\t0\t+\tobject\ta.o\nmodel\t0123456789abcdef\n"
         "member\t7\t?\tbitcode\tb.o\nhash\t" SHA "\t18446744073709551615\n"
         "member\t8\t-\tobject\t\n"
         "input\tscript\ttoolchain\tlibc.so\nhash\t" SHA "\t0\n"
         "input\tshared\ttoolchain\tlibc.so.6\nresolved\tlibc-2.so\nwithin\t3\nsoname\tlibc.so.6\n"
         "build-id\t" SHA SHA SHA "\n"
         "argument\t-o\nargument\tprog\nargument\tmain.c\t0\t\nargument\t--version-script=v\t3\t--"
         "version-script=\n"
         "argument\t\n";

static void all_of_it(void **state)
{
    struct link_record record;

    (void)state;
    same_bytes(full);
    fixture_check(parse(full, &record));
    assert_string_equal(record.directory, "/d");
    assert_string_equal(record.linker_build_id, "ab12");
    assert_string_equal(record.environment.data[0].value, "/lib");
    assert_false(record.relocatable);
    assert_int_equal(record.inputs.length, 5);
    assert_int_equal(record.inputs.data[0].kind, LINK_SOURCE);
    assert_int_equal(record.inputs.data[0].content.models.data[0], 0x0123456789abcdef);
    assert_int_equal(record.inputs.data[0].content.models.length, 2);
    assert_string_equal(record.inputs.data[1].path, "p\x01 \\\n\t\xc3\xa4\xff.o");
    assert_true(record.inputs.data[1].content.has_hash);
    assert_int_equal(record.inputs.data[1].undefined.length, 2);
    assert_int_equal(record.inputs.data[2].members.length, 3);
    assert_int_equal(record.inputs.data[2].members.data[0].taken, LINK_TAKEN_YES);
    assert_int_equal(record.inputs.data[2].members.data[1].kind, LINK_BITCODE);
    assert_true(record.inputs.data[2].members.data[1].content.size == UINT64_MAX);
    assert_int_equal(record.inputs.data[2].members.data[2].taken, LINK_TAKEN_NO);
    assert_false(record.inputs.data[2].content.models.length);
    assert_int_equal(record.inputs.data[4].within, 3);
    assert_int_equal(record.arguments.length, 5);
    assert_int_equal(record.arguments.data[0].input, LINK_NONE);
    assert_int_equal(record.arguments.data[3].input, 3);
    assert_string_equal(record.arguments.data[3].before, "--version-script=");
    link_record_deinit(&record);
    same_bytes(HEAD "output\trelocatable\tm.o\n");
}

// What is put in is what is read out, for strings of any bytes.
static void any_bytes(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 2000; seed++) {
        struct link_record record, read;
        struct strbuf text = STRBUF_INIT;
        char path[8] = "";
        uint32_t number = seed * 2654435761u;
        for (size_t i = 0; i < sizeof(path) - 1 - seed % 3;
             i++, number = number * 1103515245u + 12345)
            path[i] = (char)(number >> 16 & 0xff ? number >> 16 & 0xff : 1);
        link_record_init(&record);
        record.output = record.command = path;
        struct link_input *input = link_record_add_input(&record, LINK_THIN, LINK_USER, path);
        link_names_push(&input->undefined, path);
        link_input_add_member(input, seed, LINK_OBJECT, path);
        link_arguments_vec_push(&record.arguments, (struct link_argument){path, 0, path});
        link_record_write(&record, &text);
        fixture_check(link_record_parse("x", 0, text.data, text.length, &read));
        assert_string_equal(read.command, path);
        assert_string_equal(read.inputs.data[0].path, path);
        assert_string_equal(read.inputs.data[0].members.data[0].name, path);
        assert_string_equal(read.inputs.data[0].undefined.data[0], path);
        assert_string_equal(read.arguments.data[0].before, path);
        link_record_deinit(&read);
        link_record_deinit(&record);
        strbuf_deinit(&text);
    }
}

// ---- Bad ones

static void refused(const char *text, const char *why)
{
    struct link_record record;

    fixture_expect(parse(text, &record), ERROR_FORMAT, why);
}

static void wrong_lines(void **state)
{
    struct link_record record;

    (void)state;
    fixture_expect(parse("link\t2\nanything", &record), ERROR_MISMATCH,
                   "version 2; this inquest reads version 1: build the program again");
    refused("", "empty");
    refused("command\tinquest-cc\n", "does not say its version"); // as it was before there were any
    refused("link\tx\n", "no version");
    refused("link\t1", "does not end");
    refused(HEAD OUTPUT "argument\tx", "does not end");
    refused(HEAD OUTPUT "nonsense\tx\n", "a line that there is not");
    refused(HEAD OUTPUT "\n", "a line that there is not");
    refused(HEAD OUTPUT "input\tobject\tuser\n", "too few values or too many");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\tb\n", "too few values or too many");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\tb\tc\n", "too many values");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\\q\n", "has to be escaped");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\\x0\n", "has to be escaped");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\\x00\n", "has to be escaped");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\\\n", "has to be escaped");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\rb\n", "has to be escaped");
    refused(HEAD OUTPUT "input\tthing\tuser\ta\n", "an input of a kind that there is not");
    refused(HEAD OUTPUT "input\tobject\tnobody\ta\n", "an input of a kind that there is not");
    refused(HEAD OUTPUT "undefined\tf\n", "no input stands before");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nwithin\t0\n", "does not stand before");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nwithin\t01\n", "does not stand before");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nwithin\t4294967296\n", "does not stand before");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nbuild-id\t\n", "not a build-id");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nbuild-id\tabc\n", "not a build-id");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nbuild-id\tAB\n", "not a build-id");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nhash\t12\t0\n", "not a hash");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nhash\t" SHA "\t18446744073709551616\n",
            "not a hash");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nhash\t" SHA "\t-1\n", "not a hash");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nmodel\t12\n", "not an id");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nmodel\t0123456789abcdef0\n", "not an id");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nsymbols\tx\n", "not a hash of symbols");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nmember\t0\t+\tobject\tb\n", "not a member");
    refused(HEAD OUTPUT "input\tarchive\tuser\ta\nmember\t0\t*\tobject\tb\n", "not a member");
    refused(HEAD OUTPUT "input\tarchive\tuser\ta\nmember\t0\t\tobject\tb\n", "not a member");
    refused(HEAD OUTPUT "input\tarchive\tuser\ta\nmember\t0\t+\tarchive\tb\n", "not a member");
    refused(HEAD OUTPUT
            "input\tarchive\tuser\ta\nmember\t1\t+\tobject\tb\nmember\t1\t+\tobject\tc\n",
            "not a member");
    refused(HEAD OUTPUT "argument\tx\t0\t\n", "an argument that names no input");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nargument\tx\t1\t\n", "names no input");
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nargument\tx\t0\n", "names no input");
}

static void wrong_order(void **state)
{
    static const char why[] = "out of order, or twice";

    (void)state;
    refused("link\t1\n", why);
    refused(HEAD, why);
    refused(HEAD OUTPUT OUTPUT, why);
    refused(HEAD "output\tother\tprog\n", why);
    refused(HEAD OUTPUT "directory\t/e\n", why);
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nundefined\tf\nmodelless\n", why);
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nmodelless\nmodelless\n", why);
    refused(HEAD OUTPUT "input\tobject\tuser\ta\nargument\tx\ninput\tobject\tuser\tb\n", why);
    refused(HEAD OUTPUT "input\tobject\tuser\t\\x41\n", why); // escaped without need
    refused(HEAD OUTPUT "input\tobject\tuser\t\xff\n", why);  // not escaped
}

// Cut anywhere, and with any byte changed: an error, or a record that is written as it was read.
static void damaged(void **state)
{
    struct link_record record;
    size_t length = strlen(full);

    (void)state;
    for (size_t cut = 0; cut < length; cut++) {
        struct error *err = link_record_parse("prog", 0, full, cut, &record);
        if (!err)
            link_record_deinit(&record);
        error_destroy(err);
    }
    char *copy = xstrdup(full);
    for (size_t i = 0; i < length; i++) {
        static const char others[] = {'\0', '\t', '\n', '\\', 'x', '9', '+', '\xff'};
        for (size_t o = 0; o < sizeof(others); o++) {
            copy[i] = others[o];
            struct error *err = link_record_parse("prog", 0, copy, length, &record);
            if (!err) {
                struct strbuf again = STRBUF_INIT;
                link_record_write(&record, &again);
                assert_int_equal(again.length, length);
                assert_memory_equal(again.data, copy, length);
                strbuf_deinit(&again);
                link_record_deinit(&record);
            }
            error_destroy(err);
        }
        copy[i] = full[i];
    }
    free(copy);
}

// ---- SHA-256

static void hashes(void **state)
{
    char text[SHA256_TEXT_SIZE];
    struct sha256 hash = sha256_of("abc", 3), other;

    (void)state;
    sha256_format(&hash, text); // FIPS 180-2, B.1
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_true(sha256_parse(text, &other));
    assert_true(sha256_equal(&hash, &other));
    text[63] = 'e';
    assert_true(sha256_parse(text, &other));
    assert_false(sha256_equal(&hash, &other));
    assert_false(sha256_parse("", &other));
    assert_false(
        sha256_parse("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD", &other));
    assert_false(sha256_parse(SHA "0", &other));
}

// ---- Archives

// What `ar t` and `ar p` say is what is found.
static void check_archive(const char *directory, const char *options, bool thin)
{
    static const char *const names[] = {"a.o", "a_rather_long_name_of_a_member.o", "empty.o"};
    static const char *const texts[] = {"odd", "a longer text\n", ""};
    struct arena arena;
    struct archive archive;
    struct archive_member member;
    struct file_bytes bytes;

    for (size_t i = 0; i < 3; i++) {
        char *path = file_join(directory, names[i]);
        fixture_check(file_write(path, texts[i], strlen(texts[i]), 0666));
        free(path);
    }
    char *command = xasprintf("cd '%s' && rm -f lib.a && ar %s lib.a %s %s %s", directory, options,
                              names[0], names[1], names[2]);
    char *path = file_join(directory, "lib.a");
    assert_int_equal(system(command), 0);
    fixture_check(file_map(path, &bytes));
    assert_true(archive_is(bytes.data, bytes.size));
    arena_init(&arena);
    archive_init(&archive, path, bytes.data, bytes.size);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(archive_next(&archive, &arena, &member));
        assert_string_equal(member.name, names[i]);
        assert_int_equal(member.number, i);
        assert_int_equal(member.path != NULL, thin);
        if (!thin) {
            assert_int_equal(member.size, strlen(texts[i]));
            assert_memory_equal(member.data, texts[i], member.size);
        }
    }
    assert_false(archive_next(&archive, &arena, &member));
    assert_false(archive.damaged);
    // cut anywhere: fewer members, or damaged, never a byte behind the end
    for (size_t cut = 8; cut < bytes.size; cut++) {
        unsigned char *copy = xmemdup(bytes.data, cut);
        archive_init(&archive, path, copy, cut);
        while (archive_next(&archive, &arena, &member))
            assert_true(!member.data || member.data + member.size <= copy + cut);
        free(copy);
    }
    file_bytes_deinit(&bytes);
    arena_deinit(&arena);
    free(command);
    free(path);
}

static void archives(void **state)
{
    char *directory = fixture_directory();

    (void)state;
    assert_false(archive_is("!<arch>", 7));
    check_archive(directory, "rcD", false);
    check_archive(directory, "rcDS", false);
    check_archive(directory, "rcDT", true);
    fixture_remove_directory(directory);
}

static void bsd_names(void **state)
{
    static const char text[] = "!<arch>\n"
                               "#1/8            0           0     0     644     11        `\n"
                               "name.o\0\0xyz\n"
                               "/9              0           0     0     644     3         `\nabc";
    struct arena arena;
    struct archive archive;
    struct archive_member member;

    (void)state;
    arena_init(&arena);
    archive_init(&archive, "x", (const unsigned char *)text, sizeof(text) - 1);
    assert_true(archive_next(&archive, &arena, &member));
    assert_string_equal(member.name, "name.o");
    assert_int_equal(member.size, 3);
    assert_memory_equal(member.data, "xyz", 3);
    assert_false(archive_next(&archive, &arena, &member)); // a name in a table that is not there
    assert_true(archive.damaged);
    arena_deinit(&arena);
}

// ---- Images

static void append_object(struct fixture_bytes *frames, const char *text, const char *claimed)
{
    struct section_object object = {.length = strlen(text)};
    struct sha256 hash = sha256_of(claimed, strlen(claimed));
    struct fixture_bytes payload = {0};
    char packed[256];
    size_t size = ZSTD_compress(packed, sizeof(packed), text, strlen(text), 3);

    memcpy(object.hash, hash.bytes, sizeof(object.hash));
    fixture_bytes_append(&payload, &object, sizeof(object));
    fixture_bytes_append(&payload, packed, size);
    fixture_append_frame(frames, SECTION_KIND_OBJECT, &payload);
    free(payload.data);
}

#define MODULE "define i32 @main() {\n  ret i32 0\n}\n"

static void embedded(void **state)
{
    char *directory = fixture_directory(), *path = file_join(directory, "prog");
    struct fixture_bytes model = {0}, link = {0};
    struct image *image;
    unsigned char *data;
    size_t size;

    (void)state;
    fixture_append_module(&model, MODULE);
    fixture_append_link(&link, FIXTURE_CRT);
    append_object(&link, "the contents", "the contents");
    append_object(&link, "forged", "another");
    fixture_write_elf(path, &(struct fixture_elf){0}, &model, &link);
    fixture_check(image_open(path, NULL, 0, &image));
    struct sha256 right = sha256_of("the contents", 12), wrong = sha256_of("another", 7),
                  none = sha256_of("", 0);
    assert_true(image_has_object(image, &right));
    fixture_check(image_read_object(image, &right, &data, &size));
    assert_int_equal(size, 12);
    assert_memory_equal(data, "the contents", 12);
    free(data);
    fixture_expect(image_read_object(image, &wrong, &data, &size), ERROR_FORMAT,
                   "not what it should be");
    fixture_expect(image_read_object(image, &none, &data, &size), ERROR_NOT_FOUND, "no such file");
    image_destroy(image);
    free(model.data);
    free(link.data);
    free(path);
    fixture_remove_directory(directory);
}

// ---- Needs

static enum link_status status_of(const struct link_needs *needs, const char *name)
{
    for (size_t i = 0; i < needs->length; i++)
        if (strcmp(needs->data[i].name, name) == 0)
            return needs->data[i].status;
    fail_msg("'%s' is not needed", name);
    return LINK_STATUS_MISSING;
}

static bool is_needed(const struct link_needs *needs, const char *name)
{
    for (size_t i = 0; i < needs->length; i++)
        if (strcmp(needs->data[i].name, name) == 0)
            return true;
    return false;
}

static char *hash_line(const char *text)
{
    char hash[SHA256_TEXT_SIZE];
    struct sha256 sha = sha256_of(text, strlen(text));

    sha256_format(&sha, hash);
    return xasprintf("hash\t%s\t%zu\n", hash, strlen(text));
}

static void needs_of_each_kind(void **state)
{
    char *directory = fixture_directory(), *path = file_join(directory, "prog");
    struct fixture_bytes model = {0}, link = {0};
    struct section_module module;
    struct section_function *entries;
    struct image *image;
    struct link_needs needs;

    (void)state;
    struct fixture_bytes bitcode = fixture_bitcode(MODULE, &module, &entries);
    fixture_append_parts(&model, &module, entries, &bitcode);
    char *same = hash_line("same"), *gone = hash_line("gone"), *inside = hash_line("inside");
    char *lines =
        xasprintf("input\tobject\tuser\tmain.o\nmodel\t%016llx\n"
                  "input\tobject\tuser\tstripped.o\nmodel\t0000000000000001\n"
                  "input\tobject\tuser\tsame.o\n%smodelless\n"
                  "input\tobject\tuser\tdiffers.o\n%smodelless\n"
                  "input\tobject\tuser\tgone.o\n%smodelless\n"
                  "input\tobject\tuser\tinside.o\n%smodelless\n"
                  "input\tassembler\tuser\tsame.o\n%smodelless\n"
                  "input\tarchive\tuser\tlib.a\nmodelless\n"
                  "member\t0\t+\tobject\tsame.o\n%s"
                  "member\t1\t+\tobject\tgone.o\n%s"
                  "member\t2\t-\tobject\tleft.o\n%s"
                  "member\t3\t?\tobject\tmain.o\nmodel\t%016llx\n"
                  "member\t4\t?\tobject\tother.o\nmodel\t0000000000000002\n"
                  "input\tshared\tuser\tlibnone.so\nsoname\tlibnone.so.9\nbuild-id\tabcd\n"
                  "input\tunread\tuser\t-lz\nmodelless\nopaque\n",
                  (unsigned long long)module.module_id, same, same, gone, inside, same, same, gone,
                  gone, (unsigned long long)module.module_id);
    fixture_append_link(&link, lines);
    append_object(&link, "inside", "inside");
    fixture_write_elf(path, &(struct fixture_elf){0}, &model, &link);
    char *command = xasprintf("cd '%s' && printf same >same.o && printf other >differs.o && "
                              "ar rcD lib.a same.o differs.o",
                              directory);
    assert_int_equal(system(command), 0);
    fixture_check(image_open(path, NULL, 0, &image));
    fixture_check(link_needs_find(image, directory, &needs));
    assert_int_equal(status_of(&needs, "main.o"), LINK_STATUS_MODEL);
    assert_int_equal(status_of(&needs, "stripped.o"), LINK_STATUS_MISSING);
    assert_int_equal(status_of(&needs, "same.o"), LINK_STATUS_SAME);
    assert_int_equal(status_of(&needs, "differs.o"), LINK_STATUS_DIFFERS);
    assert_int_equal(status_of(&needs, "gone.o"), LINK_STATUS_MISSING);
    assert_int_equal(status_of(&needs, "inside.o"), LINK_STATUS_EMBEDDED);
    assert_int_equal(status_of(&needs, "lib.a(same.o)"), LINK_STATUS_SAME);
    assert_int_equal(status_of(&needs, "lib.a(gone.o)"), LINK_STATUS_MISSING);
    assert_false(is_needed(&needs, "lib.a(left.o)"));
    assert_int_equal(status_of(&needs, "lib.a(main.o)"), LINK_STATUS_MODEL);
    assert_false(is_needed(&needs, "lib.a(other.o)"));
    assert_int_equal(status_of(&needs, "libnone.so"), LINK_STATUS_MISSING);
    assert_int_equal(status_of(&needs, "-lz"), LINK_STATUS_MISSING);
    for (size_t i = 0; i < needs.length; i++)
        if (needs.data[i].status >= LINK_STATUS_DIFFERS)
            assert_true(strlen(link_need_advice(&needs.data[i])) > 10);
    link_needs_destroy(&needs);
    image_destroy(image);
    free(command);
    free(lines);
    free(same);
    free(gone);
    free(inside);
    free(entries);
    free(bitcode.data);
    free(model.data);
    free(link.data);
    free(path);
    fixture_remove_directory(directory);
}

static void without_a_record(void **state)
{
    char *directory = fixture_directory(), *path = file_join(directory, "prog");
    struct fixture_bytes model = {0};
    struct image *image;
    struct link_needs needs;

    (void)state;
    fixture_append_module(&model, MODULE);
    fixture_write_elf(path, &(struct fixture_elf){0}, &model, NULL);
    fixture_check(image_open(path, NULL, 0, &image));
    assert_null(image_final_link(image));
    fixture_expect(link_needs_find(image, NULL, &needs), ERROR_NOT_FOUND, "no record of the link");
    image_destroy(image);
    free(model.data);
    free(path);
    fixture_remove_directory(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it),        cmocka_unit_test(any_bytes),
        cmocka_unit_test(wrong_lines),      cmocka_unit_test(wrong_order),
        cmocka_unit_test(damaged),          cmocka_unit_test(hashes),
        cmocka_unit_test(archives),         cmocka_unit_test(bsd_names),
        cmocka_unit_test(embedded),         cmocka_unit_test(needs_of_each_kind),
        cmocka_unit_test(without_a_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
