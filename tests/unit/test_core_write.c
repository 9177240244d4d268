// SPDX-License-Identifier: Apache-2.0
/* The core writer: what of which mapping is kept, and whole cores of a child of the test. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/file.h"
#include "trace/core_write.h"
#include "trace/core_write_internal.h"

static void assert_no_error(struct error *err)
{
    if (err) {
        error_print(err);
        error_destroy(err);
        fail();
    }
}

/* --- mappings --- */

static const char smaps[] =
    "55d0c0000000-55d0c0001000 r--p 00000000 08:01 42                         /bin/a b\\012c\n"
    "Size:                  4 kB\n"
    "Anonymous:             0 kB\n"
    "VmFlags: rd mr mw me \n"
    "55d0c0001000-55d0c0003000 rw-p 00001000 08:01 42                         /bin/a b\\012c\n"
    "Anonymous:             8 kB\n"
    "Swap:                  0 kB\n"
    "VmFlags: rd wr mr mw me ac \n"
    "7f0000000000-7f0000002000 rw-p 00000000 00:00 0 \n"
    "Anonymous:             0 kB\n"
    "Swap:                  4 kB\n"
    "VmFlags: rd wr mr mw me ac sd \n"
    "7f0000002000-7f0000003000 rw-s 00000000 00:01 7                          /dev/zero (deleted)\n"
    "Anonymous:             0 kB\n"
    "VmFlags: rd wr sh mr mw me ms \n"
    "7f0000003000-7f0000004000 rw-p 00000000 00:00 0                          [heap]\n"
    "Anonymous:             4 kB\n"
    "VmFlags: rd wr mr mw me ac dd \n"
    "7fff00000000-7fff00002000 r-xp 00000000 00:00 0                          [vdso]\n"
    "Anonymous:             0 kB\n"
    "VmFlags: rd ex mr mw me de \n";

static void test_mappings_parse(void **state)
{
    (void)state;
    struct core_mapping_vec mappings = VEC_INIT;
    assert_no_error(core_mappings_parse(smaps, &mappings));
    assert_int_equal(mappings.length, 6);
    assert_string_equal(mappings.data[0].name, "/bin/a b\nc");
    assert_int_equal(mappings.data[0].flags, PF_R);
    assert_int_equal(mappings.data[1].offset, 0x1000);
    assert_int_equal(mappings.data[1].inode, 42);
    assert_true(mappings.data[1].written);
    assert_false(mappings.data[0].written);
    assert_true(mappings.data[2].written); /* swapped out */
    assert_string_equal(mappings.data[2].name, "");
    assert_true(mappings.data[3].shared);
    assert_true(mappings.data[4].dont_dump);
    core_mappings_deinit(&mappings);
}

static void test_mappings_parse_garbage(void **state)
{
    (void)state;
    static const char *const bad[] = {"x", "12-34\n", "2000-1000 r--p 0 0:0 0\n",
                                      "1001-2000 r--p 0 0:0 0\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct core_mapping_vec mappings = VEC_INIT;
        struct error *err = core_mappings_parse(bad[i], &mappings);
        assert_non_null(err);
        assert_int_equal(err->code, ERROR_FORMAT);
        error_destroy(err);
        core_mappings_deinit(&mappings);
    }
}

/* core(5), row by row. */
static void test_dump_size(void **state)
{
    (void)state;
    const struct core_mapping base = {
        .start = 0x10000, .end = 0x20000, .name = (char *)"", .flags = PF_R};
    const uint64_t whole = 0x10000;
    bool if_elf;
    struct core_mapping m = base;
    assert_int_equal(core_mapping_dump_size(&m, 0x33, &if_elf), 0); /* never touched */
    m.written = true;
    assert_int_equal(core_mapping_dump_size(&m, 0x33, &if_elf), whole);
    assert_int_equal(core_mapping_dump_size(&m, 0x32, &if_elf), 0);
    m.dont_dump = true;
    assert_int_equal(core_mapping_dump_size(&m, 0x7f, &if_elf), 0);

    m = base;
    m.inode = 1;
    m.name = (char *)"/lib/x";
    assert_int_equal(core_mapping_dump_size(&m, 0x33, &if_elf), CORE_PAGE);
    assert_true(if_elf);
    assert_int_equal(core_mapping_dump_size(&m, 0x23, &if_elf), 0);
    assert_int_equal(core_mapping_dump_size(&m, 0x37, &if_elf), whole);
    assert_false(if_elf);
    m.offset = 0x1000;
    assert_int_equal(core_mapping_dump_size(&m, 0x33, &if_elf), 0);

    m.shared = true;
    assert_int_equal(core_mapping_dump_size(&m, 0x33, &if_elf), 0);
    assert_int_equal(core_mapping_dump_size(&m, 0x3b, &if_elf), whole);
    m.name = (char *)"/memfd:x (deleted)";
    assert_int_equal(core_mapping_dump_size(&m, 0x33, &if_elf), whole);
    assert_int_equal(core_mapping_dump_size(&m, 0x39, &if_elf), 0);

    m = base;
    m.huge = true;
    assert_int_equal(core_mapping_dump_size(&m, 0x33, &if_elf), whole);
    assert_int_equal(core_mapping_dump_size(&m, 0x13, &if_elf), 0);
    m = base;
    m.io = true;
    m.written = true;
    assert_int_equal(core_mapping_dump_size(&m, 0x7f, &if_elf), 0);
    m.name = (char *)"[vdso]";
    assert_int_equal(core_mapping_dump_size(&m, 0, &if_elf), whole);
}

/* --- whole cores --- */

enum { PATTERN_PAGES = 600 };

struct child {
    pid_t pid;
    unsigned char *pattern; /* the address in both */
};

/* A page in three is zeros, so that there are holes. */
static unsigned char pattern_byte(size_t index)
{
    return index / CORE_PAGE % 3 == 0 ? 0 : (unsigned char)(index * 7 + index / CORE_PAGE);
}

/* A child of one thread, stopped by a traced SIGSTOP, with a pattern in memory. */
static bool child_start(struct child *child)
{
    size_t size = PATTERN_PAGES * CORE_PAGE;
    child->pattern = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(child->pattern != MAP_FAILED);
    child->pid = fork();
    if (child->pid == 0) {
        for (size_t i = 0; i < size; i++)
            child->pattern[i] = pattern_byte(i);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(77);
        raise(SIGSTOP);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    return WIFSTOPPED(status);
}

static void child_end(struct child *child)
{
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
    munmap(child->pattern, PATTERN_PAGES * CORE_PAGE);
}

static char *temporary_name(const char *suffix)
{
    const char *directory = getenv("TMPDIR");
    return xasprintf("%s/inquest-core-%d%s", directory ? directory : "/tmp", getpid(), suffix);
}

static const Elf64_Phdr *core_segment(const struct file_bytes *core, uint64_t address)
{
    const Elf64_Ehdr *header = (const void *)core->data;
    const Elf64_Phdr *segments = (const void *)(core->data + header->e_phoff);
    for (size_t i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && address >= segments[i].p_vaddr &&
            address - segments[i].p_vaddr < segments[i].p_memsz)
            return &segments[i];
    }
    return NULL;
}

/* The first note of a type, and the how-manieth it is; NULL where there is none. */
static const unsigned char *core_note(const struct file_bytes *core, uint32_t type,
                                      const char *owner, size_t *ret_size, size_t *ret_index)
{
    const Elf64_Ehdr *header = (const void *)core->data;
    const Elf64_Phdr *segment = (const void *)(core->data + header->e_phoff);
    assert_int_equal(segment->p_type, PT_NOTE);
    const unsigned char *at = core->data + segment->p_offset;
    const unsigned char *end = at + segment->p_filesz;
    for (size_t index = 0; at < end; index++) {
        const Elf64_Nhdr *note = (const void *)at;
        const char *name = (const char *)at + sizeof(*note);
        const unsigned char *data = (const void *)(name + ((note->n_namesz + 3) & ~3u));
        if (note->n_type == type && strcmp(name, owner) == 0) {
            *ret_size = note->n_descsz;
            *ret_index = index;
            return data;
        }
        at = data + ((note->n_descsz + 3) & ~3u);
    }
    return NULL;
}

/* Notes are aligned to 4 bytes only. */
static void core_note_copy(const struct file_bytes *core, uint32_t type, void *ret, size_t size)
{
    size_t found_size;
    size_t index;
    const unsigned char *data = core_note(core, type, "CORE", &found_size, &index);
    assert_non_null(data);
    assert_int_equal(found_size, size);
    memcpy(ret, data, size);
}

static void check_memory(const struct file_bytes *core, const struct child *child)
{
    for (size_t i = 0; i < PATTERN_PAGES * CORE_PAGE; i++) {
        uint64_t address = (uint64_t)child->pattern + i;
        const Elf64_Phdr *segment = core_segment(core, address);
        assert_non_null(segment);
        uint64_t at = address - segment->p_vaddr;
        assert_true(at < segment->p_filesz);
        if (core->data[segment->p_offset + at] != pattern_byte(i))
            fail_msg("byte %zu of the pattern is wrong", i);
    }
}

static void check_notes(const struct file_bytes *core, const struct child *child)
{
    size_t size;
    size_t index;
    struct elf_prstatus status;
    core_note_copy(core, NT_PRSTATUS, &status, sizeof(status));
    assert_non_null(core_note(core, NT_PRSTATUS, "CORE", &size, &index));
    assert_int_equal(index, 0);
    assert_int_equal(status.pr_pid, child->pid);
    assert_int_equal(status.pr_cursig, SIGSEGV);
    assert_int_equal(status.pr_ppid, getpid());
    struct user_regs_struct live;
    assert_int_equal(ptrace(PTRACE_GETREGS, child->pid, NULL, &live), 0);
    assert_memory_equal(&status.pr_reg, &live, sizeof(live));

    struct elf_prpsinfo process;
    core_note_copy(core, NT_PRPSINFO, &process, sizeof(process));
    assert_int_equal(process.pr_pid, child->pid);
    assert_int_equal(process.pr_uid, getuid());
    assert_string_equal(process.pr_fname, "test_core_write");

    siginfo_t info;
    core_note_copy(core, NT_SIGINFO, &info, sizeof(info));
    assert_int_equal(info.si_signo, SIGSEGV);
    assert_ptr_equal(info.si_addr, (void *)0x1234);

    assert_non_null(core_note(core, NT_AUXV, "CORE", &size, &index));
    assert_non_null(core_note(core, NT_FPREGSET, "CORE", &size, &index));
    assert_int_equal(size, 512);
    const unsigned char *files = core_note(core, NT_FILE, "CORE", &size, &index);
    assert_non_null(files);
    uint64_t head[2];
    memcpy(head, files, sizeof(head));
    assert_true(head[0] > 0);
    assert_int_equal(head[1], CORE_PAGE);
    assert_non_null(memmem(files, size, "test_core_write", strlen("test_core_write")));
    const char *reason =
        (const void *)core_note(core, CORE_NOTE_REASON, CORE_NOTE_OWNER, &size, &index);
    assert_non_null(reason);
    assert_string_equal(reason, "for a test");
}

static struct error *write_core(const struct child *child, const char *path, bool zstd,
                                struct core_written *written)
{
    siginfo_t info = {.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};
    info.si_addr = (void *)0x1234;
    struct core_request request = {
        .pid = child->pid,
        .threads = &child->pid,
        .thread_count = 1,
        .signal = SIGSEGV,
        .info = &info,
        .reason = "for a test",
        .zstd = zstd,
    };
    return core_write(&request, path, written);
}

static void test_core(void **state)
{
    (void)state;
    struct child child;
    if (!child_start(&child))
        skip();
    _cleanup_free_ char *path = temporary_name("");
    struct core_written written;
    assert_no_error(write_core(&child, path, false, &written));
    _cleanup_file_bytes_ struct file_bytes core = FILE_BYTES_INIT;
    assert_no_error(file_read(path, &core));
    assert_int_equal(core.size, written.size);
    assert_int_equal(written.unreadable, 0);
    const Elf64_Ehdr *header = (const void *)core.data;
    assert_memory_equal(header->e_ident, ELFMAG, SELFMAG);
    assert_int_equal(header->e_type, ET_CORE);
    check_notes(&core, &child);
    check_memory(&core, &child);

    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    /* A third of the pattern is not stored. */
    assert_true(written.stored + PATTERN_PAGES / 3 * CORE_PAGE <= written.size);
    child_end(&child);
    unlink(path);
}

static void test_core_zstd(void **state)
{
    (void)state;
    struct child child;
    if (!child_start(&child))
        skip();
    _cleanup_free_ char *path = temporary_name(".zst");
    struct core_written written;
    assert_no_error(write_core(&child, path, true, &written));
    _cleanup_file_bytes_ struct file_bytes packed = FILE_BYTES_INIT;
    assert_no_error(file_read(path, &packed));
    assert_true(packed.size < written.size);
    unsigned char *data = xmalloc(written.size);
    size_t size = ZSTD_decompress(data, written.size, packed.data, packed.size);
    assert_false(ZSTD_isError(size));
    assert_int_equal(size, written.size);
    struct file_bytes core = {data, size, false};
    check_notes(&core, &child);
    check_memory(&core, &child);
    free(data);
    child_end(&child);
    unlink(path);
}

static void test_core_failures(void **state)
{
    (void)state;
    struct child child;
    if (!child_start(&child))
        skip();
    struct core_written written;
    struct error *err = write_core(&child, "/nonexistent/core", false, &written);
    assert_non_null(err);
    assert_int_equal(err->errnum, ENOENT);
    error_destroy(err);
    child_end(&child);
    /* The process is gone. */
    err = write_core(&child, "/nonexistent/core", false, &written);
    assert_non_null(err);
    error_destroy(err);
}

/* More than the file may hold: the error says so. */
static void test_sink_too_large(void **state)
{
    (void)state;
    _cleanup_free_ char *path = temporary_name(".large");
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit limit = {1 << 20, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    struct core_sink *sink = core_sink_create(stream, false);
    assert_no_error(core_sink_write(sink, "x", 1));
    assert_no_error(core_sink_skip(sink, 2 << 20));
    struct error *err = core_sink_finish(sink);
    assert_non_null(err);
    assert_int_equal(err->errnum, EFBIG);
    error_destroy(err);
    assert_int_equal(core_sink_stored(sink), 1);
    core_sink_destroy(sink);
    fclose(stream);
    unlink(path);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mappings_parse), cmocka_unit_test(test_mappings_parse_garbage),
        cmocka_unit_test(test_dump_size),      cmocka_unit_test(test_core),
        cmocka_unit_test(test_core_zstd),      cmocka_unit_test(test_core_failures),
        cmocka_unit_test(test_sink_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
