# SPDX-License-Identifier: Apache-2.0
"""What binutils and DWARF say of an executable or object, as far as hardening is concerned."""

import re
import subprocess

PLAIN_COPY = ".inquest.plain"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def load_problems(exe):
    """Faults that no program may have, whatever the plain one has."""
    problems = []
    for line in output("readelf", "-lW", exe).splitlines():
        found = re.match(r"\s+(LOAD|GNU_STACK)\s.*\s([R ][W ][E ])\s+0x", line)
        if found and "W" in found[2] and "E" in found[2]:
            problems.append(f"segment {found[1]} can be written and executed")
    if "TEXTREL" in output("readelf", "-dW", exe):
        problems.append("has text relocations")
    return problems


def load_properties(exe):
    """{what: value} that has to be the same in both builds."""
    header, segments = output("readelf", "-hW", exe), output("readelf", "-lW", exe)
    dynamic = output("readelf", "-dW", exe)
    stack = re.search(r"GNU_STACK\s.*\s([R ][W ][E ])\s+0x", segments)
    flags = re.findall(r"\((?:FLAGS|FLAGS_1|BIND_NOW)\)\s+(.*)", dynamic)
    return {
        "ELF type": re.search(r"Type:\s+(\w+)", header)[1],
        "interpreter": "INTERP" in segments,
        "stack": stack[1] if stack else "not said",
        "RELRO": "GNU_RELRO" in segments,
        "sections under RELRO": relro_sections(segments),
        "dynamic flags": " ".join(sorted(" ".join(flags).replace("Flags:", "").split())),
        "run path": re.findall(r"\((?:RPATH|RUNPATH)\)\s+(.*)", dynamic),
    }


def relro_sections(segments):
    """Names of the sections of the program that are read-only after relocation."""
    types = re.findall(r"^  ([A-Z][A-Z_0-9]+)\s+0x", segments, re.M)
    lists = re.findall(r"^   (\d\d) ?(.*)$", segments, re.M)
    for number, names in lists:
        if types[int(number)] == "GNU_RELRO":
            return " ".join(n for n in names.split() if not n.startswith("inquest_"))
    return ""


def cf_features(obj):
    """What the object promises of -fcf-protection."""
    return sorted(set(re.findall(r"x86 feature: (.*)", output("readelf", "-nW", obj))))


class Code:
    """One function's instructions."""

    def __init__(self, name):
        self.name, self.lines = name, []

    @property
    def begins_with_endbr(self):
        return bool(self.lines) and self.lines[0].startswith("endbr64")

    @property
    def endbrs(self):
        return sum(line.startswith("endbr64") for line in self.lines)

    def calls(self, pattern):
        """Callees whose names match, each once."""
        return {m[1] for line in self.lines if (m := re.match(r"(?:call|jmp)\s.*<(\w+)(?:@plt)?>", line))
                and re.search(pattern, m[1])}

    @property
    def probes(self):
        return sum(bool(re.match(r"(movq|orq|xorq)\s+\$0x0,\(%rsp\)", line)) for line in self.lines)

    @property
    def largest_step(self):
        """Bytes that the stack pointer goes down at once."""
        steps = [int(m[1], 16) for line in self.lines
                 if (m := re.match(r"sub\s+\$0x([0-9a-f]+),%rsp", line))]
        return max(steps, default=0)


def functions(path):
    """{name: Code}, also of plain copies."""
    found, code = {}, None
    for line in output("objdump", "-d", "--no-show-raw-insn", path).splitlines():
        if head := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            code = found.setdefault(head[1], Code(head[1]))
        elif code and (insn := re.match(r"\s+[0-9a-f]+:\s+(\S.*)", line)):
            code.lines.append(re.sub(r"^(notrack|bnd) ", "", insn[1]).strip())
    return found


class Variables:
    """Variables on the stack of one function, those of what was inlined included."""

    def __init__(self, name):
        self.name, self.words, self.arrays = name, [], []


def variables(exe):
    """[Variables] of all functions, offsets from the same register in each."""
    found, text = [], output("llvm-dwarfdump-19", "--debug-info", exe)
    for entry in re.split(r"\n(?=0x)", text):
        name = re.search(r'DW_AT_name\s+\("([^"]*)"\)', entry)
        if "DW_TAG_subprogram" in entry:
            found.append(Variables(name[1] if name else "?"))
        # What was inlined has its names and types at its origin.
        origin = re.search(r'DW_AT_abstract_origin\s+\(0x[0-9a-f]+ "([^"]*)"\)', entry)
        place = re.search(r"DW_AT_location\s+\(DW_OP_fbreg ([+-]\d+)\)", entry)
        if not place or not found or "DW_TAG_variable" not in entry:
            continue
        called = name[1] if name else origin[1] if origin else "?"
        kind = re.search(r'DW_AT_type\s+\(0x[0-9a-f]+ "([^"]*)"\)', entry)
        if called.startswith("__inquest_path"):
            found[-1].words.append((int(place[1]), called))
        elif kind and "[" in kind[1]:
            found[-1].arrays.append((int(place[1]), called, kind[1]))
    return found
