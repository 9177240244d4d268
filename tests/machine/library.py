# SPDX-License-Identifier: Apache-2.0
"""Library functions that compilers know, by what may become of a call of them in machine code."""

import re

_WORDS = {
    # only read: LLVM may move them, merge them, and make such calls by itself
    "readers": """strlen strnlen strcmp strncmp strcasecmp strncasecmp strchr strrchr strstr strspn
        strcspn strpbrk memchr memrchr memcmp bcmp wcslen index rindex strcoll atoi atol atoll""",
    # may be made by the compiler, for what is no call in the source
    "made": """memcpy memmove memset __stack_chk_fail __tls_get_addr _Unwind_Resume __ctype_b_loc
        __ctype_tolower_loc __ctype_toupper_loc __errno_location""",
    # may become stores, constants, or another call
    "simplified": """strcpy stpcpy strncpy stpncpy strcat strncat strlcpy strlcat mempcpy memccpy bcopy bzero
        strdup strndup strtol strtoul strtoll strtoull malloc calloc realloc reallocarray free aligned_alloc
        abs labs llabs ffs ffsl ffsll toascii isdigit isascii tolower toupper
        printf fprintf sprintf snprintf vsprintf vsnprintf vprintf vfprintf puts putchar fputs fputc putc fwrite fread
        fputs_unlocked fwrite_unlocked putchar_unlocked fputc_unlocked puts_unlocked putc_unlocked""",
    "math": """fabs floor ceil trunc rint nearbyint round roundeven sqrt pow exp exp2 exp10 log log2 log10
        sin cos tan fmod fma fmin fmax copysign ldexp frexp cbrt atan atan2 asin acos sinh cosh tanh
        expm1 log1p hypot lround lrint llround llrint isnan isinf finite sincos scalbn scalbln logb""",
    "ends": """exit _exit _Exit abort quick_exit __stack_chk_fail __assert_fail __assert __assert_perror_fail
        longjmp siglongjmp _longjmp __longjmp_chk err errx verr verrx pthread_exit thrd_exit __fortify_fail
        __chk_fail _Unwind_Resume __cxa_throw __cxa_rethrow _ZSt9terminatev""",
}
READERS = frozenset(_WORDS["readers"].split())
MADE = frozenset(_WORDS["made"].split())
SIMPLIFIED = frozenset(_WORDS["simplified"].split())
MATH = frozenset(n + s for n in _WORDS["math"].split() for s in ("", "f", "l"))
ENDS = frozenset(_WORDS["ends"].split())
_ARITHMETIC = re.compile(r"__[a-z]+?(?:[sdtqxh]i|[sdtxh]f)(?:[sdtqxh][if])?[0-9]?$")


def plain(name):
    """strcpy of __strcpy_chk, __isoc99_sscanf as sscanf."""
    if name.startswith("__") and name.endswith("_chk"):
        return name[2:-4]
    return re.sub(r"^__isoc\d+_", "", name)


def is_simplified(name):
    """May a call of it in the source become code without a call, or calls of others?"""
    name = plain(name)
    return name in READERS or name in MADE or name in SIMPLIFIED or name in MATH


def is_free(name):
    """May machine code call it where the source calls nothing?"""
    return (name in READERS or name in MADE or name in MATH or bool(_ARITHMETIC.match(name)))
