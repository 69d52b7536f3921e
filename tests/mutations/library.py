"""Seeds faults in a copy of the library's headers, one at a time, and asks the quick tests whether they notice.

    library.py BUILD [--faults FILE] [--only TEXT] [--jobs N] [--check]

BUILD is a configured build with compile_commands.json, whose libraries of tests are built. A fault names a header, a text that stands in it
once, what stands there instead, and the tests that should fail: a source, and names of tests where others in it are slow. The source is compiled
against the changed header, linked by itself as its executable is, and run. A fault is found when the source no longer compiles, though the header alone does, or when a test
fails. All sources pass with the headers as they are, or the run ends there.

The last line is `mutation: seeded=N found=M`; the exit code is 0 when all were found. --check only looks whether every text is where it
should be.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include" / "tilewright"
TESTS = ROOT / "tests"
LONGEST_RUN = 240  # seconds of processor time; a test that takes longer hangs
LONGEST_WAIT = 1200  # seconds; likewise, where it waits for something


class Stopped(Exception):
    """What a user can do something about, as a sentence."""


def read_faults(path):
    with open(path, "rb") as file:
        faults = tomllib.load(file)["fault"]
    names, wrong = set(), []
    for fault in faults:
        if fault["name"] in names:
            wrong.append(f"two faults are called `{fault['name']}`")
        names.add(fault["name"])
        try:
            changed_text(fault)
        except Stopped as why:
            wrong.append(str(why))
        wrong += [f"`{fault['name']}` asks {test}, which is not there" for test in fault["tests"] if not source_of(test).exists()]
    if wrong:
        raise Stopped("\n".join(["the list does not fit the library", *wrong]))
    return faults


def changed_text(fault):
    """The header with the fault in it."""
    text = (INCLUDE / fault["header"]).read_text()
    count = text.count(fault["is"])
    if count != 1:
        raise Stopped(f"`{fault['name']}`: its text stands {count} times in {fault['header']}, not once")
    changed = text.replace(fault["is"], fault["becomes"])
    if changed == text:
        raise Stopped(f"`{fault['name']}` changes nothing")
    return changed


def source_of(test):
    return TESTS / (test.split()[0] + ".cpp")


class Tests:
    """Compiles, links and runs single sources of tests the way the build does."""

    def __init__(self, build, scratch):
        self.build = build
        self.scratch = scratch
        with open(build / "compile_commands.json") as file:
            self.commands = {entry["file"]: entry for entry in json.load(file)}
        self.links = {}
        self.precompiled = scratch / "precompiled.hpp"
        self.precompiled.write_text('#include <Halide.h>\n\n#include <boost/hana.hpp>\n\n#include "catch.hpp"\n')

    def prepare(self, sources):
        """Builds what the sources link with, and what all of those with Halide include."""
        libraries = set()
        for source in sources:
            _, libraries_of = self.link_command(source)
            libraries |= libraries_of
        if libraries:
            self.must(["ninja", "-C", str(self.build), *sorted(libraries)])
        with_halide = [source for source in sources if self.includes_halide(source)]
        if with_halide:
            command = self.compile_command(with_halide[0], None)
            self.must([*command, "-x", "c++-header", str(self.precompiled), "-o", f"{self.precompiled}.gch"])

    @staticmethod
    def must(command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Stopped(f"{shlex.join(command)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")

    def includes_halide(self, source):
        return any("libHalide" in word for word in self.link_command(source)[0])

    def compile_command(self, source, overlay):
        """The build's flags, with the changed header in front and without the precompiled headers of the library."""
        words = shlex.split(self.commands[str(source)]["command"])
        kept, skip = [], False
        for at, word in enumerate(words):
            if skip:
                skip = False
            elif word in ("-o", "-c", "-include"):
                skip = True
            elif word != "-Winvalid-pch" and word != str(source):
                kept.append(word)
        if overlay:
            kept.insert(1, f"-I{overlay}")
        return kept

    def link_command(self, source):
        """The command that links the source's executable, with OBJECT and OUTPUT where they belong, and the libraries that it needs."""
        if str(source) not in self.commands:
            raise Stopped(f"{self.build} does not compile {source}")
        output = self.commands[str(source)].get("output") or re.search(r" -o (\S+)", self.commands[str(source)]["command"]).group(1)
        target = re.search(r"(.*)/CMakeFiles/([^/]+)\.dir/", output)
        executable = f"{target.group(1)}/{target.group(2)}"
        if executable not in self.links:
            lines = subprocess.run(["ninja", "-C", str(self.build), "-t", "commands", "-s", executable], capture_output=True, text=True)
            words = next(shlex.split(part) for part in reversed(re.split(r" && ", lines.stdout)) if f"-o {executable} " in part + " ")
            kept, libraries, replaced = [], set(), False
            for word in words:
                if word.startswith(f"{target.group(1)}/CMakeFiles/{target.group(2)}.dir/"):
                    if not replaced:
                        kept.append("OBJECT")
                    replaced = True
                    if not word.endswith(pathlib.Path(source).name + ".o") and word.endswith(".c.o"):
                        kept.append(word)  # C functions of a device, which no header changes
                        libraries.add(word)
                elif not word.endswith("/optimised.cpp.o"):  # made of the headers without the fault
                    if not word.startswith("/") and re.search(r"\.(a|o)$", word):
                        libraries.add(word)
                    kept.append("OUTPUT" if word == executable else word)
            self.links[executable] = kept, libraries
        return self.links[executable]

    def failure(self, test, overlay, folder):
        """Why a source of tests does not pass; nothing when it does. `folder` keeps what was made of it."""
        source = source_of(test)
        executable = folder / test.split()[0].replace("/", ".")
        if not executable.exists():
            object_file = executable.with_suffix(".o")
            command = self.compile_command(source, overlay)
            if self.includes_halide(source):
                command += ["-include", str(self.precompiled)]
            if not self.quiet([*command, "-w", "-c", str(source), "-o", str(object_file)]):
                return "does not compile"
            link, _ = self.link_command(source)
            if not self.quiet([str({"OBJECT": object_file, "OUTPUT": executable}.get(word, word)) for word in link]):
                return "does not link"
        try:
            code = subprocess.run([str(executable), *shlex.split(test)[1:]], cwd=folder, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=LONGEST_WAIT,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_RUN, LONGEST_RUN + 5))).returncode
        except subprocess.TimeoutExpired:
            return "hangs"
        if code == -signal.SIGXCPU:
            return "hangs"
        return "" if code == 0 else "crashes" if code < 0 else "fails"

    def quiet(self, command):
        return subprocess.run(command, cwd=self.build, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def is_valid(self, fault, overlay, test):
        """Whether the changed header is C++ at all."""
        command = self.compile_command(source_of(test), overlay)
        header = f"#include <tilewright/{fault['header']}>\n"
        done = subprocess.run([*command, "-w", "-fsyntax-only", "-x", "c++", "-"], cwd=self.build, input=header, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return done.returncode == 0

    def finder_of(self, fault):
        """The first of the fault's tests that notices it, and how; nothing when none does."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            folder = pathlib.Path(folder)
            changed = folder / "include" / "tilewright" / fault["header"]
            changed.parent.mkdir(parents=True)
            changed.write_text(changed_text(fault))
            for test in fault["tests"]:
                how = self.failure(test, folder / "include", folder)
                if how == "does not compile" and not self.is_valid(fault, folder / "include", test):
                    raise Stopped(f"`{fault['name']}` is not C++")
                if how:
                    return test, how
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--faults", type=pathlib.Path, default=pathlib.Path(__file__).with_name("library_faults.toml"))
    parser.add_argument("--only", default="", help="faults whose name or header has this text")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--check", action="store_true", help="only look whether every text is where it should be")
    asked = parser.parse_args()
    faults = [fault for fault in read_faults(asked.faults) if asked.only in fault["name"] or asked.only in fault["header"]]
    if asked.check:
        print(f"{len(faults)} faults are where they should be")
        return 0
    if asked.build is None:
        raise Stopped("say which build, or --check")
    begin = time.monotonic()
    found = 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        tests = Tests(asked.build.resolve(), pathlib.Path(scratch))
        used = sorted({test for fault in faults for test in fault["tests"]})
        sources = sorted({source_of(test) for test in used})
        tests.prepare(sources)

        def failures_of(source):
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                return [(test, tests.failure(test, None, pathlib.Path(folder))) for test in used if source_of(test) == source]

        wrong = [f"{test} {how} without any fault" for results in pool.map(failures_of, sources) for test, how in results if how]
        if wrong:
            raise Stopped("\n".join(["not all tests pass as they are", *wrong]))
        print(f"{len(sources)} sources of tests pass as they are, after {time.monotonic() - begin:.0f} s", flush=True)
        running = {pool.submit(tests.finder_of, fault): fault for fault in faults}
        seeding, number = time.monotonic(), 0
        try:
            for number, done in enumerate(concurrent.futures.as_completed(running), 1):
                fault, finder = running[done], done.result()
                found += finder is not None
                left = (time.monotonic() - seeding) / number * (len(faults) - number)
                what = f"found      {finder[0]} {finder[1]}" if finder else "NOT FOUND"
                print(f"[{number}/{len(faults)}, {left / 60:.0f} min left] {what:50} {fault['header']}: {fault['name']}", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print(f"mutation: seeded={number} found={found}, then stopped", flush=True)
            shutil.rmtree(scratch, ignore_errors=True)
            os._exit(130)  # what runs just now was told, too, and its results mean nothing
    print(f"mutation: seeded={len(faults)} found={found}")
    return 0 if found == len(faults) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Stopped as why:
        sys.exit(f"mutation: {why}")
    except KeyboardInterrupt:
        sys.exit("mutation: stopped")
