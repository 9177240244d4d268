#include "instrument/driver/link_record.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "common/error.h"
#include "common/hash.h"
#include "instrument/driver/arguments.h"
#include "layout/section.h"

static void add_line(struct link_record *record, const char *keyword, const char *value)
{
    strbuf_append(&record->text, keyword);
    strbuf_append_char(&record->text, '\t');
    strbuf_append_escaped(&record->text, value);
    strbuf_append_char(&record->text, '\n');
}

void link_record_init(struct link_record *record, const char *program,
                      const struct arguments *arguments)
{
    strbuf_init(&record->text);
    record->has_user_input = false;
    _cleanup_strbuf_ struct strbuf command = STRBUF_INIT;
    arguments_quote_shell(program, &command);
    for (size_t i = 0; i < arguments->length; i++) {
        strbuf_append_char(&command, ' ');
        arguments_quote_shell(arguments->data[i], &command);
    }
    add_line(record, "command", command.data);
}

void link_record_deinit(struct link_record *record)
{
    strbuf_deinit(&record->text);
}

void link_record_add_input(struct link_record *record, enum link_input kind, const char *path)
{
    static const char *const keywords[] = {
        [LINK_INPUT_MODELLESS] = "modelless",
        [LINK_INPUT_TOOLCHAIN] = "toolchain",
        [LINK_INPUT_OPAQUE] = "opaque",
    };
    add_line(record, keywords[kind], path);
    if (kind != LINK_INPUT_TOOLCHAIN)
        record->has_user_input = true;
}

void link_record_add_undefined(struct link_record *record, const char *symbol)
{
    add_line(record, "undefined", symbol);
}

/* The payload in its frame. */
static void frame(const struct strbuf *payload, struct strbuf *ret)
{
    struct section_header header = {
        .magic = SECTION_MAGIC,
        .version = SECTION_VERSION,
        .kind = SECTION_KIND_LINK,
        .payload_length = payload->length,
        .payload_hash = hash_bytes(HASH_SEED, payload->data, payload->length),
    };
    strbuf_append_bytes(ret, &header, sizeof(header));
    strbuf_append_bytes(ret, payload->data, payload->length);
    strbuf_append_repeated(ret, '\0', -ret->length % SECTION_ALIGN);
}

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

enum { NAME_NOTE = 1, NAME_STACK = 20, NAME_LINK = 36, NAME_NAMES = 50 };
static const char names[] = "\0.note.gnu.property\0.note.GNU-stack\0" SECTION_LINK "\0.shstrtab";
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

/* The stack note is there so that the linker does not take ours for a file of the old kind. */
static bool add_sections(Elf *elf, const struct strbuf *framed)
{
    static const Elf64_Shdr note = {
        .sh_name = NAME_NOTE, .sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC, .sh_addralign = 8};
    static const Elf64_Shdr stack = {
        .sh_name = NAME_STACK, .sh_type = SHT_PROGBITS, .sh_addralign = 1};
    static const Elf64_Shdr link = {.sh_name = NAME_LINK,
                                    .sh_flags = SHF_GNU_RETAIN,
                                    .sh_type = SHT_PROGBITS,
                                    .sh_addralign = SECTION_ALIGN};
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
    header->e_shstrndx = 4;
    return add_section(elf, &note, &property_note, sizeof(property_note)) &&
           add_section(elf, &stack, "", 0) &&
           add_section(elf, &link, framed->data, framed->length) &&
           add_section(elf, &strings, names, sizeof(names)) && elf_update(elf, ELF_C_WRITE) >= 0;
}

struct error *link_record_write(const struct link_record *record, int fd)
{
    _cleanup_strbuf_ struct strbuf framed = STRBUF_INIT;
    frame(&record->text, &framed);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
    if (!elf)
        return error_create(ERROR_OTHER, "cannot write an object file: %s", elf_errmsg(-1));
    struct error *err = NULL;
    if (!add_sections(elf, &framed))
        err = error_create(ERROR_OTHER, "cannot write an object file: %s", elf_errmsg(-1));
    elf_end(elf);
    return err;
}
