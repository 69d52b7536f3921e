#!/usr/bin/env python3
"""Compiles the snippets of a page of docs/diagnostics and compares what the compiler says with what the page promises.

A page holds, as fenced blocks:
  ```cpp whose first line is `// common`    optional: a header that every later block includes in its first line
  ```cpp whose first line is `// refused`   a misuse, a complete translation unit
  ```text whose first line is `expect`      after each misuse: strings, one a line, that its error shows on every compiler.
                                            `g++: …` is the sentence that only g++ spells out; `line: N` is the line of the
                                            directive in the snippet, which only g++ can tell
  ```cpp whose first line is `// control`   at least one: the right use, which compiles without a word
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

UMBRELLA = "#include <tilewright/tilewright.hpp>\n"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LONGEST_MESSAGE = 1000  # characters, below; with the lines of source that compilers repeat
ONLY_GXX = ("g++:", "line:")


class Broken(Exception):
    """What is wrong with the page, or with the compiler's answer."""


def read_page(text):
    """Returns the misuses, each with its expected strings, and the controls."""
    refused, controls = [], []
    common = ""
    awaiting = None  # a misuse whose expectation has not come yet
    for language, body in re.findall(r"^```(\w+)\n(.*?)^```\s*$", text, re.MULTILINE | re.DOTALL):
        first, _, rest = body.partition("\n")
        if language == "text" and first.strip() == "expect":
            if awaiting is None:
                raise Broken("an `expect` block without a `// refused` block before it")
            expected = [line.strip() for line in rest.splitlines() if line.strip()]
            if all(line.startswith(ONLY_GXX) for line in expected):
                raise Broken("an `expect` block without a string")
            refused.append((awaiting, expected))
            awaiting = None
        elif language == "cpp" and first.strip() == "// common":
            common = body
        elif language == "cpp" and first.strip() == "// refused":
            if awaiting is not None:
                break
            awaiting = (common, body)
        elif language == "cpp" and first.strip() == "// control":
            controls.append((common, body))
    if awaiting is not None:
        raise Broken("a `// refused` block without an `expect` block after it")
    if not refused or not controls:
        raise Broken("a page needs a `// refused` block, its `expect` block and a `// control` block")
    return refused, controls


def is_clang(options):
    return "clang" in pathlib.Path(options.compiler).name


def run_compiler(options, folder, arguments):
    """Paths in messages must not depend on where the checkout is, nor their lengths: `folder` has a link to the headers."""
    if not (folder / "include").is_symlink():
        (folder / "include").symlink_to(pathlib.Path(options.include).resolve())
    system = [flag for directory in options.isystem for flag in ("-isystem", directory)]
    command = [options.compiler, "-std=c++20", "-Iinclude", *system, *arguments]
    return subprocess.run(command, cwd=folder, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True)


def precompile(options):
    """What nearly every snippet starts with takes most of its time: parsed once, for g++ with and without warnings."""
    options.precompiled.mkdir(parents=True, exist_ok=True)
    for name, extra in (("plain", []), ("strict", STRICT)):
        (options.precompiled / name).mkdir(exist_ok=True)
        (options.precompiled / name / "umbrella.hpp").write_text(UMBRELLA)
        done = run_compiler(options, options.precompiled, [*extra, "-x", "c++-header", f"{name}/umbrella.hpp", "-o", f"{name}/umbrella.hpp.gch"])
        if done.returncode != 0 or done.stderr:
            raise Broken(f"the umbrella header does not compile:\n{done.stderr}")


def with_precompiled(options, common, extra):
    """The arguments that use what is parsed already, and what turns the output into that without it."""
    code = re.sub(r"\A(\s*//[^\n]*\n)+", "", common)
    if options.precompiled is None or not code.startswith(UMBRELLA):
        return [], lambda output: output
    folder = options.precompiled.resolve()
    name = "strict" if extra else "plain"
    line = common[: common.index(UMBRELLA)].count("\n") + 1
    if is_clang(options):
        there = f"In file included from {folder}/{name}/umbrella.hpp:1:\n"
        here = f"In file included from ./common.hpp:{line}:\n"
        return ["-include-pch", f"{folder}/{name}/umbrella.hpp.gch"], lambda output: output.replace(there, here).replace(f"{folder}/", "")
    there = f"from {name}/umbrella.hpp:1"
    here = f"from common.hpp:{line},\n                 from snippet.cpp:1"
    # Without -Winvalid-pch, one that does not fit would be read again from its text, and only take longer.
    return ["-Winvalid-pch", f"-I{folder}/{name}", "-include", "umbrella.hpp"], lambda output: output.replace(there, here)


def compile_snippet(snippet, options, extra):
    """Compiles without output files."""
    common, body = snippet
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "common.hpp").write_text(common)
        pathlib.Path(folder, "snippet.cpp").write_text('#include "common.hpp" ' * bool(common) + body)
        first, restored = with_precompiled(options, common, extra)
        done = run_compiler(options, pathlib.Path(folder), ["-fsyntax-only", *extra, *first, "snippet.cpp"])
        return done.returncode, restored(done.stdout + done.stderr)


def readable(message):
    """What the compiler says in its own words: packs of characters become words, `64L` is 64; places and repeated source are gone."""
    message = "\n".join(re.findall(r"^(?:\S+?:\d+:\d+: |\S+: In |In file included from ).*$", message, re.MULTILINE))
    message = re.sub(r"'(?:[^'\\]|\\.)'(?:, ?'(?:[^'\\]|\\.)')+", lambda pack: "".join(re.findall(r"'(.)'", pack.group())), message)
    message = re.sub(r"(?<=\d)[uUlL]+\b", "", message)
    return re.sub(r"\S+?:\d+:(\d+:)?", "", message)


def shows(message, expected):
    """Whether the string stands there as a whole: 64 is not in 1640."""
    before = r"(?<!\w)" if re.match(r"\w", expected) else ""
    after = r"(?!\w)" if re.search(r"\w$", expected) else ""
    return re.search(before + re.escape(expected) + after, message) is not None


def check_refused(snippet, expected, options):
    code, output = compile_snippet(snippet, options, [])
    errors = re.findall(r"^.*error:.*$", output, re.MULTILINE)
    if code == 0:
        raise Broken("the misuse compiles")
    if len(errors) != 1:
        raise Broken(f"{len(errors)} errors instead of one:\n{output}")
    if len(output) >= LONGEST_MESSAGE:
        raise Broken(f"the message has {len(output)} characters, {LONGEST_MESSAGE - 1} are allowed:\n{output}")
    message = readable(output)
    for string in expected:
        if string.startswith(ONLY_GXX):
            if is_clang(options):
                continue
            string = re.sub(r"^line:\s*", "line ", string).removeprefix("g++:").strip()
        if not shows(message, string):
            raise Broken(f"the message does not show `{string}`:\n{output}")


def check_control(snippet, options):
    code, output = compile_snippet(snippet, options, STRICT)
    if code != 0 or output:
        raise Broken(f"the control does not compile without a word:\n{output}")


def check_page(page, options):
    refused, controls = read_page(page.read_text())
    for snippet, expected in refused:
        check_refused(snippet, expected, options)
    for snippet in controls:
        check_control(snippet, options)


def check_complete(pages, verdicts):
    """Every verdict has a page, and every page a verdict; but one is of a number that the compiler did not find."""
    names = set(re.findall(r"^\s*X\((\w+),", verdicts.read_text(), re.MULTILINE))
    titles = {page.stem for page in pages.glob("*.md")} - {"README", "unresolved_cycles"}
    if not names:
        raise Broken(f"no verdicts found in {verdicts}")
    if names != titles:
        raise Broken(f"verdicts without a page: {sorted(names - titles)}, pages without a verdict: {sorted(titles - names)}")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=pathlib.Path, nargs="?", help="a page, or with --verdicts the folder of all pages")
    parser.add_argument("--verdicts", type=pathlib.Path, help="only check that each verdict in this header has a page")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", default="include", help="the folder that holds tilewright/")
    parser.add_argument("--isystem", action="append", default=[])
    parser.add_argument("--precompiled", type=pathlib.Path, help="the folder that --precompile has filled")
    parser.add_argument("--precompile", action="store_true", help="only parse the umbrella header, into the folder --precompiled")
    options = parser.parse_args(arguments)
    try:
        if options.precompile:
            precompile(options)
        elif options.verdicts:
            check_complete(options.page, options.verdicts)
        else:
            check_page(options.page, options)
    except Broken as wrong:
        print(f"{options.page}: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
