#!/usr/bin/env python3
"""Runs a lesson, and compares what its README shows with its files and with what it prints.

Of the fenced blocks of README.md
  ```cpp, ```c, ```cmake, ```python   stand in a file of the lesson's folder, line after line
  ```text                             stands in the output of the lesson, line after line
  other blocks                        are commands for a shell, or numbers that were measured: not compared
Blanks at both ends of a line do not count. A line that is `…` alone leaves lines out.
"""
import argparse
import pathlib
import re
import subprocess
import sys

CODE = ("cpp", "c", "cmake", "python")
LEFT_OUT = "…"


class Broken(Exception):
    """What is wrong with the README."""


def lines_of(text):
    return [line.strip() for line in text.splitlines()]


def blocks_of(page):
    return re.findall(r"^```(\w*)\n(.*?)^```\s*$", page, re.MULTILINE | re.DOTALL)


def found_at(piece, lines, begin):
    """Where the lines of a piece stand one after the other, or -1."""
    for at in range(begin, len(lines) - len(piece) + 1):
        if lines[at:at + len(piece)] == piece:
            return at
    return -1


def pieces_of(block):
    pieces = [[]]
    for line in lines_of(block):
        if line == LEFT_OUT:
            pieces.append([])
        else:
            pieces[-1].append(line)
    return [piece for piece in pieces if piece]


def stands_in(block, lines):
    """Whether the pieces of a block stand there, in their order."""
    begin = 0
    for piece in pieces_of(block):
        at = found_at(piece, lines, begin)
        if at < 0:
            return False
        begin = at + len(piece)
    return True


def check(folder, program):
    readme = folder / "README.md"
    if not readme.exists():
        raise Broken("the lesson has no README.md")
    page = readme.read_text()
    sources = [lines_of(file.read_text(errors="replace")) for file in sorted(folder.iterdir()) if file.is_file() and file != readme]
    done = subprocess.run([program], capture_output=True, text=True)
    if done.returncode != 0:
        raise Broken(f"the lesson ended with code {done.returncode}:\n{done.stdout}{done.stderr}")
    printed = lines_of(done.stdout)
    for language, block in blocks_of(page):
        if language in CODE and not any(stands_in(block, lines) for lines in sources):
            raise Broken(f"no file of the lesson has this block:\n{block}")
        if language == "text" and not stands_in(block, printed):
            raise Broken(f"the lesson does not print this block:\n{block}")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="the folder of the lesson")
    parser.add_argument("program", type=pathlib.Path, help="what the lesson runs")
    options = parser.parse_args(arguments)
    try:
        check(options.folder, options.program)
    except Broken as wrong:
        print(f"{options.folder}: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
