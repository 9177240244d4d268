// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"

/* A fresh directory for each test; *state is its path. */
static int make_directory(void **state)
{
    const char *parent = getenv("TMPDIR");
    char *path = xasprintf("%s/test_file.XXXXXX", parent ? parent : "/tmp");
    *state = mkdtemp(path);
    return *state ? 0 : -1;
}

static int count_entries(const char *path)
{
    DIR *directory = opendir(path);
    assert_non_null(directory);
    int count = 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2;
}

static int remove_directory(void **state)
{
    char *command = xasprintf("rm -rf '%s'", (char *)*state);
    int status = system(command);
    free(command);
    free(*state);
    return status;
}

/* Consumes err. */
static void check_errno(struct error *err, int errnum)
{
    assert_non_null(err);
    assert_int_equal(err->code, ERROR_SYSTEM);
    assert_int_equal(err->errnum, errnum);
    error_destroy(err);
}

static void written_is_read(void **state)
{
    char *path = file_join(*state, "data");
    static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 4097, 100000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char *data = xmalloc(sizes[i]);
        memset(data, (int)i + 1, sizes[i]);
        assert_null(file_write(path, data, sizes[i], 0640));
        struct file_bytes bytes = FILE_BYTES_INIT;
        assert_null(file_read(path, &bytes));
        assert_int_equal(bytes.size, sizes[i]);
        assert_memory_equal(bytes.data, data, sizes[i]);
        assert_int_equal(bytes.data[bytes.size], 0);
        file_bytes_deinit(&bytes);
        assert_null(file_map(path, &bytes));
        assert_non_null(bytes.data);
        assert_int_equal(bytes.size, sizes[i]);
        assert_memory_equal(bytes.data, data, sizes[i]);
        file_bytes_deinit(&bytes);
        assert_null(bytes.data);
        free(data);
    }
    assert_int_equal(count_entries(*state), 1);
    free(path);
}

static void mode_follows_umask(void **state)
{
    char *path = file_join(*state, "program");
    mode_t before = umask(027);
    assert_null(file_write(path, "x", 1, 0777));
    umask(before);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0750);
    free(path);
}

static void what_is_not_regular_is_read(void **state)
{
    (void)state;
    struct file_bytes bytes = FILE_BYTES_INIT;
    assert_null(file_map("/proc/self/status", &bytes));
    assert_true(bytes.size > 100);
    assert_false(bytes.mapped);
    file_bytes_deinit(&bytes);
}

static void without_commit_nothing_changes(void **state)
{
    char *path = file_join(*state, "data");
    assert_null(file_write(path, "old", 3, 0666));
    struct file_writer writer;
    assert_null(file_writer_init(&writer, path, 0666));
    fputs("new", writer.stream);
    assert_int_equal(count_entries(*state), 2);
    file_writer_deinit(&writer);
    assert_int_equal(count_entries(*state), 1);
    struct file_bytes bytes = FILE_BYTES_INIT;
    assert_null(file_read(path, &bytes));
    assert_string_equal((const char *)bytes.data, "old");
    file_bytes_deinit(&bytes);

    assert_null(file_writer_init(&writer, path, 0666));
    fputs("new", writer.stream);
    assert_null(file_writer_commit(&writer));
    file_writer_deinit(&writer);
    assert_null(file_read(path, &bytes));
    assert_string_equal((const char *)bytes.data, "new");
    file_bytes_deinit(&bytes);
    free(path);
}

static void failures_are_errors(void **state)
{
    char *path = file_join(*state, "absent/data");
    struct file_bytes bytes = FILE_BYTES_INIT;
    check_errno(file_read(path, &bytes), ENOENT);
    check_errno(file_map(path, &bytes), ENOENT);
    check_errno(file_read(*state, &bytes), EISDIR);
    check_errno(file_map(*state, &bytes), EISDIR);
    check_errno(file_write(path, "x", 1, 0666), ENOENT);
    assert_null(bytes.data);
    free(path);
    /* The target is a directory, so only the rename fails. */
    path = file_join(*state, "directory");
    assert_null(file_make_directories(path));
    check_errno(file_write(path, "x", 1, 0666), EISDIR);
    assert_int_equal(count_entries(*state), 1);
    free(path);
}

static void directories_are_made(void **state)
{
    char *path = file_join(*state, "a/b//c/");
    assert_null(file_make_directories(path));
    assert_null(file_make_directories(path));
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    free(path);
    path = file_join(*state, "file");
    assert_null(file_write(path, "x", 1, 0666));
    check_errno(file_make_directories(path), ENOTDIR);
    char *below = file_join(path, "below");
    check_errno(file_make_directories(below), ENOTDIR);
    free(below);
    free(path);
}

static void join_adds_one_slash(void **state)
{
    (void)state;
    char *path = file_join("a", "b");
    assert_string_equal(path, "a/b");
    free(path);
    path = file_join("/", "b");
    assert_string_equal(path, "/b");
    free(path);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(written_is_read),
        IN_DIRECTORY(mode_follows_umask),
        IN_DIRECTORY(what_is_not_regular_is_read),
        IN_DIRECTORY(without_commit_nothing_changes),
        IN_DIRECTORY(failures_are_errors),
        IN_DIRECTORY(directories_are_made),
        IN_DIRECTORY(join_adds_one_slash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
