"""Stack use of functions, as the compiler says with -fstack-usage: one .su file an object, "FILE:LINE:NAME SIZE KIND".

SIZE is what a function takes off the stack pointer, registers that it saves included, the return address and what lies in the red
zone not. Compared are functions that both builds have, object by object. Where inlining differs a frame holds the locals of
other callees: of frames that grew beyond what is allowed it is told apart, by the DWARF of both executables."""

import os
import re
import subprocess

ALLOWED = 64
INLINED = re.compile(r'DW_TAG_inlined_subroutine\n\s+DW_AT_abstract_origin\s+\(\S+ "(.*?)"\)')


class Frames:
    """Bytes more a frame: of functions by name. excused: those of more than ALLOWED bytes that inline other callees."""

    def __init__(self, differences, excused=()):
        self.differences = differences
        self.excused = set(excused)
        self.ordered = sorted(differences.values())

    def over(self):
        return [name for name, bytes in self.differences.items() if bytes > ALLOWED]

    def mean(self):
        return sum(self.ordered) / len(self.ordered)

    def percentile(self, share):
        """The least value that this share of the functions does not exceed."""
        return self.ordered[max(0, -(-len(self.ordered) * share // 100) - 1)]

    def worst(self):
        """(name, bytes)."""
        return max(self.differences.items(), key=lambda item: (item[1], item[0]))


def read(directory):
    """Bytes by (object, function)."""
    sizes = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            if name.endswith(".su"):
                read_file(os.path.join(folder, name), os.path.relpath(os.path.join(folder, name), directory), sizes)
    return sizes


def read_file(path, unit, sizes):
    with open(path) as file:
        for line in file:
            place, size = line.split("\t")[:2]
            # One name may be there twice, such as main() in a tool that was built from the same object name.
            sizes[unit, place.rsplit(":", 1)[-1]] = int(size)


def compare(ours, plain, executable, plain_executable):
    """ours and plain as read() returns them. None where there is nothing to compare."""
    differences = {}
    for unit, function in ours.keys() & plain.keys():
        differences["%s (%s)" % (function, unit[:-len(".su")])] = ours[unit, function] - plain[unit, function]
    if not differences:
        return None
    frames = Frames(differences)
    for name in frames.over():
        function = name.split(" ")[0]
        if inlined_callees(executable, function) != inlined_callees(plain_executable, function):
            frames.excused.add(name)
    return frames


def inlined_callees(executable, function):
    """Names, one for each place where one is inlined into a function of this name, in order."""
    done = subprocess.run(["llvm-dwarfdump-19", "--debug-info", "--show-children", "--name=" + function, executable],
                          capture_output=True, text=True, check=True)
    return sorted(INLINED.findall(done.stdout))


def together(all_frames):
    """The frames of all programs in one; names get the program's."""
    merged, excused = {}, set()
    for program, frames in all_frames.items():
        merged.update({"%s: %s" % (program, name): bytes for name, bytes in frames.differences.items()})
        excused.update("%s: %s" % (program, name) for name in frames.excused)
    return Frames(merged, excused) if merged else None
