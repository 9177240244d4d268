// SPDX-License-Identifier: Apache-2.0
#include "program/library.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

// Lists of names between spaces; each is searched word by word after a first filter by length.
static const char pure_names[] =
    " abs labs llabs imaxabs div ldiv lldiv memchr memcmp memcpy memmem memmove mempcpy memrchr"
    " memset rawmemchr bcmp bcopy bzero explicit_bzero strcat strchr strchrnul strcmp strcpy"
    " strcspn strlen strncat strncmp strncpy strnlen strpbrk strrchr strsep strspn strstr strtok"
    " strtok_r stpcpy stpncpy strcasecmp strncasecmp strcasestr strlcpy strlcat index rindex ffs"
    " ffsl ffsll swab memccpy isalnum isalpha isascii isblank iscntrl isdigit isgraph islower"
    " isprint ispunct isspace isupper isxdigit toascii tolower toupper __ctype_b_loc"
    " __ctype_tolower_loc __ctype_toupper_loc __ctype_get_mb_cur_max __errno_location atoi atol"
    " atoll atof strtol strtoll strtoul strtoull strtoimax strtoumax strtod strtof strtold"
    " wcslen wcscpy wcscmp wcschr wcsncmp wcsncpy wcsrchr wmemcpy wmemset wmemcmp wmemchr wcscat"
    " wcwidth wcswidth iswalnum iswalpha iswcntrl iswdigit iswlower iswprint iswpunct iswspace"
    " iswupper iswxdigit towlower towupper iswctype wctype wctob btowc mblen mbrlen mbrtowc"
    " mbtowc mbsinit mbsrtowcs mbstowcs mbsnrtowcs wcrtomb wctomb wcsrtombs wcstombs mbrtoc32"
    " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1"
    " fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10"
    " log1p log2 logb lrint lround modf nan nearbyint nextafter pow remainder remquo rint round"
    " scalbln scalbn sin sincos sinh sqrt tan tanh tgamma trunc ceilf floorf sqrtf powf sinf cosf"
    " tanf expf logf fabsf fmodf roundf truncf ceill floorl sqrtl powl fabsl fmodl logl expl"
    " log10l frexpl ldexpl modfl finite isinf isnan __isnan __isinf __finite __fpclassify"
    " __signbit time clock gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep"
    " usleep sleep difftime getpid getppid getuid geteuid getgid getegid gettid getpgrp getpgid"
    " getsid setpgid setsid setuid setgid seteuid setegid setreuid setregid setresuid getgroups"
    " umask chmod fchmod chown fchown lchown fchownat fchmodat access faccessat euidaccess close"
    " creat dup dup2 dup3 fcntl fcntl64 fdatasync fsync ftruncate ftruncate64 truncate ioctl"
    " link linkat lseek lseek64 mkdir mkdirat mkfifo mknod open open64 openat openat64 pipe pipe2"
    " poll ppoll pread pread64 pwrite pwrite64 read readlink readlinkat readv rename renameat"
    " renameat2 rmdir select pselect stat stat64 fstat fstat64 lstat lstat64 fstatat fstatat64"
    " statx statfs fstatfs statvfs fstatvfs symlink symlinkat sync unlink unlinkat utime utimes"
    " futimens utimensat futimes write writev mmap mmap64 munmap mprotect msync madvise mremap"
    " mlock munlock brk sbrk chdir fchdir chroot isatty ttyname tcgetattr tcsetattr tcgetpgrp"
    " tcsetpgrp tcflush cfgetospeed cfsetospeed kill killpg raise pause alarm ualarm setitimer"
    " getitimer sigemptyset sigfillset sigaddset sigdelset sigismember sigprocmask sigpending"
    " sigsuspend sigaltstack siginterrupt sigwait pthread_sigmask sigblock sigsetmask"
    " setjmp _setjmp sigsetjmp __sigsetjmp vfork wait wait3 wait4 waitpid waitid getrlimit"
    " getrlimit64 setrlimit setrlimit64 getrusage times uname sysinfo gethostname sysconf"
    " pathconf fpathconf confstr getpagesize nice getpriority setpriority sched_yield"
    " sched_getaffinity sched_setaffinity sched_getcpu prctl arch_prctl ptrace socket socketpair"
    " bind listen accept accept4 connect shutdown send sendto sendmsg recv recvfrom recvmsg"
    " getsockname getpeername getsockopt setsockopt htons htonl ntohs ntohl inet_pton inet_ntop"
    " inet_addr inet_aton epoll_create epoll_create1 epoll_ctl epoll_wait eventfd timerfd_create"
    " timerfd_settime inotify_init inotify_add_watch inotify_rm_watch sendfile splice flock lockf"
    " posix_fadvise posix_fadvise64 posix_fallocate fallocate getrandom getentropy rand srand"
    " rand_r random srandom drand48 srand48 lrand48 mrand48 erand48 initstate setstate"
    " pthread_self pthread_equal pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock"
    " pthread_mutex_trylock pthread_mutex_unlock pthread_mutexattr_init"
    " pthread_mutexattr_destroy pthread_mutexattr_settype pthread_cond_init"
    " pthread_cond_destroy pthread_cond_signal pthread_cond_broadcast pthread_rwlock_init"
    " pthread_rwlock_destroy pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_unlock"
    " pthread_attr_init pthread_attr_destroy pthread_attr_setstacksize"
    " pthread_attr_getstacksize pthread_attr_setdetachstate pthread_getspecific"
    " pthread_spin_init pthread_spin_lock pthread_spin_unlock pthread_kill sem_init sem_destroy"
    " sem_post sem_getvalue ferror feof clearerr fileno ferror_unlocked feof_unlocked"
    " clearerr_unlocked fileno_unlocked getenv secure_getenv basename __xpg_basename dirname"
    " strerror_r nl_langinfo localeconv _exit _Exit __assert_fail abort __stack_chk_fail"
    " __builtin_unreachable makedev major minor gnu_dev_major gnu_dev_minor gnu_dev_makedev"
    " pthread_yield __fdelt_chk __overflow_arg __cxa_guard_abort insque remque fnmatch versionsort"
    " strverscmp timegm gnu_get_libc_version __libc_current_sigrtmin __libc_current_sigrtmax"
    " getdtablesize strsignal sigabbrev_np sigdescr_np endpwent endgrent ";

static const char closed_names[] =
    " malloc calloc realloc reallocarray free aligned_alloc memalign posix_memalign valloc"
    " pvalloc malloc_usable_size malloc_trim mallopt mallinfo strdup strndup wcsdup"
    " printf fprintf dprintf sprintf snprintf vprintf vfprintf vdprintf vsprintf vsnprintf"
    " asprintf vasprintf wprintf fwprintf swprintf vswprintf scanf fscanf sscanf vscanf vfscanf"
    " vsscanf puts putchar putc fputc fputs fwrite putchar_unlocked putc_unlocked fputc_unlocked"
    " fputs_unlocked fwrite_unlocked fputwc putwc putwchar getchar getc fgetc fgets fread ungetc"
    " getchar_unlocked getc_unlocked fgetc_unlocked fgets_unlocked fread_unlocked fgetwc getwc"
    " ungetwc getline getdelim __getdelim gets _IO_getc _IO_putc __uflow __overflow fopen fopen64"
    " fdopen freopen freopen64 fclose fflush fflush_unlocked fseek fseeko fseeko64 ftell ftello"
    " ftello64 rewind fgetpos fsetpos setvbuf setbuf setlinebuf setbuffer tmpfile tmpfile64"
    " fmemopen open_memstream popen pclose system perror psignal remove fpurge __fpurge"
    " __fpending __freading __fwriting __freadable __fsetlocking fcloseall flockfile"
    " funlockfile ftrylockfile getw putw fwide opendir fdopendir closedir readdir readdir64"
    " readdir_r rewinddir seekdir telldir dirfd mkstemp mkstemp64 mkostemp mkostemp64 mkstemps"
    " mkdtemp mktemp tmpnam tempnam getcwd get_current_dir_name getwd realpath"
    " canonicalize_file_name setenv putenv unsetenv clearenv getopt getopt_long"
    " getopt_long_only getsubopt setlocale newlocale uselocale freelocale duplocale gettext"
    " dgettext dcgettext ngettext dngettext dcngettext textdomain bindtextdomain"
    " bind_textdomain_codeset catopen catgets catclose iconv_open iconv iconv_close strerror"
    " strcoll strxfrm wcscoll wcsxfrm regcomp regexec regfree regerror re_compile_pattern"
    " re_search re_search_2 re_match re_match_2 re_set_syntax re_set_registers"
    " re_compile_fastmap wordexp wordfree localtime localtime_r gmtime gmtime_r mktime asctime"
    " asctime_r ctime ctime_r strftime wcsftime strptime tzset timelocal fork execl execlp execle"
    " execv execve execvp execvpe fexecve posix_spawn posix_spawnp posix_spawn_file_actions_init"
    " posix_spawn_file_actions_destroy posix_spawn_file_actions_adddup2"
    " posix_spawn_file_actions_addclose posix_spawnattr_init posix_spawnattr_destroy"
    " posix_spawnattr_setflags getpwnam getpwuid getpwnam_r getpwuid_r getpwent setpwent"
    " getgrnam getgrgid getgrnam_r getgrgid_r getgrent setgrent getlogin getlogin_r getaddrinfo"
    " freeaddrinfo getnameinfo gai_strerror gethostbyname gethostbyaddr getservbyname"
    " getservbyport getprotobyname inet_ntoa res_init openlog syslog vsyslog closelog setlogmask"
    " pthread_join pthread_detach pthread_cond_wait pthread_cond_timedwait pthread_setspecific"
    " pthread_setname_np pthread_getname_np pthread_getattr_np pthread_setcancelstate"
    " pthread_setcanceltype sem_open sem_close sem_wait sem_trywait sem_timedwait sem_unlink"
    " shm_open shm_unlink shmget shmat shmdt shmctl semget semop semctl msgget msgsnd msgrcv"
    " backtrace backtrace_symbols backtrace_symbols_fd warn warnx vwarn vwarnx"
    " getpass crypt ecvt fcvt gcvt qecvt a64l l64a hcreate hdestroy hsearch getmntent setmntent"
    " endmntent ttyname_r ptsname posix_openpt grantpt unlockpt openpty forkpty login_tty"
    " getloadavg get_nprocs get_nprocs_conf confstr argz_add argz_create envz_add rpmatch"
    " sigqueue timer_settime timer_delete cuserid sethostname strfmon if_nametoindex"
    " dlerror dladdr dladdr1 dlinfo __libc_start_main __tls_get_addr __cxa_finalize __gmon_start__ "
    "__cxa_get_globals ";

static const struct library_function special[] = {
    {"__cxa_atexit", LIBRARY_CLOSED, 1u << 0, LIBRARY_AT_EXIT},
    {"__longjmp_chk", LIBRARY_PURE, 0, LIBRARY_LONGJMP},
    {"__register_atfork", LIBRARY_CLOSED, 0, LIBRARY_HOOKS},
    {"_longjmp", LIBRARY_PURE, 0, LIBRARY_LONGJMP},
    {"at_quick_exit", LIBRARY_CLOSED, 1u << 0, LIBRARY_AT_EXIT},
    {"atexit", LIBRARY_CLOSED, 1u << 0, LIBRARY_AT_EXIT},
    {"bsd_signal", LIBRARY_CLOSED, 1u << 1, LIBRARY_SIGNAL},
    {"bsearch", LIBRARY_CALLBACK, 1u << 4, 0},
    {"call_once", LIBRARY_CALLBACK, 1u << 1, 0},
    {"dl_iterate_phdr", LIBRARY_CALLBACK, 1u << 0, 0},
    {"dlclose", LIBRARY_OPEN, 0, LIBRARY_LOADS},
    {"dlmopen", LIBRARY_OPEN, 0, LIBRARY_LOADS | LIBRARY_HANDS_OUT},
    {"dlopen", LIBRARY_OPEN, 0, LIBRARY_LOADS | LIBRARY_HANDS_OUT},
    {"dlsym", LIBRARY_CLOSED, 0, LIBRARY_HANDS_OUT},
    {"dlvsym", LIBRARY_CLOSED, 0, LIBRARY_HANDS_OUT},
    {"err", LIBRARY_OPEN, 0, LIBRARY_EXITS},
    {"errx", LIBRARY_OPEN, 0, LIBRARY_EXITS},
    {"exit", LIBRARY_OPEN, 0, LIBRARY_EXITS},
    {"fopencookie", LIBRARY_CLOSED, 0, LIBRARY_HOOKS},
    {"ftw", LIBRARY_CALLBACK, 1u << 1, 0},
    {"ftw64", LIBRARY_CALLBACK, 1u << 1, 0},
    {"lfind", LIBRARY_CALLBACK, 1u << 4, 0},
    {"longjmp", LIBRARY_PURE, 0, LIBRARY_LONGJMP},
    {"lsearch", LIBRARY_CALLBACK, 1u << 4, 0},
    {"nftw", LIBRARY_CALLBACK, 1u << 1, 0},
    {"nftw64", LIBRARY_CALLBACK, 1u << 1, 0},
    {"on_exit", LIBRARY_CLOSED, 1u << 0, LIBRARY_AT_EXIT},
    {"pthread_atfork", LIBRARY_CLOSED, 0, LIBRARY_HOOKS},
    {"pthread_create", LIBRARY_CLOSED, 1u << 2, LIBRARY_THREAD},
    {"pthread_exit", LIBRARY_OPEN, 0, LIBRARY_EXITS},
    {"pthread_key_create", LIBRARY_CLOSED, 1u << 1, LIBRARY_AT_EXIT},
    {"pthread_once", LIBRARY_CALLBACK, 1u << 1, 0},
    {"qsort", LIBRARY_CALLBACK, 1u << 3, 0},
    {"qsort_r", LIBRARY_CALLBACK, 1u << 3, 0},
    {"quick_exit", LIBRARY_OPEN, 0, LIBRARY_EXITS},
    {"register_printf_function", LIBRARY_CLOSED, 0, LIBRARY_HOOKS},
    {"register_printf_specifier", LIBRARY_CLOSED, 0, LIBRARY_HOOKS},
    {"register_printf_type", LIBRARY_CLOSED, 0, LIBRARY_HOOKS},
    {"scandir", LIBRARY_CALLBACK, 1u << 2 | 1u << 3, 0},
    {"scandir64", LIBRARY_CALLBACK, 1u << 2 | 1u << 3, 0},
    {"setcontext", LIBRARY_OPEN, 0, LIBRARY_LONGJMP},
    {"sigaction", LIBRARY_PURE, 0, LIBRARY_SIGNAL},
    {"siglongjmp", LIBRARY_PURE, 0, LIBRARY_LONGJMP},
    {"signal", LIBRARY_PURE, 1u << 1, LIBRARY_SIGNAL},
    {"sigset", LIBRARY_PURE, 1u << 1, LIBRARY_SIGNAL},
    {"sigvec", LIBRARY_PURE, 0, LIBRARY_SIGNAL},
    {"swapcontext", LIBRARY_OPEN, 0, LIBRARY_LONGJMP},
    {"sysv_signal", LIBRARY_PURE, 1u << 1, LIBRARY_SIGNAL},
    {"__sysv_signal", LIBRARY_PURE, 1u << 1, LIBRARY_SIGNAL},
    {"tdelete", LIBRARY_CALLBACK, 1u << 2, 0},
    {"tdestroy", LIBRARY_CALLBACK, 1u << 1, 0},
    {"tfind", LIBRARY_CALLBACK, 1u << 2, 0},
    {"thrd_create", LIBRARY_CLOSED, 1u << 1, LIBRARY_THREAD},
    {"thrd_exit", LIBRARY_OPEN, 0, LIBRARY_EXITS},
    {"timer_create", LIBRARY_CLOSED, 0, LIBRARY_SIGNAL | LIBRARY_THREAD},
    {"tsearch", LIBRARY_CALLBACK, 1u << 2, 0},
    {"tss_create", LIBRARY_CLOSED, 1u << 1, LIBRARY_AT_EXIT},
    {"twalk", LIBRARY_CALLBACK, 1u << 1, 0},
    {"twalk_r", LIBRARY_CALLBACK, 1u << 1, 0},
    {"verr", LIBRARY_OPEN, 0, LIBRARY_EXITS},
    {"verrx", LIBRARY_OPEN, 0, LIBRARY_EXITS},
};

static const char replaceable_names[] =
    " malloc calloc realloc reallocarray free aligned_alloc memalign posix_memalign valloc pvalloc"
    " malloc_usable_size cfree ";

// What LLVM puts in place of loops, intrinsics and other calls.
static const char builtin_names[] =
    " memcpy memmove memset memcmp bcmp bzero strlen strnlen strcpy stpcpy strncpy strcat strchr"
    " strrchr strcmp strncmp memchr memrchr mempcpy puts putchar fputc fputs fwrite printf sprintf"
    " snprintf iprintf siprintf fiprintf small_printf abort calloc malloc free atoi strtol memccpy"
    " putchar_unlocked fputc_unlocked wcslen wmemset strdup strndup mcount _mcount ";

// The same for numbers: also with the suffixes of float, long double and _Float128.
static const char math_names[] =
    " sqrt cbrt sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh sincos sinpi "
    "cospi"
    " sincospi pow exp exp2 exp10 expm1 log log2 log10 log1p logb ilogb fmod remainder floor ceil"
    " round roundeven trunc rint nearbyint lround llround lrint llrint ldexp frexp modf scalbn"
    " scalbln fma fmax fmin fmaximum fminimum fmaximum_num fminimum_num fdim fabs copysign hypot"
    " erf erfc tgamma lgamma nan isnan isinf ";

// Beginnings of names that compilers call in code that they add or cannot express: checks,
// profiles, threads' variables, atomic accesses, exceptions.
static const char *const runtime_prefixes[] = {
    "__stack_chk_", "__tls_get_addr", "__emutls_",    "__atomic_", "__sync_",      "__sanitizer_",
    "__asan_",      "__hwasan_",      "__msan_",      "__tsan_",   "__ubsan_",     "__dfsan_",
    "__memprof_",   "__cyg_profile_", "__fentry__",   "__mcount",  "__xray_",      "__llvm_",
    "__gcov_",      "__morestack",    "__cxa_",       "_Unwind_",  "__gxx_",       "__gcc_",
    "__cfi_",       "__safestack_",   "__gnu_",       "__chkstk",  "__probestack", "__clear_cache",
    "__memcpy_chk", "__memset_chk",   "__memmove_chk"};

static int listed(const char *list, const char *name)
{
    size_t length = strlen(name);

    if (length == 0 || length > 40 || strchr(name, ' '))
        return 0;
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if (at > list && at[-1] == ' ' && at[length] == ' ')
            return 1;
    return 0;
}

static const struct library_function *find_exactly(const char *name)
{
    static const struct library_function pure = {NULL, LIBRARY_PURE, 0, 0};
    static const struct library_function closed = {NULL, LIBRARY_CLOSED, 0, 0};

    for (size_t i = 0; i < COUNT(special); i++)
        if (strcmp(special[i].name, name) == 0)
            return &special[i];
    if (listed(pure_names, name))
        return &pure;
    return listed(closed_names, name) ? &closed : NULL;
}

bool library_plain_name(const char *name, char *plain, size_t size)
{
    if (strncmp(name, "__", 2) != 0)
        return false;
    bool is_standard = strncmp(name, "__isoc99_", 9) == 0 || strncmp(name, "__isoc23_", 9) == 0;
    name += is_standard ? 9 : 2;
    size_t length = strlen(name);
    if (!is_standard && length > 4 && strcmp(name + length - 4, "_chk") == 0)
        length -= 4;
    if (length >= size)
        return false;
    memcpy(plain, name, length);
    plain[length] = '\0';
    return true;
}

const struct library_function *library_find(const char *name)
{
    const struct library_function *found = find_exactly(name);
    char plain[64];

    if (found)
        return found;
    return library_plain_name(name, plain, sizeof(plain)) ? find_exactly(plain) : NULL;
}

// The word of that number, of a list; subtracts those that it has not reached.
static const char *word_of(const char *list, uint32_t *index, size_t *length)
{
    for (const char *word = list + 1; *word; word += *length + 1) {
        *length = strcspn(word, " ");
        if ((*index)-- == 0)
            return word;
    }
    return NULL;
}

bool library_name(uint32_t index, char *name, size_t size)
{
    const char *found = NULL;
    size_t length = 0;

    if (index < COUNT(special)) {
        found = special[index].name;
        length = strlen(found);
    } else {
        index -= COUNT(special);
        found = word_of(pure_names, &index, &length);
        if (!found)
            found = word_of(closed_names, &index, &length);
    }
    if (!found || length >= size)
        return false;
    memcpy(name, found, length);
    name[length] = '\0';
    return true;
}

int library_is_replaceable(const char *name)
{
    return listed(replaceable_names, name);
}

static bool ends_with(const char *name, size_t length, const char *end)
{
    return length > strlen(end) && memcmp(name + length - strlen(end), end, strlen(end)) == 0;
}

// Arithmetic that the processor lacks: __divti3, __extenddftf2. These end with a kind of number.
static bool is_arithmetic(const char *name)
{
    static const char *const kinds[] = {"si", "di", "ti", "hf", "bf", "sf", "df",
                                        "xf", "tf", "sc", "dc", "xc", "tc"};
    size_t length = strlen(name);

    if (strncmp(name, "__", 2) != 0 ||
        strspn(name + 2, "abcdefghijklmnopqrstuvwxyz0123456789") != length - 2)
        return false;
    while (length > 2 && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (ends_with(name, length, kinds[i]))
            return true;
    return false;
}

static bool is_math(const char *name)
{
    static const char *const suffixes[] = {"", "f", "l", "f128"};
    char plain[32];
    size_t length = strlen(name);

    for (size_t i = 0; i < COUNT(suffixes); i++) {
        size_t rest = length - strlen(suffixes[i]);

        if (!ends_with(name, length, suffixes[i]) || rest >= sizeof(plain))
            continue;
        memcpy(plain, name, rest);
        plain[rest] = '\0';
        if (listed(math_names, plain))
            return true;
    }
    return false;
}

int library_is_builtin(const char *name)
{
    for (size_t i = 0; i < COUNT(runtime_prefixes); i++)
        if (strncmp(name, runtime_prefixes[i], strlen(runtime_prefixes[i])) == 0)
            return 1;
    return listed(builtin_names, name) || is_math(name) || is_arithmetic(name);
}
