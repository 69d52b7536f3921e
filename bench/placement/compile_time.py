#!/usr/bin/env python3
"""What offsets of 24 buffers cost a compiler: a translation unit that solves them in a static_assert, against one that does not.

The buffers are a full rectangle cut into 24 boxes at random, of several seeds. Times are user + system seconds at -O0, medians of five.
"""
import os
import pathlib
import random
import resource
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUFFERS, CAPACITY, SEEDS, REPETITIONS = 24, 65536, 5, 5


def boxes(seed):
    """(born, dead, bytes), by cuts right through the largest box."""
    draw = random.Random(seed)
    made = [(0, 1000, CAPACITY)]
    while len(made) < BUFFERS:
        largest = max(range(len(made)), key=lambda at: (made[at][1] - made[at][0]) * made[at][2])
        born, dead, size = made.pop(largest)
        if draw.random() < 0.5:
            middle = draw.randint(born + 1, dead - 1)
            made += [(born, middle, size), (middle, dead, size)]
        else:
            part = draw.randint(1, size - 1)
            made += [(born, dead, part), (born, dead, size - part)]
    draw.shuffle(made)
    return made


def source(seed, solves):
    check = 'static_assert(solved().proven, "gap");'
    buffers = ", ".join(f"{{.bytes = {size}, .born = {born}, .dead = {dead}}}" for born, dead, size in boxes(seed))
    return f"""#include <tilewright/plan/offsets/assign_offsets.hpp>
using namespace tilewright::ir;
constexpr offset_result solved() {{
    placed_buffer buffers[] = {{{buffers}}};
    return assign_offsets(buffers, {{.capacity = {CAPACITY}}});
}}
{check if solves else ""}
"""


def seconds(compiler, text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "offsets.cpp"
        file.write_text(text)
        times, proven = [], True
        for _ in range(REPETITIONS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            ended = subprocess.run([compiler, "-std=c++20", "-O0", f"-I{ROOT}/include", "-c", file, "-o", os.devnull],
                                   capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if ended.returncode != 0:
                if "gap" not in ended.stderr:
                    raise SystemExit(ended.stderr)
                proven = False
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return statistics.median(times), proven


for compiler in ("g++", "clang++-14"):
    without = seconds(compiler, source(1, False))[0]
    for seed in range(1, SEEDS + 1):
        time, proven = seconds(compiler, source(seed, True))
        print(f"{compiler:12} seed {seed}: {time - without:+.2f} s over {without:.2f} s, {'proven' if proven else 'gap'}", flush=True)
