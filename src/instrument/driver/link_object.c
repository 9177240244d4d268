#include "instrument/driver/link_object.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "common/alloc.h"
#include "common/cleanup.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "instrument/driver/link_inputs.h"
#include "layout/frame.h"
#include "layout/section.h"
#include "program/link_record.h"

enum {
    COMPRESSION_LEVEL = 3, /* as the bitcode's */
    PAGE_SIZE = 4096,
};

/* Frames. */

/* Begins a frame whose payload is appended next; gives what frame_end wants. */
static size_t frame_begin(struct strbuf *out)
{
    size_t start = out->length;
    strbuf_append_repeated(out, '\0', sizeof(struct section_header));
    return start;
}

static void frame_end(struct strbuf *out, size_t start, uint32_t kind)
{
    const char *payload = out->data + start + sizeof(struct section_header);
    size_t length = out->length - start - sizeof(struct section_header);
    struct section_header header = {
        .magic = SECTION_MAGIC,
        .version = SECTION_VERSION,
        .kind = kind,
        .payload_length = length,
        .payload_hash = hash_bytes(HASH_SEED, payload, length),
    };
    memcpy(out->data + start, &header, sizeof(header));
    strbuf_append_repeated(out, '\0', -out->length % SECTION_ALIGN);
}

void link_object_frame(const struct link_record *record, struct strbuf *out)
{
    size_t start = frame_begin(out);
    link_record_write(record, out);
    frame_end(out, start, SECTION_KIND_LINK);
}

static struct error *frame_body(const struct link_body *body, struct strbuf *out)
{
    size_t room = ZSTD_compressBound(body->size);
    _cleanup_free_ char *packed = xmalloc(room);
    size_t size = ZSTD_compress(packed, room, body->data, body->size, COMPRESSION_LEVEL);
    if (ZSTD_isError(size))
        return error_create(ERROR_OTHER, "cannot compress: %s", ZSTD_getErrorName(size));
    struct section_object object = {.length = body->size};
    memcpy(object.hash, body->hash.bytes, sizeof(object.hash));
    size_t start = frame_begin(out);
    strbuf_append_bytes(out, &object, sizeof(object));
    strbuf_append_bytes(out, packed, size);
    frame_end(out, start, SECTION_KIND_OBJECT);
    return NULL;
}

static struct error *frame_bodies(const struct link_bodies *bodies, bool all, struct strbuf *out)
{
    struct error *err = NULL;
    for (size_t i = 0; i < bodies->length && !err; i++) {
        enum link_embedding embedding = bodies->data[i].embedding;
        if (embedding == LINK_EMBED_ALWAYS || (all && embedding == LINK_EMBED_ASKED))
            err = frame_body(&bodies->data[i], out);
    }
    return err;
}

/* The object file. */

/*
 * The linker marks its output for control-flow protection only where every input is marked; ours
 * holds no code, so it claims all there is and leaves the decision to the others.
 */
struct property_note {
    Elf64_Nhdr header;
    char name[4];
    uint32_t type;
    uint32_t size;
    uint32_t features;
    uint32_t padding;
};
#define PROPERTY_X86_FEATURE_1_AND 0xc0000002u
#define PROPERTY_X86_ALL           0x3u /* IBT and SHSTK */

static const struct property_note property_note = {
    .header = {.n_namesz = 4, .n_descsz = 16, .n_type = NT_GNU_PROPERTY_TYPE_0},
    .name = "GNU",
    .type = PROPERTY_X86_FEATURE_1_AND,
    .size = 4,
    .features = PROPERTY_X86_ALL,
};

enum {
    NAME_NOTE = 1,
    NAME_STACK = 20,
    NAME_LINK = 36,
    NAME_OBJECTS = 50,
    NAME_COVERAGE = 67,
    NAME_FLAGS = 79,
    NAME_NAMES = 93,
};
static const char names[] =
    "\0.note.gnu.property\0.note.GNU-stack\0" SECTION_LINK "\0" SECTION_OBJECTS
    "\0" LAYOUT_COVERAGE_SECTION "\0" LAYOUT_FLAGS_SECTION "\0.shstrtab";
_Static_assert(sizeof(names) == NAME_NAMES + sizeof(".shstrtab"), "offsets into names");

static bool add_section(Elf *elf, const Elf64_Shdr *wanted, const void *data, size_t size)
{
    Elf_Scn *section = elf_newscn(elf);
    Elf64_Shdr *header = section ? elf64_getshdr(section) : NULL;
    Elf_Data *contents = header ? elf_newdata(section) : NULL;
    if (!contents)
        return false;
    header->sh_name = wanted->sh_name;
    header->sh_type = wanted->sh_type;
    header->sh_flags = wanted->sh_flags;
    contents->d_buf = (void *)data; /* libelf only reads it */
    contents->d_size = size;
    contents->d_align = wanted->sh_addralign;
    contents->d_type = ELF_T_BYTE;
    return true;
}

static bool add_own_section(Elf *elf, uint32_t name, const struct strbuf *frames)
{
    Elf64_Shdr header = {.sh_name = name,
                         .sh_flags = SHF_GNU_RETAIN,
                         .sh_type = SHT_PROGBITS,
                         .sh_addralign = SECTION_ALIGN};
    return frames->length == 0 || add_section(elf, &header, frames->data, frames->length);
}

/*
 * Empty, but aligned to a page, and so is the section of the output. Ours come first in the link,
 * so the flags follow the coverage, and what the user has follows the flags: no page with coverage
 * has anything else. Costs addresses and a hole in the file, no memory.
 */
static bool add_page_section(Elf *elf, uint32_t name)
{
    Elf64_Shdr header = {.sh_name = name,
                         .sh_flags = SHF_ALLOC | SHF_WRITE | SHF_GNU_RETAIN,
                         .sh_type = SHT_PROGBITS,
                         .sh_addralign = PAGE_SIZE};
    return add_section(elf, &header, "", 0);
}

/* The stack note is there so that the linker does not take ours for a file of the old kind. */
static bool add_sections(Elf *elf, const struct strbuf *link, const struct strbuf *objects,
                         bool pages)
{
    static const Elf64_Shdr note = {
        .sh_name = NAME_NOTE, .sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC, .sh_addralign = 8};
    static const Elf64_Shdr stack = {
        .sh_name = NAME_STACK, .sh_type = SHT_PROGBITS, .sh_addralign = 1};
    static const Elf64_Shdr strings = {
        .sh_name = NAME_NAMES, .sh_type = SHT_STRTAB, .sh_addralign = 1};
    Elf64_Ehdr *header = elf64_newehdr(elf);
    if (!header)
        return false;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_ident[EI_OSABI] = ELFOSABI_GNU; /* for SHF_GNU_RETAIN */
    header->e_type = ET_REL;
    header->e_machine = EM_X86_64;
    header->e_version = EV_CURRENT;
    header->e_shstrndx = 4u + (objects->length != 0) + (pages ? 2 : 0);
    return add_section(elf, &note, &property_note, sizeof(property_note)) &&
           add_section(elf, &stack, "", 0) && add_own_section(elf, NAME_LINK, link) &&
           add_own_section(elf, NAME_OBJECTS, objects) &&
           (!pages ||
            (add_page_section(elf, NAME_COVERAGE) && add_page_section(elf, NAME_FLAGS))) &&
           add_section(elf, &strings, names, sizeof(names)) && elf_update(elf, ELF_C_WRITE) >= 0;
}

struct error *link_object_write(const struct strbuf *frame, const struct link_bodies *bodies,
                                bool all, bool pages, int fd)
{
    _cleanup_strbuf_ struct strbuf objects = STRBUF_INIT;
    struct error *err = frame_bodies(bodies, all, &objects);
    if (err)
        return err;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
    if (!elf)
        return error_create(ERROR_OTHER, "cannot write an object file: %s", elf_errmsg(-1));
    if (!add_sections(elf, frame, &objects, pages))
        err = error_create(ERROR_OTHER, "cannot write an object file: %s", elf_errmsg(-1));
    elf_end(elf);
    return err;
}

/* Once the link is done. */

/* Where the bytes stand in the section of that name; 0: nowhere. */
static off_t find_frame(Elf *elf, const struct strbuf *frame)
{
    size_t shstrndx = 0;
    if (elf_getshdrstrndx(elf, &shstrndx) != 0)
        return 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, shstrndx, header.sh_name) : NULL;
        Elf_Data *data = name && strcmp(name, SECTION_LINK) == 0 &&
                                 header.sh_type == SHT_PROGBITS &&
                                 !(header.sh_flags & SHF_COMPRESSED)
                             ? elf_rawdata(section, NULL)
                             : NULL;
        const char *found = data && data->d_buf
                                ? memmem(data->d_buf, data->d_size, frame->data, frame->length)
                                : NULL;
        if (found)
            return (off_t)header.sh_offset + (found - (const char *)data->d_buf);
    }
    return 0;
}

struct error *link_object_replace(const char *path, const struct strbuf *old,
                                  const struct strbuf *frame)
{
    struct stat status;
    assert(old->length == frame->length);
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    _cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return error_errno(errno, path, "cannot open");
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    off_t offset = elf ? find_frame(elf, old) : 0;
    elf_end(elf);
    if (offset == 0)
        return NULL;
    ssize_t written = pwrite(fd, frame->data, frame->length, offset);
    if (written != (ssize_t)frame->length)
        return error_errno(written < 0 ? errno : ENOSPC, path, "cannot write");
    return NULL;
}
