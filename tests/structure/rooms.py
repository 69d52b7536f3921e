#!/usr/bin/env python3
"""The rooms of the library, from the ground up: a header includes what is in its own room and below. Fails on an arrow that points up, on
headers that include each other, on a folder that is not in the list, on a header of the plan without a test of its own, on a header or a
function that is long without a reason, and on a header of the standard library that a plan should not make the compiler read.

    rooms.py [--figures]    --figures also prints what can be counted of the headers: lengths, casts, what passes may change
"""
import pathlib
import re
import sys

from included import INCLUDE, included

# A room is a folder of include/tilewright; "" is what stands above all of them. docs/design/ has a picture of it.
ROOMS = [
    "base",          # names, arrays, verdicts
    "compute",       # computations
    "machine",       # descriptions of machines
    "schedule",      # directives
    "diagnostics",   # verdicts as sentences
    "plan/ir",       # the plan, and what planning works on
    "plan/loops",    # nests, boxes, partial tiles
    "plan/place",    # stages, stagings, layouts
    "plan/write",    # movements, rings, links, the loop program
    "plan/offsets",  # lifetimes and addresses
    "plan/check",    # hazards, excess, prediction, counts
    "plan",          # the planner
    "targets",       # machines that are described here
    "kernels",       # computations of networks
    "kernels/avx2",  # their schedules for one processor
    "kernels/vnni",  # those of bytes for processors with VNNI
    "program",       # networks
    "emulate",       # the emulated machine
    "report",        # what people read
    "halide",        # generated code
    "c_source",      # C11, and the C files around objects
    "runtime",       # what applications call
    "bring_up",      # self-tests and traces of devices
    "tune",          # configurations, measured
    "network",       # trained networks, as their files describe them
    "reference",     # what their operators compute, as plain loops that judge
    "import",        # what their operators are made of
    "",
]
# What tilewright.hpp includes of the standard library, itself or through others: <string> alone would be a quarter of what it costs,
# <type_traits>, <limits>, <bit>, <concepts> and <exception> a fourteenth. clang needs <utility> to spell refusals.
# <cstdio> and <cstdlib> are for programs without exceptions, which are told on stderr.
LIGHT = {"cstddef", "cstdint", "cstdio", "cstdlib", "initializer_list", "new", "utility"}

LONG_HEADER, LONG_FUNCTION = 400, 80
# What is longer stands here, with the reason why it is one piece.
LONG = {
    "plan/place/machine_check.hpp": "a check for each part of a description, one after the other; they share how a part is named and refused",
    "plan/ir/program_run.hpp": "one walk over the loop program; how it skips what repeats needs the loops, the rings and the counts together",
    "plan/check/hazards.hpp": "the jobs in flight and the events that change them: each event needs most of that state",
    "plan/ir/trip_count.hpp": "one counter: loops that no limit connects are counted apart, then joined",
    "import/onnx_operators.hpp onnx_operators": "one table: a line for each operator",
    "bring_up/self_test.hpp": "the pieces of two files of C, in their order; each needs the cases",
    "bring_up/self_test_text.hpp": "one file of C, as it is written",
    "diagnostics/refusal.hpp judge": "a case for each verdict: a compiler prints the case that it stands in",
}

# Each header of these rooms has a test of its own, tests/<room>/<header>.cpp, or stands here with the reason why it needs none.
TESTED_ROOMS = ["plan/ir", "plan/offsets", "plan/check", "plan/loops", "plan/place", "plan/write"]
UNTESTED = {
    "plan/ir/loop_nest.hpp": "loops of a stage as they are kept; plan/loops/nest.hpp makes them",
    "plan/ir/movement.hpp": "what one call moves, as it is kept",
    "plan/ir/partial.hpp": "limits and clips as they are kept",
    "plan/ir/planned_cycles.hpp": "cycles of plans that the compiler has made, as tests/plan/planner.cpp asks for them",
    "plan/ir/ring.hpp": "rings and links as they are kept",
    "plan/ir/setting.hpp": "what a configuration is set to, as it is kept",
    "plan/ir/step.hpp": "steps and messages as they are kept; tests/plan/write/barriers.cpp asks which are led",
    "plan/ir/staging.hpp": "what directives say, as it is kept",
    "plan/ir/variable.hpp": "loops and numbers as they are kept",
    "plan/offsets/placed_buffer.hpp": "what the search is given and gives",
}


def includes(header, root):
    """The headers of the library that one includes, relative to `root`."""
    for name in included(header):
        if name.startswith("tilewright/") and name.endswith(".hpp"):
            yield name.removeprefix("tilewright/")


def room_of(name):
    return str(pathlib.PurePosixPath(name).parent).removeprefix(".")


def arrows_up(root):
    height = {room: at for at, room in enumerate(ROOMS)}
    for header in sorted(root.rglob("*.hpp")):
        name = header.relative_to(root).as_posix()
        if room_of(name) not in height:
            yield f"{name}: `{room_of(name)}` is no room"
            continue
        for other in includes(header, root):
            if height.get(room_of(other), len(ROOMS)) > height[room_of(name)]:
                yield f"{name} includes {other}, which is further up"


def circles(root):
    graph = {header.relative_to(root).as_posix(): list(includes(header, root)) for header in root.rglob("*.hpp")}
    done, open_ = set(), []

    def visit(name):
        if name in done:
            return
        if name in open_:
            yield " -> ".join(open_[open_.index(name):] + [name])
            return
        open_.append(name)
        for other in graph.get(name, ()):
            yield from visit(other)
        open_.pop()
        done.add(name)

    for name in sorted(graph):
        yield from visit(name)


def heavy_includes(root):
    open_, seen = ["tilewright.hpp"], {"tilewright.hpp"}
    while open_:
        name = open_.pop()
        for standard in included(root / name):
            if re.fullmatch("[a-z_]+", standard) and standard not in LIGHT:
                yield f"{name}, which tilewright.hpp includes, includes <{standard}>"
        new = set(includes(root / name, root)) - seen
        seen |= new
        open_ += sorted(new)


def without_tests(root, tests):
    for room in TESTED_ROOMS:
        for header in sorted((root / room).glob("*.hpp")):
            name = header.relative_to(root).as_posix()
            test = (tests / name).with_suffix(".cpp")
            if test.exists() == (name in UNTESTED):
                yield f"{name} " + ("has a test and needs none" if test.exists() else f"has no test of its own: tests/{test.relative_to(tests)}")
            elif test.exists() and f"#include <tilewright/{name}>" != test.read_text().split("\n")[0]:
                yield f"tests/{test.relative_to(tests)} does not include what it tests first"
    for name in UNTESTED:
        if not (root / name).exists():
            yield f"{name} is not there"


def functions(text):
    """(first line, how many lines) of each function, as clang-format writes them; a signature can take several lines."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if not re.search(r"\)[^;=]*\{$", line) or re.search(r"= \[|\[[^\]]*\]\(.*\{$|^ *\} else", line):
            continue
        first, open_ = at, line.count(")") - line.count("(")
        while open_ > 0 and first > 0:
            first -= 1
            open_ += lines[first].count(")") - lines[first].count("(")
        begins = re.match(r"^( *)(?!(?:if|for|while|switch|else|do|return|struct|class|namespace|union|enum|auto)\b)[\w\[]", lines[first])
        if begins:
            end = next((later for later in range(at + 1, len(lines)) if lines[later].startswith(begins[1] + "}")), at)
            yield first + 1, end - first + 1


def long_pieces(root):
    """(lines, name) of each header and function that is long; a function's name is that of its header and its own."""
    for header in sorted(root.rglob("*.hpp")):
        name, text = header.relative_to(root).as_posix(), header.read_text()
        lines = text.split("\n")
        if len(lines) - 1 > LONG_HEADER:
            yield len(lines) - 1, name
        for at, length in functions(text):
            if length > LONG_FUNCTION:
                yield length, f"{name} " + re.search(r"(\w+)\(", lines[at - 1])[1]


def long_without_reason(root):
    found = {name for _, name in long_pieces(root)}
    yield from (f"{name} is long without a reason" for name in sorted(found - LONG.keys()))
    yield from (f"{name} is not long any more" for name in sorted(LONG.keys() - found))


def figures(root):
    headers = sorted(root.rglob("*.hpp"))
    texts = {header.relative_to(root).as_posix(): header.read_text() for header in headers}
    count = lambda pattern: sum(len(re.findall(pattern, text)) for text in texts.values())
    print(f"headers: {len(headers)}, lines: {sum(text.count(chr(10)) for text in texts.values())}")
    print(f"static_cast<std::size_t>: {count(r'static_cast<std::size_t>')}, all static_casts: {count(r'static_cast<')}")
    writers = {kind: count(rf"[(,] ?{kind}& ") for kind in ("planning", "writing", "placing")}
    readers = count(r"[(,] ?planning const& ")
    print(f"functions of plan/ that read what is known so far: {readers}; that add index variables: {writers['planning']}; that write the "
          f"plan: {writers['writing']}; that write what it is made from: {writers['placing']}")
    print(f"headers of more than {LONG_HEADER} lines, and functions of more than {LONG_FUNCTION}:")
    for length, name in sorted(long_pieces(root), reverse=True):
        print(f"    {length} {name}: {LONG.get(name, 'without a reason')}")


def main():
    root = INCLUDE / "tilewright"
    wrong = [*arrows_up(root), *circles(root), *heavy_includes(root), *without_tests(root, root.parents[1] / "tests"),
             *long_without_reason(root)]
    for one in wrong:
        print(one)
    if "--figures" in sys.argv[1:]:
        figures(root)
    print(f"rooms: {len(ROOMS)}, wrong: {len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
