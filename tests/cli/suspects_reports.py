#!/usr/bin/env python3
"""Reads reports and tables of sites as docs/formats has them, without any code of Inquest.

    suspects_reports.py runs DIR            a line a report: outcome signal exit rate frames counts
    suspects_reports.py true IMAGE DIR      a line a predicate that was true in some run:
                                            FILE:LINE:COLUMN KIND NUMBER LEFT RIGHT failing passing
                                            failing_observed passing_observed
"""
import collections
import os
import struct
import subprocess
import sys
import tempfile

COUNTERS = [0, 2, 3, 3, 9, 1, 2]
SIX = [{0}, {1}, {2}, {1, 2}, {0, 2}, {0, 1}]


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return value


class Report:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        assert self.data[:8] == b"INQREPT\n", path
        version, length = struct.unpack("<II", self.data[8:16])
        assert version == 1 and length == len(self.data), path
        assert struct.unpack("<Q", self.data[-8:])[0] == fnv(self.data[:-8]), path
        self.at = 16
        self.run_id = self.take(16).hex()
        assert os.path.basename(path) == self.run_id + ".report", path
        self.build_id = self.take(self.take(1)[0]).hex()
        self.outcome = self.take(1)[0]
        self.signal, self.exit_status, self.rate, self.seed, self.start = (
            self.varint() for _ in range(5))
        self.modules = {}
        ids = []
        for _ in range(self.varint()):
            module, = struct.unpack("<Q", self.take(8))
            ids.append(module)
            size, counters, next_counter = self.varint(), {}, 0
            for _ in range(self.varint()):
                counter = next_counter + self.varint()
                counters[counter] = self.varint()
                next_counter = counter + 1
            assert next_counter <= size, path
            self.modules[module] = counters
        self.frames = []
        for _ in range(self.varint()):
            number = self.varint()
            module = ids[number - 1] if number else struct.unpack("<Q", self.take(8))[0]
            self.frames.append((module, self.varint() - 1, self.varint() - 1))
        assert self.at == len(self.data) - 8, path

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def varint(self):
        value, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value


def reports(directory):
    for name in sorted(os.listdir(directory)):
        if name.endswith(".report"):
            yield Report(os.path.join(directory, name))


def section(image, name):
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["objcopy", "-O", "binary", "--only-section=" + name,
                        "--set-section-flags", name + "=alloc", image, file.name], check=True)
        return open(file.name, "rb").read()


def build_id(image):
    text = subprocess.run(["readelf", "-n", image], capture_output=True, text=True).stdout
    return text.split("Build ID:")[1].split()[0]


class Site:
    pass


def tables(image):
    """Sites by module."""
    data, at, result = section(image, ".inquest.suspects"), 0, {}
    while at < len(data):
        if not any(data[at:at + 8]):
            at += 8
            continue
        assert data[at:at + 8] == b"INQUEST\n"
        _, kind, length, value = struct.unpack("<IIQQ", data[at + 8:at + 32])
        payload = data[at + 32:at + 32 + length]
        assert kind == 3 and fnv(payload) == value
        at += 32 + (length + 7) // 8 * 8
        module, count, _, _, _ = struct.unpack("<QIIII", payload[:24])
        strings = payload[24 + 72 * count:]
        result[module] = []
        for number in range(count):
            fields = struct.unpack("<14IqII", payload[24 + 72 * number:96 + 72 * number])
            site = Site()
            site.kind, site.function, site.line, site.column = fields[0], fields[1], fields[5], fields[6]
            site.left, site.right, site.file, site.name = (
                strings[offset:].split(b"\0")[0].decode() for offset in fields[7:11])
            site.first = fields[11]
            result[module].append(site)
    return result


def print_runs(directory):
    for report in reports(directory):
        frames = ",".join("gap" if not module else f"{function}:{node}"
                          for module, function, node in report.frames)
        print(["unknown", "passed", "failed"][report.outcome], report.signal, report.exit_status,
              report.rate, frames or "-", sum(len(c) for c in report.modules.values()),
              sum(sum(c.values()) for c in report.modules.values()), sep="\t")


def print_true(image, directory):
    sites, wanted = tables(image), build_id(image)
    true, seen = (collections.defaultdict(lambda: [0, 0]) for _ in range(2))
    for report in reports(directory):
        if report.build_id != wanted or not report.outcome:
            continue
        failed = report.outcome == 2
        for module, counters in report.modules.items():
            for number, site in enumerate(sites[module]):
                count = COUNTERS[site.kind]
                hit = {i for i in range(count) if site.first + i in counters}
                if not hit:
                    continue
                seen[module, number][not failed] += 1
                for p, ways in enumerate(SIX if count == 3 else [{i} for i in range(count)]):
                    if ways & hit:
                        true[module, number, p][not failed] += 1
    for (module, number, p), (failing, passing) in true.items():
        site = sites[module][number]
        print(f"{site.file}:{site.line}:{site.column}", site.kind, p, site.left, site.right, failing,
              passing, *seen[module, number], sep="\t")


if __name__ == "__main__":
    if sys.argv[1] == "runs":
        print_runs(sys.argv[2])
    else:
        print_true(sys.argv[2], sys.argv[3])
