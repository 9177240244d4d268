// SPDX-License-Identifier: Apache-2.0
/*
 * Functions that have no safe use here, as git's banned.h. The build includes this file before
 * every C file of ours (-include), so nobody has to. The headers that declare them come first,
 * since a macro would break their declarations.
 *
 * Use instead: strbuf or snprintf for sprintf and strcpy; strbuf_append for strcat;
 * strtok_r or strcspn for strtok; localtime_r and its like; strtol and its like for atoi.
 */
#ifndef INQUEST_COMMON_BANNED_H
#define INQUEST_COMMON_BANNED_H

#ifdef NDEBUG
#error "asserts stay on in every build: do not define NDEBUG"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BANNED(function) inquest_does_not_use_##function##_see_banned_h

#undef strcpy
#define strcpy(x, y) BANNED(strcpy)
#undef stpcpy
#define stpcpy(x, y) BANNED(stpcpy)
#undef strncpy
#define strncpy(x, y, n) BANNED(strncpy)
#undef strcat
#define strcat(x, y) BANNED(strcat)
#undef strncat
#define strncat(x, y, n) BANNED(strncat)
#undef strtok
#define strtok(x, y) BANNED(strtok)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef gets
#define gets(x) BANNED(gets)
#undef tmpnam
#define tmpnam(x) BANNED(tmpnam)
#undef mktemp
#define mktemp(x) BANNED(mktemp)
#undef atoi
#define atoi(x) BANNED(atoi)
#undef atol
#define atol(x) BANNED(atol)
#undef atoll
#define atoll(x) BANNED(atoll)
#undef gmtime
#define gmtime(t) BANNED(gmtime)
#undef localtime
#define localtime(t) BANNED(localtime)
#undef ctime
#define ctime(t) BANNED(ctime)
#undef asctime
#define asctime(t) BANNED(asctime)

#endif
