# SPDX-License-Identifier: Apache-2.0
"""How many objects loads and stores may touch, as JSON: pointers.py INQUEST EXE TIME. A process of its own, for what it reads
is large."""

import bisect
import json
import subprocess
import sys


def main(inquest, exe, seconds):
    done = subprocess.run([inquest, "dump", "--points-to", "--json", "--quiet", "--time", seconds, exe], stdout=subprocess.PIPE)
    if done.returncode:
        return 1
    found = json.loads(done.stdout)
    firsts = [o["first_cell"] for o in found["objects"]]
    counts = [len({bisect.bisect_right(firsts, c) for c in cells}) for cells in found["sets"]]
    sizes = [max(counts[a[k]] for k in ("reads", "writes") if k in a) for a in found["accesses"]]
    print(json.dumps({"mean": sum(sizes) / len(sizes), "most": max(sizes), "objects": len(firsts)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
