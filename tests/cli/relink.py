#!/usr/bin/env python3
"""Links a program again from what it carries: the bitcode in .inquest.model, the files in
.inquest.objects, and the record of the link as `inquest dump --link --json` prints it.

    relink.py --inquest INQUEST EXE DIRECTORY [--moved DIR]

Everything is made in DIRECTORY, which must be empty; the linker runs there. What the record has and the
program does not is taken from where it was (--moved: where the directory of the link is now), and must
have the same hash or build-id. Exit status 1 names what is missing. Prints the path of the new program."""

import argparse
import hashlib
import json
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
from binary import Binary, decompress  # noqa: E402

CLANG = "clang-19"


class Missing(Exception):
    pass


def embedded(binary):
    """hash -> bytes, of the frames of kind 4."""
    data, at, found = binary.section(".inquest.objects"), 0, {}
    while at + 32 <= len(data):
        magic, _, kind, length, _ = struct.unpack_from("<8sIIQQ", data, at)
        if magic != b"INQUEST\n":
            at += 8
            continue
        payload = data[at + 32:at + 32 + length]
        if kind == 4:
            size, = struct.unpack_from("<Q", payload, 32)
            found[payload[:32].hex()] = decompress(payload[40:], size)
        at += (32 + length + 7) & ~7
    return found


def archive_members(path):
    """name -> bytes of each member by that name; ar(5), thin archives too."""
    with open(path, "rb") as file:
        data = file.read()
    thin, at, names, found = data[:8] == b"!<thin>\n", 8, b"", {}
    while at + 60 <= len(data):
        name, size = data[at:at + 16].rstrip(), int(data[at + 48:at + 58])
        table = name in (b"/", b"//", b"/SYM64/")
        body = data[at + 60:at + 60 + size]
        at += 60 + (0 if thin and not table else size + size % 2)
        if name == b"//":
            names = body
        if table:
            continue
        text = names[int(name[1:]):].split(b"/\n")[0] if name[:1] == b"/" else name.rstrip(b"/")
        text = text.decode()
        if thin:
            with open(os.path.join(os.path.dirname(path), text), "rb") as file:
                body = file.read()
        found.setdefault(text, []).append(body)
    return found


def build_id(path):
    out = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True).stdout
    match = re.search(r"Build ID: ([0-9a-f]+)", out)
    return match.group(1) if match else None


class Relinker:
    def __init__(self, arguments):
        self.binary = Binary(arguments.exe)
        self.directory = arguments.directory
        self.moved = arguments.moved
        out = subprocess.run([arguments.inquest, "dump", arguments.exe, "--link", "--json"],
                             capture_output=True, text=True, check=True).stdout
        self.links = json.loads(out)["links"]
        self.bitcode = {f"{ident:016x}": code for ident, code in self.binary.models()}
        self.objects = embedded(self.binary)
        self.compiled = {}
        self.missing = []

    # ---- what inputs are made of

    def write(self, path, data):
        path = os.path.join(self.directory, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def compile(self, ident, sections):
        """An object from the bitcode of a module."""
        if ident not in self.compiled:
            source = self.write(f"modules/{ident}.bc", self.bitcode[ident])
            target = source[:-3] + ".o"
            subprocess.run([CLANG, "-w", "-c", "-fPIC", *sections, source, "-o", target], check=True)
            self.compiled[ident] = target
        return self.compiled[ident]

    def present(self, link, path):
        """Where a file of the link is now."""
        base = self.moved or link["directory"]
        if not os.path.isabs(path):
            return os.path.join(base, path)
        if self.moved and path.startswith(link["directory"] + "/"):
            return self.moved + path[len(link["directory"]):]
        return path

    def contents(self, link, name, wanted, path):
        """The bytes of a file without a model."""
        if wanted in self.objects:
            return self.objects[wanted]
        if path and os.path.exists(path):
            with open(path, "rb") as file:
                data = file.read()
            if hashlib.sha256(data).hexdigest() == wanted:
                return data
        raise Missing(name)

    # ---- inputs, as lists of arguments

    def content(self, link, number, entry, path, name):
        """The objects that stand for an input or a member."""
        if entry["hash"]:
            data = self.contents(link, name, entry["hash"], path)
            return [self.write(f"inputs/{link['id']}/{number}/{os.path.basename(name)}", data)]
        if entry["records"]:
            made = [l for l in self.links if l["id"] in entry["records"]]
            return [self.link(l, f"partial/{l['id']}.o") for l in made]
        if not all(ident in self.bitcode for ident in entry["models"]):
            raise Missing(name)
        sections = ["-ffunction-sections", "-fdata-sections"] if self.collects(link) else []
        return [self.compile(ident, sections) for ident in entry["models"]]

    @staticmethod
    def collects(link):
        return any(a["text"] == "--gc-sections" for a in link["arguments"])

    def archive(self, link, number, entry):
        path = self.present(link, entry["path"])
        there = archive_members(path) if os.path.exists(path) else {}
        made = self.directory + f"/inputs/{link['id']}/{number}/" + os.path.basename(entry["path"])
        os.makedirs(os.path.dirname(made), exist_ok=True)
        subprocess.run(["ar", "qcSD", made], check=True)
        for member in entry["members"]:
            self.member(link, f"{number}/{member['number']}", entry, member, there, made)
        subprocess.run(["ar", "sD", made], check=True)
        return [made]

    def member(self, link, number, entry, member, there, made):
        name = f"{entry['path']}({member['name']})"
        known = all(ident in self.bitcode for ident in member["models"])
        if member["taken"] == "no" or (member["taken"] == "unknown" and not known):
            return
        if not member["hash"]:
            parts = self.content(link, number, member, None, name)
        else:
            same = [d for d in there.get(member["name"], []) + [self.objects.get(member["hash"], b"")]
                    if hashlib.sha256(d).hexdigest() == member["hash"]]
            if not same:
                raise Missing(name)
            parts = [self.write(f"inputs/{link['id']}/{number}/{os.path.basename(member['name'])}", same[0])]
        subprocess.run(["ar", "qcSD", made, *parts], check=True)

    def library(self, link, entry):
        places = [self.present(link, entry["path"])]
        if entry["soname"]:
            places += [os.path.join(d, entry["soname"]) for d in ("/lib/x86_64-linux-gnu", "/lib64")]
        for path in places:
            if not os.path.exists(path):
                continue
            if entry["build_id"] and build_id(path) == entry["build_id"]:
                return [path]
            if entry["hash"] and hashlib.sha256(open(path, "rb").read()).hexdigest() == entry["hash"]:
                return [path]
        raise Missing(entry["path"])

    def script(self, link, number, entry):
        """A script of the user's that names inputs is replaced by them: its paths are of another place."""
        within = [i for i, other in enumerate(link["inputs"])
                  if other["within"] == number and other["kind"] != "script"]
        path = self.present(link, entry["path"])
        data = self.contents(link, entry["path"], entry["hash"], path)
        if entry["origin"] == "toolchain":
            return [path]
        if within:
            return ["--start-group", *[p for i in within for p in self.input(link, i)], "--end-group"]
        return [self.write(f"inputs/{link['id']}/{number}/{os.path.basename(entry['path'])}", data)]

    def input(self, link, number):
        entry = link["inputs"][number]
        kind = entry["kind"]
        if kind in ("archive", "thin"):
            return self.archive(link, number, entry)
        if kind in ("shared", "plugin"):
            return self.library(link, entry)
        if kind == "script":
            return self.script(link, number, entry)
        if kind == "unread":
            raise Missing(entry["path"])
        if kind == "data":  # symbols are named after the path
            data = self.contents(link, entry["path"], entry["hash"], self.present(link, entry["path"]))
            self.write(entry["path"], data)
            return [entry["path"]]
        path = None if kind in ("source", "assembler") else self.present(link, entry["path"])
        return self.content(link, number, entry, path, entry["path"])

    # ---- the link

    def link(self, link, output):
        target = os.path.join(self.directory, output)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        command, made = [link["linker"]["path"]], {}
        for argument in link["arguments"]:
            number = argument["input"]
            if number is None:
                command.append(target if command[-1] == "-o" else argument["text"])
                continue
            try:
                if number not in made:
                    made[number] = self.input(link, number)
            except Missing as error:
                self.missing.append(str(error))
                made[number] = []
            command += [argument["before"] + part for part in made[number]]
        if self.missing:
            raise Missing(", ".join(self.missing))
        environment = dict(os.environ, **link["environment"])
        subprocess.run(command, check=True, cwd=self.directory, env=environment)
        return target

    def run(self):
        final = [l for l in self.links if not l["relocatable"]][0]
        return self.link(final, "output/" + os.path.basename(final["output"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--inquest", required=True)
    parser.add_argument("--moved")
    parser.add_argument("exe")
    parser.add_argument("directory")
    arguments = parser.parse_args()
    arguments.directory = os.path.abspath(arguments.directory)
    try:
        print(Relinker(arguments).run())
    except Missing as error:
        print(f"relink.py: missing: {error}", file=sys.stderr)
        sys.exit(1)


main()
