// SPDX-License-Identifier: Apache-2.0
// Calls of the C library with arguments that make it do different things; see effects_harness.h.
#ifndef TESTS_UNIT_EFFECTS_CASES_H
#define TESTS_UNIT_EFFECTS_CASES_H

#include <fcntl.h>
#include <grp.h>
#include <locale.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <search.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <wchar.h>

#include "effects_harness.h"

static const char zeros[512];
#define ZEROS(n) DATA(zeros, n)

static int compare_bytes(const void *a, const void *b)
{
    keep_given((uintptr_t)a, (uintptr_t)b, 0, 0);
    return *(const signed char *)a - *(const signed char *)b;
}

static int compare_with(const void *a, const void *b, void *extra)
{
    keep_given((uintptr_t)a, (uintptr_t)b, (uintptr_t)extra, 0);
    return *(const signed char *)a - *(const signed char *)b;
}

static int compare_texts(const void *a, const void *b)
{
    keep_given((uintptr_t)a, (uintptr_t)b, 0, 0);
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void take_nothing(void)
{
    keep_given(0, 0, 0, 0);
}

#define STRTO                                                                                      \
    "strtol strtoll strtoul strtoull strtoimax strtoumax strtod strtof strtold __isoc99_strtol"
#define CLASSES                                                                                    \
    "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper"      \
    " isxdigit tolower toupper isascii toascii abs labs ffs"
#define WIDE_CLASSES                                                                               \
    "iswalnum iswalpha iswcntrl iswdigit iswlower iswprint iswpunct iswspace iswupper iswxdigit"   \
    " towlower towupper wctob btowc wcwidth"

static const struct library_case cases[] = {
    // ---- Strings
    {"strlen", {TEXT("")}, 0},
    {"strlen", {TEXT("some words of text that are longer than a register of the machine")}, 0},
    {"strnlen", {TEXT("abc"), NUM(2)}, 0},
    {"strnlen", {TEXT("abc"), NUM(100)}, 0},
    {"strcmp strcasecmp strcoll strverscmp strspn strcspn", {TEXT("abc"), TEXT("abd")}, 0},
    {"strcmp strcasecmp strcoll strverscmp strspn strcspn", {TEXT(""), TEXT("abd12")}, 0},
    {"strcmp strcasecmp strcoll strverscmp strspn strcspn", {TEXT("same"), TEXT("same")}, 0},
    {"strncmp strncasecmp memcmp bcmp", {TEXT("abcdef"), TEXT("abcxyz"), NUM(3)}, 0},
    {"strncmp strncasecmp memcmp bcmp", {TEXT("abcdef"), TEXT("abcxyz"), NUM(5)}, 0},
    {"strncmp strncasecmp memcmp bcmp", {TEXT("a"), TEXT("b"), NUM(0)}, 0},
    {"strcpy __strcpy_chk stpcpy __stpcpy_chk", {OUT(20), TEXT("hello"), NUM(20)}, 0},
    {"strcpy __strcpy_chk stpcpy __stpcpy_chk", {OUT(1), TEXT(""), NUM(1)}, 0},
    {"strncpy stpncpy __strncpy_chk __stpncpy_chk", {OUT(20), TEXT("hello"), NUM(9), NUM(20)}, 0},
    {"strncpy stpncpy __strncpy_chk __stpncpy_chk", {OUT(20), TEXT("hello"), NUM(3), NUM(20)}, 0},
    {"strcat __strcat_chk", {ROOM("ab", 20), TEXT("cde"), NUM(20)}, 0},
    {"strcat __strcat_chk", {ROOM("", 20), TEXT(""), NUM(20)}, 0},
    {"strncat __strncat_chk", {ROOM("ab", 20), TEXT("cdefgh"), NUM(3), NUM(20)}, 0},
    {"strncat __strncat_chk", {ROOM("ab", 20), TEXT("c"), NUM(9), NUM(20)}, 0},
    {"strlcpy strlcat", {ROOM("ab", 20), TEXT("cdefghijk"), NUM(5)}, 0},
    {"strlcpy strlcat", {ROOM("ab", 20), TEXT("c"), NUM(20)}, 0},
    {"strchr strrchr strchrnul index rindex", {TEXT("abcabc"), NUM('b')}, 0},
    {"strchr strrchr strchrnul index rindex", {TEXT("abcabc"), NUM('x')}, 0},
    {"strchr strrchr strchrnul index rindex", {TEXT("abcabc"), NUM('a')}, 0},
    {"strchr strrchr strchrnul index rindex", {TEXT("abc"), NUM(0)}, 0},
    {"strstr strcasestr strpbrk", {TEXT("one two"), TEXT("two")}, 0},
    {"strstr strcasestr strpbrk", {TEXT("one two"), TEXT("")}, 0},
    {"strstr strcasestr strpbrk", {TEXT("one two"), TEXT("x")}, 0},
    {"strdup __strdup", {TEXT("some text")}, 0},
    {"strndup __strndup", {TEXT("some text"), NUM(4)}, 0},
    {"strndup __strndup", {TEXT("some"), NUM(40)}, 0},
    {"strxfrm", {OUT(20), TEXT("some"), NUM(20)}, 0},
    {"strxfrm", {OUT(20), TEXT("some"), NUM(2)}, 0},
    {"strtok_r __strtok_r", {TEXT("a b  c"), TEXT(" "), OUT(8)}, 0},
    {"strtok_r __strtok_r", {TEXT("   "), TEXT(" "), OUT(8)}, 0},
    {"strtok_r __strtok_r", {NUL, TEXT(" "), POINTS(8), [8] = TEXT("x yz")}, 0},
    {"strsep", {POINTS(8), TEXT(":"), [8] = TEXT("ab:cd")}, 0},
    {"strsep", {POINTS(8), TEXT(":"), [8] = TEXT("abcd")}, 0},
    {"strsep", {ZEROS(8), TEXT(":")}, 0},
    {"memcpy memmove mempcpy __memcpy_chk __memmove_chk __mempcpy_chk",
     {OUT(32), DATA("0123456789abcdef", 16), NUM(16), NUM(32)},
     0},
    {"memcpy memmove mempcpy __memcpy_chk __memmove_chk __mempcpy_chk",
     {OUT(32), DATA("0123456789abcdef", 16), NUM(1), NUM(32)},
     0},
    {"memcpy memmove mempcpy", {OUT(32), LIST(8, 2), NUM(24), [8] = TEXT("a"), [9] = TEXT("b")}, 0},
    {"memcpy memmove mempcpy", {OUT(8), OUT(8), NUM(0)}, 0},
    {"bcopy", {DATA("0123456789abcdef", 16), OUT(32), NUM(16)}, 0},
    {"bcopy", {POINTS(8), OUT(32), NUM(8), [8] = TEXT("abc")}, 0},
    {"memccpy", {OUT(32), DATA("0123456789abcdef", 16), NUM('5'), NUM(16)}, 0},
    {"memccpy", {OUT(32), DATA("0123456789abcdef", 16), NUM('x'), NUM(8)}, 0},
    {"memset __memset_chk", {OUT(40), NUM(7), NUM(33), NUM(40)}, 0},
    {"memset __memset_chk", {OUT(40), NUM(7), NUM(0), NUM(40)}, 0},
    {"bzero explicit_bzero __explicit_bzero_chk", {OUT(40), NUM(40), NUM(40)}, 0},
    {"bzero explicit_bzero __explicit_bzero_chk", {OUT(40), NUM(3), NUM(40)}, 0},
    {"memchr memrchr", {DATA("abcdefgh", 8), NUM('c'), NUM(8)}, 0},
    {"memchr memrchr", {DATA("abcdefgh", 8), NUM('x'), NUM(5)}, 0},
    {"memchr memrchr", {DATA("abcdefgh", 8), NUM('a'), NUM(1)}, 0},
    {"rawmemchr __rawmemchr", {TEXT("abcdefgh"), NUM('f')}, 0},
    {"rawmemchr __rawmemchr", {TEXT("abcdefgh"), NUM(0)}, 0},
    {"memmem", {DATA("abcdefgh", 8), NUM(8), DATA("ef", 2), NUM(2)}, 0},
    {"memmem", {DATA("abcdefgh", 8), NUM(4), DATA("xy", 2), NUM(2)}, 0},
    {"swab", {DATA("abcdefgh", 8), OUT(8), NUM(8)}, 0},
    {"swab", {DATA("abcdefgh", 8), OUT(8), NUM(3)}, 0},
    {"atoi atol atoll atof", {TEXT(" -12x")}, 0},
    {"atoi atol atoll atof", {TEXT("99999999999999999999999999")}, 0},
    {STRTO, {TEXT("12x"), OUT(8), NUM(10)}, 0},
    {STRTO, {TEXT("x"), OUT(8), NUM(10)}, 0},
    {STRTO, {TEXT("99999999999999999999999999999"), OUT(8), NUM(0)}, 0},
    {STRTO, {TEXT("0x1f"), NUL, NUM(16)}, 0},
    {"strtol strtoul strtoll strtoull", {TEXT("12"), OUT(8), NUM(99)}, 0},
    {"a64l", {TEXT("zz")}, 0},
    {"l64a", {NUM(12345)}, 0},
    {CLASSES, {NUM('a')}, 0},
    {CLASSES, {NUM('7')}, 0},
    {"__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __ctype_get_mb_cur_max", {NUL}, 0},
    {"strerror strsignal strerrorname_np strerrordesc_np sigabbrev_np sigdescr_np", {NUM(2)}, 0},
    {"strerror strsignal", {NUM(9999)}, 0},
    {"strerror_r __xpg_strerror_r", {NUM(2), OUT(40), NUM(40)}, 0},
    {"strerror_r __xpg_strerror_r", {NUM(9999), OUT(40), NUM(8)}, 0},
    {"basename __xpg_basename dirname", {TEXT("/usr/lib/x")}, 0},
    {"basename __xpg_basename dirname", {TEXT("plain")}, 0},
    {"basename __xpg_basename dirname", {TEXT("a/b//")}, 0},
    {"basename __xpg_basename dirname", {TEXT("")}, 0},
    {"getsubopt",
     {POINTS(8), LIST(9, 2), OUT(8), [8] = TEXT("b=5,c"), [9] = TEXT("a"), [10] = TEXT("b")},
     0},
    {"getsubopt",
     {POINTS(8), LIST(9, 2), OUT(8), [8] = TEXT("zz"), [9] = TEXT("a"), [10] = TEXT("b")},
     0},
    {"getsubopt", {POINTS(8), LIST(9, 1), OUT(8), [8] = TEXT(""), [9] = TEXT("a")}, 0},
    {"fnmatch", {TEXT("*.c"), TEXT("x.c"), NUL}, 0},
    {"fnmatch", {TEXT("[a-c]?"), TEXT("x.c"), NUL}, 0},
    {"rpmatch", {TEXT("yes")}, 0},
    {"argz_create_sep", {TEXT("a:b:c"), NUM(':'), OUT(8), OUT(8)}, 0},
    {"argz_create", {LIST(8, 2), OUT(8), OUT(8), [8] = TEXT("a"), [9] = TEXT("bc")}, 0},
    {"argz_count argz_stringify", {DATA("ab\0cd", 6), NUM(6), NUM(',')}, 0},
    {"argz_next", {DATA("ab\0cd", 6), NUM(6), NUL}, 0},
    {"gnu_get_libc_version gnu_get_libc_release", {NUL}, 0},

    // ---- Wide strings
    {"wcslen", {WIDE(L"abc")}, 0},
    {"wcslen", {WIDE(L"")}, 0},
    {"wcsnlen", {WIDE(L"abcdef"), NUM(3)}, 0},
    {"wcscmp wcscasecmp wcscoll wcsspn wcscspn", {WIDE(L"abc"), WIDE(L"abd")}, 0},
    {"wcscmp wcscasecmp wcscoll wcsspn wcscspn", {WIDE(L""), WIDE(L"b")}, 0},
    {"wcsncmp wcsncasecmp wmemcmp", {WIDE(L"abc"), WIDE(L"abd"), NUM(2)}, 0},
    {"wcsncmp wcsncasecmp wmemcmp", {WIDE(L"abc"), WIDE(L"abd"), NUM(3)}, 0},
    {"wcscpy wcpcpy __wcscpy_chk", {OUT(40), WIDE(L"abc"), NUM(10)}, 0},
    {"wcscpy wcpcpy __wcscpy_chk", {OUT(4), WIDE(L""), NUM(1)}, 0},
    {"wcsncpy wcpncpy", {OUT(40), WIDE(L"abc"), NUM(6)}, 0},
    {"wcsncpy wcpncpy", {OUT(40), WIDE(L"abc"), NUM(2)}, 0},
    {"wcscat",
     {{.kind = A_MEMORY, .data = (const char *)L"ab", .length = 12, .size = 40}, WIDE(L"cd")},
     0},
    {"wcsncat",
     {{.kind = A_MEMORY, .data = (const char *)L"ab", .length = 12, .size = 40},
      WIDE(L"cdef"),
      NUM(2)},
     0},
    {"wcschr wcsrchr wcschrnul", {WIDE(L"abcabc"), NUM('b')}, 0},
    {"wcschr wcsrchr wcschrnul", {WIDE(L"abcabc"), NUM('x')}, 0},
    {"wcsstr wcspbrk", {WIDE(L"abcabc"), WIDE(L"ca")}, 0},
    {"wcsstr wcspbrk", {WIDE(L"abcabc"), WIDE(L"x")}, 0},
    {"wcstok", {WIDE(L"a b c"), WIDE(L" "), OUT(8)}, 0},
    {"wcsdup", {WIDE(L"abc")}, 0},
    {"wmemcpy wmemmove wmempcpy", {OUT(40), WIDE(L"abcdef"), NUM(5)}, 0},
    {"wmemcpy wmemmove wmempcpy", {OUT(40), WIDE(L"abcdef"), NUM(1)}, 0},
    {"wmemset", {OUT(40), NUM('x'), NUM(7)}, 0},
    {"wmemset", {OUT(40), NUM('x'), NUM(0)}, 0},
    {"wmemchr", {WIDE(L"abcabc"), NUM('c'), NUM(4)}, 0},
    {"wmemchr", {WIDE(L"abcabc"), NUM('c'), NUM(2)}, 0},
    {"wcstol wcstoul wcstoll wcstoull wcstod wcstold wcstof", {WIDE(L"12x"), OUT(8), NUM(10)}, 0},
    {"wcstol wcstoul wcstoll wcstoull wcstod wcstold wcstof", {WIDE(L"z"), OUT(8), NUM(10)}, 0},
    {WIDE_CLASSES, {NUM('a')}, 0},
    {WIDE_CLASSES, {NUM(' ')}, 0},
    {"wcswidth", {WIDE(L"abcd"), NUM(3)}, 0},
    {"wctype wctrans", {TEXT("alpha")}, 0},
    {"wctype wctrans", {TEXT("tolower")}, 0},
    {"mblen", {DATA("abc", 3), NUM(2)}, 0},
    {"mbtowc", {OUT(4), DATA("abc", 3), NUM(2)}, 0},
    {"mbtowc", {NUL, DATA("\xff", 1), NUM(1)}, 0},
    {"wctomb", {OUT(16), NUM('x')}, 0},
    {"wctomb", {OUT(16), NUM(0x20ac)}, 0},
    {"mbrlen", {DATA("abc", 3), NUM(3), ZEROS(8)}, 0},
    {"mbrlen", {DATA("abc", 3), NUM(3), NUL}, 0},
    {"mbrtowc mbrtoc32", {OUT(4), DATA("abc", 3), NUM(1), ZEROS(8)}, 0},
    {"mbrtowc mbrtoc32", {OUT(4), DATA("\xc3\xa9", 2), NUM(2), ZEROS(8)}, 0},
    {"mbrtowc", {OUT(4), DATA("\xe2\x82", 2), NUM(2), ZEROS(8)}, 0},
    {"wcrtomb", {OUT(16), NUM(0x20ac), ZEROS(8)}, 0},
    {"wcrtomb", {OUT(16), NUM('x'), NUL}, 0},
    {"mbsinit", {ZEROS(8)}, 0},
    {"mbstowcs", {OUT(40), TEXT("abc"), NUM(10)}, 0},
    {"mbstowcs", {OUT(40), TEXT("abc"), NUM(2)}, 0},
    {"wcstombs", {OUT(40), WIDE(L"abc"), NUM(10)}, 0},
    {"mbsrtowcs", {OUT(40), POINTS(8), NUM(10), ZEROS(8), [8] = TEXT("abc")}, 0},
    {"mbsrtowcs", {OUT(40), POINTS(8), NUM(2), ZEROS(8), [8] = TEXT("abc")}, 0},
    {"mbsnrtowcs", {OUT(40), POINTS(8), NUM(2), NUM(10), ZEROS(8), [8] = TEXT("abc")}, 0},
    {"wcsrtombs", {OUT(40), POINTS(8), NUM(10), ZEROS(8), [8] = WIDE(L"abc")}, 0},
    {"wcsrtombs", {OUT(40), POINTS(8), NUM(1), ZEROS(8), [8] = WIDE(L"abc")}, 0},

    // ---- Memory
    {"malloc valloc", {NUM(24)}, 0},
    {"malloc calloc aligned_alloc memalign", {NUM(64), NUM(128)}, 0},
    {"posix_memalign", {OUT(8), NUM(64), NUM(100)}, 0},
    {"posix_memalign", {OUT(8), NUM(3), NUM(100)}, 0},
    {"mmap mmap64", {NUL, NUM(4096), NUM(3), NUM(0x22), NUM(-1), NUL}, 0},
    {"mmap mmap64", {NUL, NUM(4096), NUM(3), NUM(0), NUM(-1), NUL}, 0},
    {"getenv secure_getenv", {TEXT("PATH")}, 0},
    {"getenv secure_getenv", {TEXT("NOT_SET_AT_ALL")}, 0},
    {"setenv", {TEXT("EFFECTS_A"), TEXT("value"), NUM(1)}, 0},
    {"setenv", {TEXT("A=B"), TEXT("value"), NUM(1)}, 0},
    {"unsetenv", {TEXT("EFFECTS_A")}, 0},
    {"unsetenv", {TEXT("")}, 0},

    // ---- Streams
    {"fopen fopen64", {TEXT("/dev/null"), TEXT("r")}, 0},
    {"fopen fopen64", {TEXT("/nonexistent/x"), TEXT("r")}, 0},
    {"fopen fopen64", {TEXT("/dev/null"), TEXT("?")}, 0},
    {"fgets fgets_unlocked", {OUT(40), NUM(40), A_FILE_STREAM}, 0},
    {"fgets fgets_unlocked", {OUT(40), NUM(4), A_FILE_STREAM}, 0},
    {"__fgets_chk __fgets_unlocked_chk", {OUT(40), NUM(40), NUM(9), A_FILE_STREAM}, 0},
    {"fread fread_unlocked", {OUT(40), NUM(5), NUM(3), A_FILE_STREAM}, 0},
    {"fread fread_unlocked", {OUT(90), NUM(1), NUM(90), A_FILE_STREAM}, 0},
    {"__fread_chk __fread_unlocked_chk", {OUT(40), NUM(40), NUM(5), NUM(3), A_FILE_STREAM}, 0},
    {"fwrite fwrite_unlocked", {DATA("0123456789", 10), NUM(2), NUM(5), A_FILE_STREAM}, 0},
    {"fwrite fwrite_unlocked", {DATA("0123456789", 10), NUM(2), NUM(0), A_FILE_STREAM}, 0},
    {"fputs fputs_unlocked", {TEXT("some text"), A_FILE_STREAM}, 0},
    {"fputs fputs_unlocked", {TEXT(""), A_FILE_STREAM}, 0},
    {"fputc putc fputc_unlocked ungetc", {NUM('x'), A_FILE_STREAM}, 0},
    {"fgetc getc getc_unlocked feof ferror fileno ftell ftello rewind clearerr fflush __fpending"
     " __freading __fwriting __fpurge flockfile funlockfile setlinebuf fwide getw",
     {A_FILE_STREAM},
     0},
    {"fseek fseeko", {A_FILE_STREAM, NUM(3), NUM(0)}, 0},
    {"fseek fseeko", {A_FILE_STREAM, NUM(3), NUM(99)}, 0},
    {"fgetpos", {A_FILE_STREAM, OUT(16)}, 0},
    {"getline", {ZEROS(8), ZEROS(8), A_FILE_STREAM}, 0},
    {"getdelim __getdelim", {ZEROS(8), ZEROS(8), NUM('i'), A_FILE_STREAM}, 0},
    {"remove", {TEXT("/nonexistent/x")}, 0},

    // ---- Formats
    {"snprintf", {OUT(20), NUM(20), TEXT("%s-%d"), TEXT("ab"), NUM(7)}, 0},
    {"snprintf", {OUT(20), NUM(4), TEXT("%s-%d"), TEXT("abcdef"), NUM(7)}, 0},
    {"snprintf", {OUT(20), NUM(20), TEXT("x%ny"), OUT(4)}, 0},
    {"snprintf", {OUT(20), NUM(20), TEXT("x%lny"), OUT(8)}, 0},
    {"snprintf", {NUL, NUM(0), TEXT("%.3s"), DATA("abc", 3)}, 0},
    {"__snprintf_chk", {OUT(20), NUM(20), NUM(0), NUM(20), TEXT("%s"), TEXT("ab")}, 0},
    {"sprintf", {OUT(20), TEXT("%s-%d"), TEXT("ab"), NUM(7)}, 0},
    {"sprintf", {OUT(20), TEXT("")}, 0},
    {"__sprintf_chk", {OUT(20), NUM(0), NUM(20), TEXT("%s"), TEXT("ab")}, 0},
    {"asprintf", {OUT(8), TEXT("%s-%d"), TEXT("ab"), NUM(7)}, 0},
    {"__asprintf_chk", {OUT(8), NUM(0), TEXT("%s-%d"), TEXT("ab"), NUM(7)}, 0},
    {"fprintf", {A_FILE_STREAM, TEXT("%s-%d"), TEXT("ab"), NUM(7)}, 0},
    {"fprintf", {A_FILE_STREAM, TEXT("a%nb"), OUT(4)}, 0},
    {"__fprintf_chk", {A_FILE_STREAM, NUM(1), TEXT("%s-%d"), TEXT("ab"), NUM(7)}, 0},
    {"dprintf", {A_FILE_NUMBER, TEXT("%s-%d"), TEXT("ab"), NUM(7)}, 0},
    {"__dprintf_chk", {A_FILE_NUMBER, NUM(1), TEXT("%s"), TEXT("ab")}, 0},
    {"swprintf", {OUT(80), NUM(20), WIDE(L"%d-%d"), NUM(5), NUM(7)}, 0},
    {"sscanf __isoc99_sscanf", {TEXT("12 word"), TEXT("%d %s"), OUT(4), OUT(20)}, 0},
    {"sscanf __isoc99_sscanf", {TEXT("x"), TEXT("%d %s"), OUT(4), OUT(20)}, 0},
    {"sscanf __isoc99_sscanf", {TEXT("word"), TEXT("%ms"), OUT(8)}, 0},
    {"fscanf __isoc99_fscanf", {A_FILE_STREAM, TEXT("%d %s"), OUT(4), OUT(20)}, 0},

    // ---- Files
    {"open open64 access chmod mkdir rmdir truncate unlink chdir opendir",
     {TEXT("/nonexistent/x"), NUM(0)},
     0},
    {"access euidaccess", {TEXT("/"), NUM(R_OK)}, 0},
    {"openat faccessat mkdirat unlinkat", {NUM(AT_FDCWD), TEXT("/nonexistent/x"), NUM(0)}, 0},
    {"link symlink rename", {TEXT("/nonexistent/x"), TEXT("/nonexistent/y")}, 0},
    {"stat lstat stat64 lstat64", {TEXT("/"), OUT(144)}, 0},
    {"stat lstat stat64 lstat64", {TEXT("/nonexistent/x"), OUT(144)}, 0},
    {"fstat fstat64", {A_FILE_NUMBER, OUT(144)}, 0},
    {"fstat fstat64", {NUM(-1), OUT(144)}, 0},
    {"fstatat fstatat64", {NUM(AT_FDCWD), TEXT("/"), OUT(144), NUM(0)}, 0},
    {"statvfs", {TEXT("/"), OUT(112)}, 0},
    {"statfs", {TEXT("/"), OUT(120)}, 0},
    {"statx", {NUM(AT_FDCWD), TEXT("/"), NUM(0), NUM(0x7ff), OUT(256)}, 0},
    {"read pread", {A_FILE_NUMBER, OUT(40), NUM(8), NUM(2), NUM(40)}, 0},
    {"read pread", {NUM(-1), OUT(40), NUM(8), NUM(2)}, 0},
    {"__read_chk", {A_FILE_NUMBER, OUT(40), NUM(8), NUM(40)}, 0},
    {"write pwrite", {A_FILE_NUMBER, DATA("abcdef", 6), NUM(6), NUM(0)}, 0},
    {"write pwrite", {NUM(-1), DATA("abcdef", 6), NUM(3), NUM(0)}, 0},
    {"lseek close dup isatty fsync ftruncate fchmod flock", {NUM(-1), NUM(0)}, 0},
    {"pipe pipe2", {OUT(8), NUM(0)}, 1},
    {"poll __poll_chk", {ZEROS(16), NUM(2), NUM(0), NUM(16)}, 0},
    {"select", {NUM(0), OUT(128), OUT(128), OUT(128), ZEROS(16)}, 0},
    {"fcntl fcntl64", {A_FILE_NUMBER, NUM(F_GETLK), ZEROS(32)}, 0},
    {"fcntl fcntl64", {A_FILE_NUMBER, NUM(F_GETFD), NUL}, 0},
    {"readlink", {TEXT("/proc/self/exe"), OUT(200), NUM(200)}, 0},
    {"readlink", {TEXT("/proc/self/exe"), OUT(200), NUM(3)}, 0},
    {"readlinkat", {NUM(AT_FDCWD), TEXT("/proc/self/exe"), OUT(200), NUM(200)}, 0},
    {"getcwd __getcwd_chk", {OUT(300), NUM(300), NUM(300)}, 0},
    {"getcwd", {OUT(300), NUM(1)}, 0},
    {"getcwd", {NUL, NUM(0)}, 0},
    {"realpath", {TEXT("/usr/.."), OUT(4096)}, 0},
    {"realpath canonicalize_file_name", {TEXT("/usr/.."), NUL}, 0},
    {"realpath canonicalize_file_name", {TEXT("/nonexistent/x"), NUL}, 0},
    {"mkstemp mkostemp mktemp", {TEXT("fileXXXXXX"), NUM(0)}, 1},
    {"mkdtemp", {TEXT("folderXXXXXX")}, 1},
    {"mkstemp mkdtemp", {TEXT("wrong"), NUM(0)}, 0},
    {"opendir", {TEXT("/")}, 0},
    {"scandir", {TEXT("/"), OUT(8), NUL, NUL}, 0},
    {"scandir", {TEXT("/nonexistent"), OUT(8), NUL, NUL}, 0},
    {"glob", {TEXT("/us*"), NUM(0), NUL, OUT(72)}, 0},
    {"wordexp", {TEXT("a b c"), OUT(24), NUM(0)}, 0},
    {"tcgetattr", {A_FILE_NUMBER, OUT(60)}, 0},
    {"cfgetispeed cfgetospeed cfmakeraw", {ZEROS(60)}, 0},
    {"cfsetispeed cfsetospeed", {ZEROS(60), NUM(B9600)}, 0},
    {"ttyname_r", {A_FILE_NUMBER, OUT(40), NUM(40)}, 0},
    {"umask", {NUM(022)}, 0},

    // ---- Processes and signals
    {"getpid getppid getuid geteuid getgid getegid getpgrp getpagesize getdtablesize sched_yield",
     {NUL},
     0},
    {"getrlimit getrlimit64", {NUM(RLIMIT_NOFILE), OUT(16)}, 0},
    {"getrlimit", {NUM(9999), OUT(16)}, 0},
    {"getrusage", {NUM(RUSAGE_SELF), OUT(144)}, 1},
    {"times", {OUT(32)}, 1},
    {"getgroups", {NUM(60), OUT(240)}, 0},
    {"getresuid", {OUT(4), OUT(4), OUT(4)}, 0},
    {"sched_getaffinity", {NUM(0), NUM(128), OUT(128)}, 0},
    {"waitpid", {NUM(-1), OUT(4), NUM(0)}, 0},
    {"wait", {OUT(4)}, 0},
    {"wait4", {NUM(-1), OUT(4), NUM(0), OUT(144)}, 0},
    {"sigemptyset sigfillset", {OUT(128)}, 0},
    {"sigaddset sigdelset", {ZEROS(128), NUM(5)}, 0},
    {"sigaddset sigdelset sigismember", {ZEROS(128), NUM(500)}, 0},
    {"sigprocmask pthread_sigmask", {NUM(SIG_BLOCK), NUL, OUT(128)}, 0},
    {"sigprocmask", {NUM(SIG_BLOCK), ZEROS(128), OUT(128)}, 0},
    {"sigpending", {OUT(128)}, 0},
    {"sigaction", {NUM(SIGUSR1), NUL, OUT(152)}, 0},
    {"sigaction", {NUM(SIGUSR1), ZEROS(152), OUT(152)}, 0},
    {"sigaction", {NUM(9999), NUL, OUT(152)}, 0},
    {"sigaltstack", {NUL, OUT(24)}, 0},
    {"gethostname", {OUT(70), NUM(70)}, 0},
    {"gethostname", {OUT(70), NUM(1)}, 0},
    {"uname", {OUT(390)}, 0},
    {"sysinfo", {OUT(112)}, 1},
    {"sysconf", {NUM(_SC_PAGESIZE)}, 0},
    {"sysconf", {NUM(9999)}, 0},
    {"confstr", {NUM(_CS_PATH), OUT(40), NUM(40)}, 0},
    {"getloadavg", {OUT(24), NUM(3)}, 1},
    {"posix_spawn_file_actions_init", {OUT(80)}, 0},
    {"posix_spawnattr_init", {OUT(336)}, 0},

    // ---- Threads
    {"pthread_mutex_init", {OUT(40), NUL}, 0},
    {"pthread_mutex_lock pthread_mutex_trylock pthread_mutex_destroy", {ZEROS(40)}, 0},
    {"pthread_cond_init", {OUT(48), NUL}, 0},
    {"pthread_cond_signal pthread_cond_broadcast pthread_cond_destroy", {ZEROS(48)}, 0},
    {"pthread_rwlock_init", {OUT(56), NUL}, 0},
    {"pthread_rwlock_rdlock pthread_rwlock_wrlock", {ZEROS(56)}, 0},
    {"pthread_spin_init", {OUT(4), NUM(0)}, 0},
    {"pthread_attr_init", {OUT(56)}, 0},
    {"pthread_attr_getstacksize", {ZEROS(56), OUT(8)}, 0},
    {"pthread_attr_setstacksize pthread_attr_setdetachstate", {ZEROS(56), NUM(1)}, 0},
    {"pthread_mutexattr_init", {OUT(4)}, 0},
    {"pthread_mutexattr_settype", {ZEROS(4), NUM(1)}, 0},
    {"pthread_once", {ZEROS(4), BACK(take_nothing)}, 0},
    {"pthread_key_create", {OUT(4), NUL}, 1},
    {"pthread_getname_np", {NUM(0), OUT(40), NUM(4)}, 0},
    {"sem_init", {OUT(32), NUM(0), NUM(1)}, 0},
    {"sem_init", {OUT(32), NUM(0), NUM(-1)}, 0},
    {"sem_post sem_trywait", {ZEROS(32)}, 0},
    {"sem_getvalue", {ZEROS(32), OUT(4)}, 0},

    // ---- Time
    {"time", {OUT(8)}, 1},
    {"time", {NUL}, 1},
    {"gettimeofday", {OUT(16), NUL}, 1},
    {"clock_gettime clock_getres", {NUM(CLOCK_MONOTONIC), OUT(16)}, 1},
    {"clock_gettime", {NUM(9999), OUT(16)}, 1},
    {"nanosleep", {ZEROS(16), OUT(16)}, 0},
    {"localtime gmtime", {ZEROS(8)}, 0},
    {"localtime_r gmtime_r", {ZEROS(8), OUT(56)}, 0},
    {"localtime_r gmtime_r", {DATA("\xff\xff\xff\xff\xff\xff\xff\x7f", 8), OUT(56)}, 0},
    {"mktime timegm", {ZEROS(56)}, 0},
    {"asctime", {ZEROS(56)}, 0},
    {"asctime_r", {ZEROS(56), OUT(40)}, 0},
    {"ctime", {ZEROS(8)}, 0},
    {"ctime_r", {ZEROS(8), OUT(40)}, 0},
    {"strftime", {OUT(40), NUM(40), TEXT("%Y-%m %A"), ZEROS(56)}, 0},
    {"strftime", {OUT(40), NUM(4), TEXT("%Y-%m %A"), ZEROS(56)}, 0},
    {"strptime", {TEXT("2020-01-02 x"), TEXT("%Y-%m-%d"), ZEROS(56)}, 0},
    {"strptime", {TEXT("abc"), TEXT("%Y"), ZEROS(56)}, 0},
    {"rand_r", {ZEROS(4)}, 0},
    {"erand48 nrand48 jrand48", {ZEROS(6)}, 0},
    {"rand random lrand48", {NUL}, 1},
    {"getrandom getentropy arc4random_buf", {OUT(64), NUM(64), NUM(0)}, 1},
    {"getitimer", {NUM(0), OUT(32)}, 0},

    // ---- Locale
    {"setlocale", {NUM(LC_ALL), TEXT("C")}, 0},
    {"setlocale", {NUM(LC_ALL), TEXT("no_SUCH")}, 0},
    {"setlocale", {NUM(LC_ALL), NUL}, 0},
    {"localeconv", {NUL}, 0},
    {"nl_langinfo", {NUM(14)}, 0},
    {"newlocale", {NUM(LC_ALL_MASK), TEXT("C"), NUL}, 0},
    {"gettext", {TEXT("some message")}, 0},
    {"dgettext dcgettext", {TEXT("domain"), TEXT("some message"), NUM(LC_MESSAGES)}, 0},
    {"ngettext", {TEXT("one"), TEXT("more"), NUM(1)}, 0},
    {"ngettext", {TEXT("one"), TEXT("more"), NUM(3)}, 0},
    {"textdomain", {TEXT("domain")}, 0},
    {"bindtextdomain", {TEXT("domain"), TEXT("/nonexistent")}, 0},
    {"iconv_open", {TEXT("UTF-8"), TEXT("ISO-8859-1")}, 0},
    {"iconv_open", {TEXT("no-such"), TEXT("UTF-8")}, 0},

    // ---- Sorting and searching
    {"qsort", {DATA("edcba", 5), NUM(5), NUM(1), BACK(compare_bytes)}, 0},
    {"qsort", {DATA("b2a1d4c3", 8), NUM(4), NUM(2), BACK(compare_bytes)}, 0},
    {"qsort",
     {LIST(8, 3), NUM(3), NUM(8),
      BACK(compare_texts), [8] = TEXT("c"), [9] = TEXT("b"), [10] = TEXT("a")},
     0},
    {"qsort_r", {DATA("edcba", 5), NUM(5), NUM(1), BACK(compare_with), OUT(1)}, 0},
    {"bsearch", {DATA("c", 1), DATA("abcde", 5), NUM(5), NUM(1), BACK(compare_bytes)}, 0},
    {"bsearch", {DATA("x", 1), DATA("abcde", 5), NUM(5), NUM(1), BACK(compare_bytes)}, 0},
    {"lfind lsearch",
     {DATA("c", 1), DATA("abcdex", 6), DATA("\5\0\0\0\0\0\0\0", 8), NUM(1), BACK(compare_bytes)},
     0},
    {"lfind lsearch",
     {DATA("z", 1), DATA("abcdex", 6), DATA("\5\0\0\0\0\0\0\0", 8), NUM(1), BACK(compare_bytes)},
     0},
    {"tsearch tfind", {DATA("c", 1), ZEROS(8), BACK(compare_bytes)}, 0},
    {"insque", {OUT(16), ZEROS(16)}, 0},
    {"remque", {ZEROS(16)}, 0},
    {"regcomp", {OUT(64), TEXT("a(b|c)*d"), NUM(REG_EXTENDED)}, 0},
    {"regcomp", {OUT(64), TEXT("a(b"), NUM(REG_EXTENDED)}, 0},
    {"regerror", {NUM(REG_EPAREN), NUL, OUT(60), NUM(60)}, 0},
    {"regerror", {NUM(REG_EPAREN), NUL, OUT(60), NUM(5)}, 0},

    // ---- Sockets and databases
    {"socket", {NUM(-1), NUM(0), NUM(0)}, 0},
    {"socketpair", {NUM(AF_UNIX), NUM(SOCK_STREAM), NUM(0), OUT(8)}, 1},
    {"bind connect", {NUM(-1), ZEROS(16), NUM(16)}, 0},
    {"recv", {NUM(-1), OUT(16), NUM(16), NUM(0)}, 0},
    {"getsockname accept", {NUM(-1), OUT(16), ZEROS(4)}, 0},
    {"inet_pton", {NUM(AF_INET), TEXT("127.0.0.1"), OUT(16)}, 0},
    {"inet_pton", {NUM(AF_INET6), TEXT("::1"), OUT(16)}, 0},
    {"inet_pton", {NUM(77), TEXT("x"), OUT(16)}, 0},
    {"inet_ntop", {NUM(AF_INET6), ZEROS(16), OUT(46), NUM(46)}, 0},
    {"inet_ntop", {NUM(AF_INET), ZEROS(4), OUT(46), NUM(2)}, 0},
    {"inet_addr inet_network", {TEXT("10.1.2.3")}, 0},
    {"inet_aton", {TEXT("10.1.2.3"), OUT(4)}, 0},
    {"inet_ntoa htonl ntohs", {NUM(0x01020304)}, 0},
    {"getpwnam getgrnam", {TEXT("root")}, 0},
    {"getpwnam getgrnam", {TEXT("nobody-of-this-name")}, 0},
    {"getpwuid getgrgid", {NUM(0)}, 0},
    {"getpwnam_r", {TEXT("root"), OUT(48), OUT(1024), NUM(1024), OUT(8)}, 0},
    {"getgrnam_r", {TEXT("root"), OUT(32), OUT(1024), NUM(1024), OUT(8)}, 0},
    {"getpwuid_r", {NUM(0), OUT(48), OUT(1024), NUM(1024), OUT(8)}, 0},
    {"getpwuid_r", {NUM(0), OUT(48), OUT(4), NUM(4), OUT(8)}, 0},
    {"gethostbyname_r", {TEXT("127.0.0.1"), OUT(32), OUT(1024), NUM(1024), OUT(8), OUT(4)}, 0},
    {"getaddrinfo", {TEXT("127.0.0.1"), TEXT("80"), NUL, OUT(8)}, 0},
    {"gai_strerror", {NUM(-2)}, 0},
    {"gai_strerror", {NUM(-9999)}, 0},
    {"__errno_location __h_errno_location dlerror", {NUL}, 0},

    // ---- Mathematics, by way of functions below
    {"frexp modf modff frexpf", {NUM(3), OUT(16)}, 0},
    {"frexp modf modff frexpf", {NUM(0), OUT(16)}, 0},
    {"sincos", {NUM(1), OUT(8), OUT(8)}, 0},
    {"remquo", {NUM(7), NUM(2), OUT(8)}, 0},
    {"nan", {TEXT("0x7")}, 0},
    {"pow", {NUM(-1), NUM(0)}, 0},
    {"log", {NUM(0)}, 0},
    {"sqrt", {NUM(-1)}, 0},
    {"floor", {NUM(5)}, 0},
};

// ---- Functions of numbers: the table counts those too

static uint64_t call_frexp(uint64_t x, uint64_t p)
{
    return (uint64_t)frexp((double)(int64_t)x, (int *)(uintptr_t)p);
}

static uint64_t call_frexpf(uint64_t x, uint64_t p)
{
    return (uint64_t)frexpf((float)(int64_t)x, (int *)(uintptr_t)p);
}

static uint64_t call_modf(uint64_t x, uint64_t p)
{
    return (uint64_t)modf((double)(int64_t)x, (double *)(uintptr_t)p);
}

static uint64_t call_modff(uint64_t x, uint64_t p)
{
    return (uint64_t)modff((float)(int64_t)x, (float *)(uintptr_t)p);
}

static uint64_t call_sincos(uint64_t x, uint64_t s, uint64_t c)
{
    sincos((double)(int64_t)x, (double *)(uintptr_t)s, (double *)(uintptr_t)c);
    return 0;
}

static uint64_t call_remquo(uint64_t x, uint64_t y, uint64_t p)
{
    return (uint64_t)remquo((double)(int64_t)x, (double)(int64_t)y, (int *)(uintptr_t)p);
}

static uint64_t call_pow(uint64_t x, uint64_t y)
{
    return isnan(pow((double)(int64_t)x, (double)(int64_t)y));
}

static uint64_t call_log(uint64_t x)
{
    return isnan(log((double)(int64_t)x));
}

static uint64_t call_sqrt(uint64_t x)
{
    return isnan(sqrt((double)(int64_t)x));
}

static uint64_t call_floor(uint64_t x)
{
    return (uint64_t)floor((double)(int64_t)x);
}

static uint64_t call_nan(uint64_t text)
{
    return isnan(nan((const char *)(uintptr_t)text));
}

static uint64_t call_pthread_getname_np(uint64_t thread, uint64_t name, uint64_t size)
{
    (void)thread;
    return (uint64_t)pthread_getname_np(pthread_self(), (char *)(uintptr_t)name, size);
}

static library_function *function_named(const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } own[] = {
        {"frexp", (void *)call_frexp},   {"frexpf", (void *)call_frexpf},
        {"modf", (void *)call_modf},     {"modff", (void *)call_modff},
        {"sincos", (void *)call_sincos}, {"remquo", (void *)call_remquo},
        {"pow", (void *)call_pow},       {"log", (void *)call_log},
        {"sqrt", (void *)call_sqrt},     {"floor", (void *)call_floor},
        {"nan", (void *)call_nan},       {"pthread_getname_np", (void *)call_pthread_getname_np},
    };

    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        if (strcmp(own[i].name, name) == 0)
            return (library_function *)own[i].function;
    return (library_function *)dlsym(RTLD_DEFAULT, name);
}

#endif
