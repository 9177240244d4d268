#!/usr/bin/env python3
"""Reads what sampled programs leave behind, independently of Inquest's own readers: the table of sites in an
image (.inquest.suspects), and the files that counters live in (*.live). Layout: src/layout/suspects.h.

    suspects_files.py sites IMAGE               one line a site
    suspects_files.py counts IMAGE LIVE...      the same, with the sums of the counters of the files
    suspects_files.py live LIVE...              the head of each file"""

import glob
import os
import struct
import sys

BRANCH, RETURN, PAIR, FLOAT, ENTRY, WATCH = range(1, 7)
KINDS = {BRANCH: "branch", RETURN: "return", PAIR: "pair", FLOAT: "float", ENTRY: "entry", WATCH: "watch"}
COUNTERS = {BRANCH: 2, RETURN: 3, PAIR: 3, FLOAT: 9, ENTRY: 1, WATCH: 2}
PREDICATES = {BRANCH: 2, RETURN: 6, PAIR: 6, FLOAT: 9, ENTRY: 1, WATCH: 2}
LEFT_IS_VARIABLE, RIGHT_IS_CONSTANT, RIGHT_IS_VARIABLE, UNSIGNED = 1, 2, 4, 8
NONE = 0xFFFFFFFF

SITE = struct.Struct("<14IqII")
SITE_FIELDS = ("kind function node node_false node_true line column left right file function_name first_counter "
               "first_predicate flags constant operator reserved").split()
MODULE = struct.Struct("<QIIII")
FRAME = struct.Struct("<8sIIQQ")
LIVE = struct.Struct("<8sII16s32sIIQQIIQ4Q256s")
LIVE_MODULE = struct.Struct("<QIIQ")


class Broken(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Broken(what)


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def elf_section(data, name):
    """The bytes of a section of a 64-bit ELF file, or None."""
    check(data[:6] == b"\x7fELF\x02\x01", "not a little-endian 64-bit ELF file")
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(count)]
    strings = headers[names][4]
    for head in headers:
        start = strings + head[0]
        if data[start:data.index(b"\0", start)].decode() == name:
            return data[head[4]:head[4] + head[5]]
    return None


class Site:
    def __init__(self, fields, strings):
        for name, value in zip(SITE_FIELDS, fields):
            setattr(self, name, value)
        for name in ("left", "right", "file", "function_name"):
            start = getattr(self, name)
            check(start < len(strings), "a string lies outside")
            setattr(self, name, strings[start:strings.index(b"\0", start)].decode())

    def counters(self, counts):
        return counts[self.first_counter:self.first_counter + COUNTERS[self.kind]]

    def describe(self):
        return "%s %s:%d:%d %s node %d %s %s" % (KINDS[self.kind], self.file, self.line, self.column, self.function_name,
                                                 self.node, repr(self.left), repr(self.right))


def read_payload(payload):
    """(module id, sites) of one module's table."""
    module_id, site_count, counter_count, predicate_count, string_length = MODULE.unpack_from(payload)
    check(len(payload) == MODULE.size + site_count * SITE.size + string_length, "wrong length of a table")
    strings = payload[len(payload) - string_length:]
    sites = [Site(SITE.unpack_from(payload, MODULE.size + i * SITE.size), strings) for i in range(site_count)]
    counter = predicate = 0
    for site in sites:
        check(site.kind in KINDS, "unknown kind of site")
        check(site.first_counter == counter and site.first_predicate == predicate, "counters do not follow each other")
        counter += COUNTERS[site.kind]
        predicate += PREDICATES[site.kind]
    check(counter == counter_count and predicate == predicate_count, "wrong number of counters")
    return module_id, sites


def read_sites(path):
    """Sites by module id."""
    with open(path, "rb") as file:
        section = elf_section(file.read(), ".inquest.suspects")
    modules, at = {}, 0
    while section is not None and at < len(section):
        if section[at:at + 8] == bytes(8):
            at += 8
            continue
        magic, version, kind, length, digest = FRAME.unpack_from(section, at)
        check(magic == b"INQUEST\n" and version == 2 and kind == 3, "no frame of a table")
        payload = section[at + FRAME.size:at + FRAME.size + length]
        check(len(payload) == length and fnv1a(payload) == digest, "a table is broken")
        module_id, sites = read_payload(payload)
        modules[module_id] = sites
        at += (FRAME.size + length + 7) // 8 * 8
    return modules


class Live:
    """A file of counters: counts[module id] is a list."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        fields = LIVE.unpack_from(data)
        (magic, version, self.header_length, self.run_id, build_id, length, count, self.rate, self.seed, self.process, self.parent,
         self.start) = fields[:12]
        check(magic == b"INQSUSP\n" and version == 1, "%s: not a file of counters" % path)
        self.build_id = build_id[:length].hex()
        self.image = fields[16].split(b"\0")[0].decode()
        self.counts = {}
        for i in range(count):
            module_id, counters, _, offset = LIVE_MODULE.unpack_from(data, LIVE.size + i * LIVE_MODULE.size)
            check(offset % 4096 == 0 and offset >= self.header_length and offset + 4 * counters <= len(data), "counters lie outside")
            self.counts[module_id] = list(struct.unpack_from("<%dI" % counters, data, offset))


def read_directory(directory, image=None):
    """The files of a directory, of one image only where that is named."""
    files = [Live(path) for path in sorted(glob.glob(os.path.join(directory, "*.live")))]
    return [live for live in files if image is None or os.path.basename(live.image) == os.path.basename(image)]


def total(modules, files):
    """(site, counters summed over the files) for all sites."""
    out = []
    for module_id, sites in modules.items():
        sums = [0] * (sites[-1].first_counter + COUNTERS[sites[-1].kind] if sites else 0)
        for live in files:
            for i, value in enumerate(live.counts.get(module_id, ())):
                sums[i] += value
        out += [(site, site.counters(sums)) for site in sites]
    return out


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "sites":
        for sites in read_sites(arguments[1]).values():
            for site in sites:
                print(site.describe())
    elif len(arguments) >= 2 and arguments[0] == "counts":
        for site, counts in total(read_sites(arguments[1]), [Live(path) for path in arguments[2:]]):
            print(site.describe(), *counts)
    elif len(arguments) >= 2 and arguments[0] == "live":
        for path in arguments[1:]:
            live = Live(path)
            print(path, live.image, live.build_id, "1/%d" % live.rate, "seed", live.seed, "process", live.process, live.parent)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
