"""The programs that are measured: what they are built from, what is run, and which functions a realistic
set-up traces. Each workload takes about a second at -O2 on a machine of 2020."""

import random

from inputs import (AWK_WORK, BC_WORK, LUA_WORK, SED_WORK, SQLITE_WORK, c_source, mixture, redis_commands, scaled, scanner, text,
                    words, zlib_gzip)
from loads import Commands
from server import Server


class Program:
    """Built from a package of tests/real or, where that is None, from sources in subjects/NAME. inputs: functions of
    a share, by name. counted: the share of the workload whose instructions are counted. stacks: functions on the stacks of failures
    that were published for the program, innermost last; the realistic set-up traces the paths of these and of no
    other."""

    def __init__(self, name, package, inputs, load, stacks, counted=0.1, sources=()):
        self.name = name
        self.package = package
        self.inputs = inputs
        self.load = load
        self.stacks = stacks
        self.counted = counted
        self.sources = sources

    def traced_functions(self):
        return sorted({function for stack in self.stacks for function in stack})


REDIS_CALL = ["main", "aeMain", "aeProcessEvents", "connSocketEventHandler", "readQueryFromClient", "processInputBuffer",
              "processCommandAndResetClient", "processCommand", "call"]

PROGRAMS = [
    Program("bzip2", "bzip2", {"mixture": lambda share: mixture(12, int(6_500_000 * share))},
            Commands(["-9", "-c", "@mixture"], ["-1", "-c", "@mixture"]),
            # CVE-2019-12900 and CVE-2010-0405, both in decompression
            [["main", "uncompress", "uncompressStream", "BZ2_bzRead", "BZ2_bzDecompress", "BZ2_decompress"],
             ["main", "testf", "testStream", "BZ2_bzRead", "BZ2_bzDecompress", "unRLE_obuf_to_output_FAST"]]),
    Program("gzip", "gzip", {"mixture": lambda share: mixture(11, int(9_000_000 * share)) * 2,
                             "packed": lambda share: zlib_gzip(mixture(11, int(9_000_000 * share)) * 2)},
            Commands(["-6", "-n", "-c", "@mixture"], ["-d", "-c", "@packed"]),
            # a file name longer than the buffer (get_suffix, BugBench); CVE-2006-4334 (huft_build);
            # CVE-2006-4335 (make_table); CVE-2010-0001 (unlzw)
            [["main", "treat_file", "open_input_file", "get_suffix"],
             ["main", "treat_file", "unzip", "inflate", "inflate_block", "inflate_dynamic", "huft_build"],
             ["main", "treat_file", "unlzh", "decode", "decode_c", "read_c_len", "make_table"],
             ["main", "treat_file", "unlzw"]]),
    Program("bc", "bc", {"work": lambda share: scaled(BC_WORK, share)},
            Commands(["-q", "-l", "@work"]),
            # the heap overflow of more_arrays (BugBench), and crashes in lookup and the parser found by fuzzing
            [["main", "yyparse", "run_code", "execute", "load_array", "get_array_num", "more_arrays"],
             ["main", "yyparse", "lookup", "more_arrays"],
             ["main", "yyparse", "generate", "load_code", "addbyte"],
             ["main", "yyparse", "run_code", "execute", "process_params", "push_copy"]]),
    Program("lua", "lua5.4", {"work": lambda share: scaled(LUA_WORK, share)},
            Commands(["@work"]),
            # CVE-2020-24370 (getlocal), CVE-2022-28805 (singlevar), CVE-2020-15888 (luaD_growstack), CVE-2022-33099 (luaG_runerror)
            [["main", "luaV_execute", "luaD_precall", "db_getlocal", "lua_getlocal", "luaG_findlocal"],
             ["main", "luaD_protectedparser", "f_parser", "luaY_parser", "statement", "expr", "primaryexp", "singlevar"],
             ["main", "luaD_call", "luaD_precall", "luaD_growstack", "luaD_reallocstack"],
             ["main", "luaD_throw", "luaG_runerror", "luaG_typeerror", "varinfo"]]),
    Program("sqlite3", "sqlite3", {"work": lambda share: scaled(SQLITE_WORK, share)},
            Commands(["-batch", ":memory:", "<work"]),
            # CVE-2022-35737 (sqlite3_str_vappendf), CVE-2019-8457 (rtreenode), CVE-2020-13871 (resolveExpr), CVE-2025-6965
            [["main", "process_input", "shell_exec", "sqlite3_step", "sqlite3Step", "sqlite3VdbeExec", "printfFunc",
              "sqlite3_str_vappendf"],
             ["main", "process_input", "shell_exec", "sqlite3_step", "sqlite3Step", "sqlite3VdbeExec", "rtreenode"],
             ["main", "process_input", "shell_exec", "sqlite3_prepare_v2", "sqlite3Prepare", "sqlite3RunParser",
              "yy_reduce", "sqlite3Select", "sqlite3WindowRewrite", "selectWindowRewriteExprCb"],
             ["main", "process_input", "shell_exec", "sqlite3_prepare_v2", "sqlite3Prepare", "sqlite3RunParser",
              "sqlite3Select", "analyzeAggregate", "addAggInfoColumn"]]),
    Program("grep", "grep", {"text": lambda share: text(13, int(300000 * share)) * 2,
                             "words": lambda share: "\n".join(words(random.Random(15), 300)[100:]).encode()},
            Commands(["-c", "-E", "[a-f]+[0-9]{2,4}(ab|c[de])|(te|ni)+s[aeiou]t", "@text"],
                     ["-c", "-i", "-w", "-e", "ta", "-e", "neo", "-e", "ohset", "-e", "tinea", "@text"],
                     ["-o", "-E", "user[0-9]+@host[1-4]?[0-9]", "@text"],
                     ["-n", "-v", "-E", "[aeiou]{2}|[0-9]+[.;]", "@text"],
                     ["-c", "-F", "-f", "@words", "@text"],
                     ["-c", "-E", "(a|e|i)[^ ]*(o|u)[^ ]* .*[0-9]{3}[^ ]*;", "@text"]),
            # CVE-2015-1345 (bmexec_trans), CVE-2012-5667 (long lines), stack overflow of nested groups
            [["main", "grep_command_line_arg", "grepfile", "grepdesc", "grep", "grepbuf", "EGexecute", "kwsexec",
              "bmexec", "bmexec_trans"],
             ["main", "grep_command_line_arg", "grepfile", "grepdesc", "grep", "fillbuf"],
             ["main", "GEAcompile", "dfacomp", "dfaparse", "regexp", "branch", "closure", "atom"]]),
    Program("sed", "sed", {"text": lambda share: text(14, int(240000 * share)), "script": lambda share: SED_WORK},
            Commands(["-f", "@script", "@text"], ["-n", "-E", "/([a-z])\\1.*[0-9]/{s/[aeiou]+/(&)/3p;=}", "@text"]),
            # faults of sed 4.x as reported: s///e buffer, 'y' with escapes, missing file name, regex of the empty pattern
            [["main", "process_files", "execute_program", "do_subst", "append_replacement", "str_append_modified"],
             ["main", "compile_string", "compile_program", "convert_number"],
             ["main", "process_files", "read_pattern_space", "open_next_file"],
             ["main", "process_files", "execute_program", "match_address_p", "match_an_address_p", "match_regex"]],
            counted=0.05),
    Program("mawk", "mawk", {"work": lambda share: AWK_WORK, "text": lambda share: text(17, int(200000 * share))},
            Commands(["-f", "@work", "@text"]),
            # issues 36 (REtest reads past a machine), 46 (do_class past a pattern) of original-mawk
            [["main", "execute", "REtest"],
             ["main", "parse", "yyparse", "yylex", "collect_RE", "re_compile", "REcompile", "RE_lex", "do_class"]]),
    Program("flex", "flex", {"scanner": lambda share: scanner(18, int(1300 * share))},
            # Without the filters behind it: m4, and two processes of flex that copy.
            Commands(["-w", "--preproc=0", "-t", "@scanner"], ["-w", "--preproc=0", "-t", "-Cf", "@scanner"],
                     ["-w", "--preproc=0", "-t", "-Ce", "-i", "@scanner"]),
            # CVE-2019-6293 (mark_beginning_as_normal), CVE-2016-6354 (yy_get_next_buffer of scanners, flex's own among them)
            [["main", "flex_main", "readin", "yyparse", "mark_beginning_as_normal"],
             ["main", "flex_main", "readin", "yyparse", "yylex", "flexscan", "yy_get_next_buffer"]],
            counted=0.25),
    Program("redis-server", "redis", {},
            Server(lambda: redis_commands(19, 60000),
                   ["-q", "-c", "8", "-P", "32", "-n", "40000", "-r", "100000", "-t",
                    "ping,set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,lrange_100,mset"]),
            # CVE-2024-31228 (nested patterns), CVE-2022-35951 (XAUTOCLAIM), CVE-2018-11218 (cmsgpack)
            [REDIS_CALL + ["keysCommand", "stringmatchlen", "stringmatchlen_impl"],
             REDIS_CALL + ["xautoclaimCommand", "streamReplyWithRange"],
             REDIS_CALL + ["evalCommand", "evalGenericCommand", "luaCallFunction", "luaD_call", "luaD_precall", "mp_unpack",
                           "mp_unpack_full", "mp_decode_to_lua_type"]]),
    Program("tokeniser", None, {"source": lambda share: c_source(21, int(60000 * share))},
            Commands(["@source"] * 16),
            # no published failures: where an escape at the end of a text, and a table that grows, would fail
            [["main", "count_tokens", "lexer_next", "lex", "lex_other", "lex_quoted", "lex_unit", "lex_escape"],
             ["main", "count_tokens", "count_token", "symbols_add", "grow", "link_symbol"]],
            counted=0.05, sources=["characters.c", "lexer.c", "main.c", "reader.c", "symbols.c"]),
    Program("replacer", None, {"text": lambda share: text(22, int(60000 * share))},
            Commands(["@text", "user[0-9]*@@", "{&}", "[aeiou][^aeiou ]*t", "(&)", "%[a-z]* ", "first &", "[0-9][0-9]*?$", "number"],
                     ["@text", "[a-z]*[0-9]@@h?*[.;]", "&&", "[^a-z]*", "_"]),
            # faults of the Siemens suite's replace, by function: a range in a set, a closure, the last character
            [["main", "pattern_make", "make_unit", "make_set", "make_set_element", "add_range"],
             ["main", "replace_file", "apply_pairs", "replace_line", "match_from", "match_many", "match_unit"]],
            counted=0.03, sources=["replacer.c"]),
]
