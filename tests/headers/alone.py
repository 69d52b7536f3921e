#!/usr/bin/env python3
"""Every C++ header of the library compiles alone, and twice.

    alone.py chained|apart COMPILER INCLUDE WORK FLAG… [--given PATTERN FLAG…]…

INCLUDE is the folder of the headers, WORK a folder for what is made here. FLAGs are for all headers; those after a PATTERN are besides for
headers that it matches, and for no other, so no other can come to need what they give.

chained: what several headers include is precompiled, one piece after the other, and each header is compiled after as much of that as it
includes itself. It finds nothing there that it would not read anyway, and most of what it would read is there. This needs a clang that can;
clang 14 cannot.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "structure"))
from included import included_always

# Bytes of source that take as long to parse as a precompiled piece takes besides its own source.
BYTES_OF_A_PIECE = 100_000


def split_by(arguments, word):
    """The arguments in front of the first `word`, and a list of those after each."""
    parts = [[]]
    for one in arguments:
        if one == word:
            parts.append([])
        else:
            parts[-1].append(one)
    return parts[0], parts[1:]


class Includes:
    """The files that each header includes, itself or through others. The compiler is asked what those of other libraries include."""

    def __init__(self, include, headers, ask):
        headers = set(headers)
        self.named = {header: included_always(include / header) for header in headers}
        # What can be included, by its file: headers by their names, those of other libraries by their paths.
        self.name_of = {header: header for header in headers}
        self.files = {}
        self.others = {}
        others = sorted({name for names in self.named.values() for name in names} - headers)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            for name, files in zip(others, workers.map(ask, others)):
                self.others[name] = frozenset(files)
                if files:  # none, where it is missing; whoever includes it shows that
                    self.name_of[files[0]] = name
                    self.files[files[0]] = frozenset(files)
        for header in sorted(headers):
            self.reach(header)
        self.bytes = {file: (include / file).stat().st_size for files in self.files.values() for file in files}

    def reach(self, header):
        if header not in self.files:
            inside = [self.others[name] if name in self.others else self.reach(name) for name in self.named[header]]
            self.files[header] = frozenset({header}).union(*inside)
        return self.files[header]

    def bytes_of(self, files):
        return sum(self.bytes[file] for file in files)


class Piece:
    """What is precompiled: `name`, an include, after the piece `after`. `headers` are compiled after it, as are the pieces `next`."""

    def __init__(self, name, after, files):
        self.name, self.after, self.files = name, after, files
        self.next, self.headers, self.users = [], [], []


def share(piece, users, includes):
    """Splits `users`, which all include what `piece` has: pieces that several of them include stand after it, as long as that saves time."""
    piece.users = list(users)
    while True:
        count = collections.Counter(
            file for user in users for file in includes.files[user] - piece.files if file in includes.name_of and file != user)
        saved = {
            file: (times - 1) * includes.bytes_of(includes.files[file] - piece.files) - BYTES_OF_A_PIECE
            for file, times in count.items() if times > 1
        }
        best = max(sorted(saved), key=saved.get, default=None)
        if best is None or saved[best] <= 0:
            piece.headers = users
            return
        among = [user for user in users if best in includes.files[user] and best != user]
        users = [user for user in users if user not in among]
        piece.next.append(Piece(includes.name_of[best], piece, piece.files | includes.files[best]))
        share(piece.next[-1], among, includes)


def main():
    (how, compiler, include, work, *flags), given = split_by(sys.argv[1:], "--given")
    include, work = pathlib.Path(include), pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    headers = sorted(path.relative_to(include).as_posix() for path in include.rglob("*.hpp"))
    base = [compiler, *flags, f"-I{include}", "-x", "c++-header"]

    def given_to(users):
        """The flags that all of these headers are given."""
        return [flag for pattern, *more in given if all(re.search(pattern, user) for user in users) for flag in more]

    def files_included_by(name):
        everything = [flag for _, *more in given for flag in more]
        done = subprocess.run([*base, *everything, "-M", "-"], input=f"#include <{name}>\n", capture_output=True, text=True)
        return done.stdout.replace("\\\n", " ").split(":", 1)[-1].split()

    def file_of(piece):
        chain = []
        while piece.after:
            chain.append(str(piece.after.next.index(piece)))
            piece = piece.after
        return work / ("piece_" + "_".join(reversed(chain)) + ".pch")

    def run(text, file, more):
        """What the compiler says to this text in this file; empty if it is content."""
        file.write_text(text)
        done = subprocess.run([*base, *more, file], capture_output=True, text=True)
        return "" if done.returncode == 0 and not done.stderr else done.stderr or f"the compiler ends with {done.returncode}"

    def after(piece):
        return ["-include-pch", file_of(piece)] if piece.after else []

    def precompile(piece):
        file = file_of(piece)
        return run(f"#include <{piece.name}>\n", file.with_suffix(".hpp"), [*given_to(piece.users), *instantiate, *after(piece.after), "-o", file])

    def compile_alone(header, piece):
        file = work / (header.replace("/", "-") + ".twice.hpp")
        return run(f"#include <{header}>\n" * 2, file, [*given_to([header]), *instantiate, *after(piece), "-fsyntax-only"])

    # Templates that a piece uses are instantiated in it, and not again in each header that is compiled after it.
    instantiate = ["-fpch-instantiate-templates"] if how == "chained" else []
    start = Piece(None, None, frozenset())
    start.headers = headers
    if how == "chained":
        share(start, headers, Includes(include, headers, files_included_by))
    failed = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        running = {}

        def go_on(piece):
            for one in piece.next:
                running[workers.submit(precompile, one)] = one
            for header in piece.headers:
                running[workers.submit(compile_alone, header, piece)] = header

        go_on(start)
        while running:
            finished, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for one in finished:
                what, said = running.pop(one), one.result()
                if said and isinstance(what, Piece):
                    print(f"{what.name} does not compile, which these include: {', '.join(what.users)}\n{said}", flush=True)
                    failed += what.users
                elif said:
                    print(f"{what} does not compile alone:\n{said}", flush=True)
                    failed.append(what)
                elif isinstance(what, Piece):
                    go_on(what)
    print(f"{len(headers)} headers, {len(failed)} of them fail" + (": " + ", ".join(sorted(failed)) if failed else ""))
    return 1 if failed or not headers else 0


sys.exit(main())
