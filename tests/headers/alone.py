#!/usr/bin/env python3
"""Every C++ header of the library compiles alone, and twice.

    alone.py chained|apart COMPILER INCLUDE WORK FLAG… [--given PATTERN FLAG…]…

INCLUDE is the folder of the headers, WORK a folder for what is made here. FLAGs are for all headers; those after a PATTERN are besides for
headers that it matches, and for no other, so no other can come to need what they give.

chained: a header is compiled after the largest header that it includes, precompiled. It finds nothing there that it would not read itself,
and each header is parsed once: this takes a quarter of the time. It needs a clang that can; clang 14 cannot.
"""
import concurrent.futures
import graphlib
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "structure"))
from included import graph, reached


def split_by(arguments, word):
    """The arguments in front of the first `word`, and a list of those after each."""
    parts = [[]]
    for one in arguments:
        if one == word:
            parts.append([])
        else:
            parts[-1].append(one)
    return parts[0], parts[1:]


def main():
    (how, compiler, include, work, *flags), given = split_by(sys.argv[1:], "--given")
    include, work = pathlib.Path(include), pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    headers = graph(include)
    included = {header: [one for one in names if one in headers] for header, names in headers.items()}
    known = {}
    largest = {header: max(included[header], key=lambda one: len(reached(one, included, known)), default=None) for header in headers}
    if how == "apart":
        largest = dict.fromkeys(headers)
    precompiled = set(largest.values())
    order = graphlib.TopologicalSorter(included)
    order.prepare()
    failed = []

    def file_of(header, ending):
        return work / (header.replace("/", "-") + ending)

    def compile_alone(header):
        """What the compiler says; empty if it is content."""
        file_of(header, ".twice.hpp").write_text(f"#include <{header}>\n" * 2)
        command = [compiler, *flags, f"-I{include}"]
        for pattern, *more in given:
            if re.search(pattern, header):
                command += more
        if largest[header]:
            command += ["-include-pch", file_of(largest[header], ".pch")]
        command += ["-o", file_of(header, ".pch")] if header in precompiled else ["-fsyntax-only"]
        command += ["-x", "c++-header", file_of(header, ".twice.hpp")]
        done = subprocess.run(command, capture_output=True, text=True)
        return "" if done.returncode == 0 and not done.stderr else done.stderr or f"the compiler ends with {done.returncode}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        running = {}
        while order.is_active():
            for header in order.get_ready():
                if any(one in failed for one in included[header]):
                    failed.append(header)  # what it includes is at fault, and has been shown
                    order.done(header)
                else:
                    running[workers.submit(compile_alone, header)] = header
            finished, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for one in finished:
                header = running.pop(one)
                if one.result():
                    failed.append(header)
                    print(f"{header} does not compile alone:\n{one.result()}")
                order.done(header)
    print(f"{len(headers)} headers, {len(failed)} of them fail" + (": " + ", ".join(failed) if failed else ""))
    return 1 if failed or not headers else 0


sys.exit(main())
