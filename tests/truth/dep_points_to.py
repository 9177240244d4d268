# SPDX-License-Identifier: Apache-2.0
"""Did every load, store and library call of a run stay within what `inquest dump --points-to` says?"""

import json
import math
import subprocess

import crash

WORLD = 0  # the cell that stands for all that escapes


class PointsTo:
    """`inquest dump EXE --points-to --json` (docs/formats/points_to.md)."""

    def __init__(self, item):
        self.objects, self.sets = item["objects"], [set(s) for s in item["sets"]]
        self.accesses = {(int(a["module"], 16), a["insn"]): a for a in item["accesses"]}
        self.constants = [o for o in self.objects if o["kind"] == "constants"]
        self._by_identity, self._shared = {}, {}
        for one in self.objects:
            self._add(one)

    def _add(self, one):
        one["strides"] = {c["stride"] for c in one["cells"] if c["stride"]}
        if one["kind"] == "global":
            self._by_identity["global", int(one["module"], 16), one["variable"]] = [one]
            if one["shared"]:
                self._shared[one["variable"]] = [one]
        elif one["kind"] in ("local", "heap"):
            key = (one["kind"], int(one["module"], 16), one["insn"])
            self._by_identity.setdefault(key, []).append(one)

    def find(self, identity):
        """The objects that the memory may be. Variables of one name are one; constants have no object of
        their own; heap objects of a wrapper are told apart by the calls of the wrapper, where these are
        among the two that the trace knows."""
        found = self._by_identity.get(identity[:3])
        if identity[0] == "global":
            return found or self._shared.get(identity[2]) or self.constants
        if identity[0] == "heap":
            exact = [o for o in found or [] if "for" in o and
                     (int(o["for"]["module"], 16), o["for"]["insn"]) in identity[3]]
            return exact or found or []
        return found or []

    def allowed(self, at, writes):
        """The numbers of the cells that an instruction may touch."""
        number = self.accesses.get(at, {}).get("writes" if writes else "reads")
        return set() if number is None else self.sets[number]

    def problem(self, at, writes, identity, spans):
        """None, or what is wrong: ("object", None) or ("offset", the first)."""
        allowed = self.allowed(at, writes)
        objects = [o for o in self.find(identity) if touches(o, allowed)]
        if not objects:
            return ("object", None)
        for offset, length in spans:
            if not any(span_allowed(o, allowed, offset, length) for o in objects):
                return ("offset", offset)
        return None


def in_world(one, allowed):
    """Constants count: the world may hold pointers to them, and nobody writes them."""
    return WORLD in allowed and (one["escapes"] or one["kind"] == "constants")


def touches(one, allowed):
    first = one["first_cell"]
    return in_world(one, allowed) or any(first + k in allowed for k in range(len(one["cells"])))


def holds(one, cell, offset):
    """Is the byte in the cell? One of unknown length ends where the next begins. Arrays within arrays: a cell
    tells the innermost stride alone, so the outer ones, which are larger, count as well."""
    away, length = offset - cell["offset"], cell["length"]
    if not length:
        length = min([c["offset"] for c in one["cells"] if c["offset"] > cell["offset"]],
                     default=math.inf) - cell["offset"]
    if cell["stride"] == 0:
        return 0 <= away < length
    step = math.gcd(*[s for s in one["strides"] if s >= cell["stride"]])
    return away >= 0 and away % step < length


def is_rest(cell):
    """It stands for what the others leave, or for all."""
    return cell["offset"] == 0 and cell["stride"] == 1 and cell["length"] == 0


def byte_allowed(one, allowed, offset, is_first):
    """Of bytes that no cell is at, the first of an access alone has to be in the rest: two accesses that
    overlap share the cell where the later one begins."""
    first = one["first_cell"]
    holders = [k for k, c in enumerate(one["cells"]) if not is_rest(c) and holds(one, c, offset)]
    if not holders:
        if not is_first:
            return True
        holders = [k for k, c in enumerate(one["cells"]) if is_rest(c)]
    return any(first + k in allowed for k in holders)


def span_allowed(one, allowed, offset, length):
    if one["kind"] == "constants" or in_world(one, allowed):
        return True
    bytes_of = range(length) if length <= 512 else [*range(256), *range(length - 256, length)]
    return all(byte_allowed(one, allowed, offset + k, k == 0) for k in bytes_of)


def is_known(tools):
    """Older ones have no such option."""
    return "--points-to" in subprocess.run([tools.inquest, "dump", "--help"], capture_output=True,
                                           text=True).stdout


def read(tools, exe):
    """None where `inquest` cannot tell."""
    if not is_known(tools):
        return None
    done = subprocess.run([tools.inquest, "dump", exe, "--points-to", "--json"], capture_output=True,
                          text=True, timeout=crash.LIMIT)
    if done.returncode != 0:
        raise crash.Trouble(f"inquest dump: exit status {done.returncode}: {done.stderr[-500:]}")
    return PointsTo(json.loads(done.stdout))


def problems(found, points_to):
    """[(kind, text)]: accesses of the run that are outside."""
    out = []
    for writes in (True, False) if points_to else ():
        for (module, insn), objects in sorted(found.touched(writes).items()):
            for identity, spans in sorted(objects.items()):
                wrong = points_to.problem((module, insn), writes, identity, spans)
                if not wrong:
                    continue
                text = f"module {module:016x} insn {insn} {'wrote' if writes else 'read'} " \
                       f"{' '.join(map(str, identity))}"
                out.append((wrong[0], text if wrong[1] is None else f"{text} +{wrong[1]}"))
    return out
