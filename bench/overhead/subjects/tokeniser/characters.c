// SPDX-License-Identifier: Apache-2.0
#include "tokeniser.h"

#include <string.h>

bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

bool is_octal(int c)
{
    return c >= '0' && c <= '7';
}

static int lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

bool is_hex(int c)
{
    int small = lower(c);
    return is_digit(c) || (small >= 'a' && small <= 'f');
}

bool is_letter(int c)
{
    int small = lower(c);
    return c == '_' || (small >= 'a' && small <= 'z');
}

bool is_word(int c)
{
    return is_letter(c) || is_digit(c);
}

static bool is_one_of(int c, const char *set)
{
    return c > 0 && strchr(set, c) != NULL;
}

bool is_bracket(int c)
{
    return is_one_of(c, "()[]{}");
}

bool is_operator(int c)
{
    return is_one_of(c, "+-*/%=<>!&|^~?:;,.");
}

int digit_value(int c)
{
    return is_digit(c) ? c - '0' : lower(c) - 'a' + 10;
}

static bool is_same_word(const char *text, size_t length, const char *word)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] != word[i])
            return false;
    }
    return word[length] == '\0';
}

/* In the order of their first letters, so that most words are compared with a few only. */
bool is_keyword(const char *text, size_t length)
{
    static const char *const words[] = {
        "auto",    "break",  "case",     "char",   "const",    "continue", "default",
        "do",      "double", "else",     "enum",   "extern",   "float",    "for",
        "goto",    "if",     "inline",   "int",    "long",     "register", "restrict",
        "return",  "short",  "signed",   "sizeof", "static",   "struct",   "switch",
        "typedef", "union",  "unsigned", "void",   "volatile", "while",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i][0] > text[0])
            return false;
        if (words[i][0] == text[0] && is_same_word(text, length, words[i]))
            return true;
    }
    return false;
}

int escape_value(int c)
{
    static const char names[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
    const char *found = c > 0 ? strchr(names, c) : NULL;
    return found && *found ? values[found - names] : c;
}
