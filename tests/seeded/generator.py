# SPDX-License-Identifier: Apache-2.0
"""What the generators share. Each has generate(seed), which returns the arguments and the input.

    gen.py SEED          writes the input to standard output
    gen.py --args SEED   writes the arguments, one a line
"""

import sys


def main(generate):
    words = sys.argv[1:]
    only_args = words[:1] == ["--args"]
    if only_args:
        words = words[1:]
    if len(words) != 1 or not words[0].isdigit():
        sys.exit("usage: gen.py [--args] SEED")
    args, data = generate(int(words[0]))
    if only_args:
        data = "".join(f"{arg}\n" for arg in args)
    if isinstance(data, str):
        data = data.encode()
    sys.stdout.buffer.write(data)
