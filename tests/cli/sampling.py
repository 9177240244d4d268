#!/usr/bin/env python3
"""Checks counts of sampled programs; see test_sampling.sh.

    sampling.py known SOURCE IMAGE DIRECTORY          against the comments of sampling_known.c
    sampling.py coverage COVERAGE IMAGE DIRECTORY     against clang's own counts (llvm-cov export)
    sampling.py rate IMAGE FULL DIRECTORY RATE        many runs at RATE against one at full rate
    sampling.py calls IMAGE DIRECTORY FUNCTION N...   entries of FUNCTION, one number a file, in any order"""

import collections
import json
import math
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import suspects_files as files


def counted(image, directory):
    found = files.read_directory(directory, image)
    if not found:
        sys.exit("no file of '%s' in '%s'" % (image, directory))
    return files.total(files.read_sites(image), found)


def known(source, image, directory):
    sites = collections.defaultdict(list)
    for site, counts in counted(image, directory):
        key = (files.KINDS[site.kind], site.line, site.left, site.right)
        sites[key].append(counts)
    wrong = expected = 0
    for number, line in enumerate(open(source), 1):
        for kind, left, right, counts in re.findall(r"expect (\w+) (\S+) (\S+): ([\d ]+)", line):
            key = (kind, number, left.replace("_", " "), "" if right == "-" else right)
            if kind == "return":
                key = (kind, number, left, "")
            counts = [int(word) for word in counts.split()]
            expected += 1
            if counts not in sites.get(key, []):
                print("line %d: %s %s %s is %s, not %s" % (number, kind, key[2], key[3], sites.get(key), counts))
                wrong += 1
    print("%d expected counts, %d wrong" % (expected, wrong))
    return 1 if wrong or expected < 25 else 0


def is_case(sources, name, line, column):
    if name not in sources:
        sources[name] = open(name, errors="replace").read().split("\n")
    return re.match(r"case\b|default\b", sources[name][line - 1][column - 1:]) is not None


def coverage_counts(path):
    """By function: entries, and (true, false) of its branches."""
    entries, branches, sources = {}, {}, {}
    for function in json.load(open(path))["data"][0]["functions"]:
        name = function["name"].split(":")[-1]
        entries[name] = function["count"]
        branches[name] = collections.Counter()
        for line, column, _, _, true, false, file, *_ in function["branches"]:
            if not is_case(sources, function["filenames"][file], line, column):
                branches[name][(true, false)] += 1
    return entries, branches


def unordered(pairs):
    """The compiler may turn a condition around."""
    out = collections.Counter()
    for pair, number in pairs.items():
        out[tuple(sorted(pair))] += number
    return out


def combined(pairs):
    """(true, false) of the conditions that && and || may have made of those given: where the right side is looked at
    as often as the left one leaves it open."""
    made = set()
    for left in pairs:
        for right in pairs:
            if left[0] == sum(right):
                made.add((right[0], left[1] + right[1]))
            if left[1] == sum(right):
                made.add((left[0] + right[0], right[1]))
    return made


def coverage(path, image, directory):
    entries, branches = coverage_counts(path)
    ours, checked, wrong = collections.defaultdict(collections.Counter), 0, 0
    for site, counts in counted(image, directory):
        if site.kind == files.ENTRY and site.function_name in entries:
            checked += 1
            if counts[0] != entries[site.function_name]:
                print("%s was entered %d times, we say %d" % (site.function_name, entries[site.function_name], counts[0]))
                wrong += 1
        # not a case of a switch
        if site.kind == files.BRANCH and site.node_false != files.NONE and site.function_name in branches:
            ours[site.function_name][tuple(sorted(counts))] += 1
    matched = all_of_theirs = 0
    for name, parts in branches.items():
        theirs = unordered(parts)
        once = set(parts) | combined(set(parts))
        allowed = {tuple(sorted(pair)) for pair in once | combined(once)}
        # a condition that is only a value has a count in clang's coverage, but is no branch; in loops a whole
        # condition is one branch
        for pair, number in (ours[name] - theirs).items():
            if pair not in allowed:
                print("%s: %d branches with counts %s that clang does not have" % (name, number, pair))
                wrong += 1
        matched += sum((ours[name] & theirs).values())
        all_of_theirs += sum(theirs.values())
    print("%d entries, %d of %d branches, %d wrong" % (checked, matched, all_of_theirs, wrong))
    return 1 if wrong or checked < 5 or matched < 0.75 * all_of_theirs else 0


def rate(image, full, directory, one_in):
    """Mean over the runs within 5 standard errors of full / rate, for every counter."""
    runs = files.read_directory(directory, image)
    whole = files.total(files.read_sites(image), files.read_directory(full, image))
    each = [files.total(files.read_sites(image), [run]) for run in runs]
    checked = wrong = 0
    for s, (site, counts) in enumerate(whole):
        for c, count in enumerate(counts):
            values = [run[s][1][c] for run in each]
            expected, mean = count / one_in, sum(values) / len(values)
            variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
            if count == 0 and mean:
                print("%s: counted %f, but it never happened" % (site.describe(), mean))
                wrong += 1
            if expected * len(values) < 50:
                continue  # too rare to say
            checked += 1
            # at least what independent events give: the sample may be too even by chance
            error = math.sqrt(max(variance, expected) / len(values))
            if abs(mean - expected) > 5 * error:
                print("%s counter %d: %.2f, expected %.2f +- %.2f" % (site.describe(), c, mean, expected, error))
                wrong += 1
    print("%d runs, %d counters checked, %d wrong" % (len(runs), checked, wrong))
    return 1 if wrong or checked < 10 else 0


def calls(image, directory, function, numbers):
    found = []
    for live in files.read_directory(directory, image):
        for site, counts in files.total(files.read_sites(image), [live]):
            if site.kind == files.ENTRY and site.function_name == function:
                found.append(counts[0])
    wanted = sorted(int(number) for number in numbers)
    if sorted(found) != wanted:
        print("%s was entered %s times, not %s" % (function, sorted(found), wanted))
    return 0 if sorted(found) == wanted else 1


def main(words):
    command = words[0]
    if command == "known":
        return known(*words[1:])
    if command == "coverage":
        return coverage(*words[1:])
    if command == "rate":
        return rate(words[1], words[2], words[3], int(words[4]))
    if command == "calls":
        return calls(words[1], words[2], words[3], words[4:])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
