#!/usr/bin/env python3
"""Writes one header that holds all that `#include <tilewright/tilewright.hpp>` needs of this library. Boost.Hana stays an include.

    single_header.py FILE
"""
import pathlib
import re
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[1] / "include"
OURS = re.compile(r"#include <(tilewright/[^>]+)>")


def lines_of(name, seen):
    """The lines of a header, with those of the headers of this library that it includes in place of their first include."""
    seen.add(name)
    for line in (INCLUDE / name).read_text().splitlines():
        included = OURS.match(line)
        if included is None:
            if line != "#pragma once":
                yield line
        elif included[1] not in seen:
            yield from lines_of(included[1], seen)


def single_header():
    numbers = re.findall(r"^#define TILEWRIGHT_VERSION_\w+ (\d+)$", (INCLUDE / "tilewright/version.hpp").read_text(), re.MULTILINE)
    head = [
        "#pragma once",
        f"// Tilewright {'.'.join(numbers)} in one header, made by cmake/single_header.py. It needs C++20 and Boost.Hana.",
        "// SPDX-License-Identifier: Apache-2.0",
    ]
    return "\n".join(head + list(lines_of("tilewright/tilewright.hpp", set()))) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[1]).write_text(single_header())
