# SPDX-License-Identifier: Apache-2.0
"""For gdb: prints the address and size of every frame word on the stack of a core."""

import gdb

frame = gdb.newest_frame()
while frame is not None and frame.is_valid():
    try:
        block = frame.block()
    except RuntimeError:
        block = None
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            if symbol.name.startswith("__inquest_path"):
                value = symbol.value(frame)
                if value.address is not None:
                    print("word", int(value.address), value.type.sizeof)
        block = block.superblock if block.function is None else None
    frame = frame.older()
