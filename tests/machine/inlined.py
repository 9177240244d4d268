# SPDX-License-Identifier: Apache-2.0
"""Which functions were inlined into which, by the debug information."""

import re
import subprocess

_LINE = re.compile(r"DW_TAG_(subprogram|inlined_subroutine)|DW_AT_low_pc\s+\(0x([0-9a-f]+)\)"
                   r"|DW_AT_abstract_origin\s+\(.*\"(.*)\"\)")
_WANTED = "DW_TAG_subprogram|DW_TAG_inlined_subroutine|DW_AT_low_pc|DW_AT_abstract_origin"


def read_inlined(path):
    """{address of a function: names of what was inlined into it}"""
    found, current, state = {}, None, None
    command = f"llvm-dwarfdump-19 --debug-info \"$1\" | grep -E '{_WANTED}'"
    with subprocess.Popen(["sh", "-c", command, "sh", path], stdout=subprocess.PIPE, text=True) as dump:
        for line in dump.stdout:
            match = _LINE.search(line)
            if not match:
                continue
            tag, low, origin = match.groups()
            if tag:
                state = tag
                current = None if tag == "subprogram" else current
            elif low and state == "subprogram":
                current, state = int(low, 16), None
                found.setdefault(current, set())
            elif origin and state == "inlined_subroutine":
                if current is not None:
                    found[current].add(origin)
                state = None
    return found
