#!/usr/bin/env python3
"""Compiles the snippets of a page of docs/diagnostics and compares what the compiler says with what the page promises.

A page holds, as fenced blocks:
  ```cpp whose first line is `// common`    optional: a header that every later block includes in its first line
  ```cpp whose first line is `// refused`   a misuse, a complete translation unit
  ```cpp whose first line is `// program`   a right use, which every later block of differences changes
  ```diff                                   a misuse, as a change of the program: the lines that begin with `-` become those with `+`
  ```text whose first line is `expect`      after each misuse: strings, one a line, that its error shows on every compiler.
                                            `g++: …` is the sentence that g++ spells out, and clang from 19 on; `line: N` is
                                            the line of the directive in the snippet, likewise; `g++ alone: …` and `clang: …`
                                            are words of these compilers; `g++ adds: …` and `clang adds: …` are errors of their
                                            own besides
  ```cpp whose first line is `// alone`     after the block of a misuse of which a compiler adds errors: what it does without the
                                            library. Each compiler has at least as many errors there, so the library adds none
  ```cpp whose first line is `// control`   at least one: the right use, which compiles without a word
"""
import argparse
import concurrent.futures
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import typing

UMBRELLA = "#include <tilewright/tilewright.hpp>\n"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LONGEST_MESSAGE = 1000  # characters, below; with the lines of source that compilers repeat
SENTENCES = ("g++:", "line:")
ADDED = ("g++ adds:", "clang adds:")
OF_ONE_COMPILER = ("g++ alone:", "clang:", *ADDED)


class Broken(Exception):
    """What is wrong with the page, or with the compiler's answer."""


class Misuse(typing.NamedTuple):
    name: str  # the heading above it
    snippet: tuple  # what stands in front of it, and itself
    expected: list
    alone: str  # what has as many errors without the library


def changed(program, differences):
    """The program with the lines that begin with `-` replaced by the lines with `+` that follow them; without any, at its end."""
    for hunk in re.findall(r"(?:^-.*\n)*(?:^\+.*\n)+|(?:^-.*\n)+", differences, re.MULTILINE):
        lines = hunk.splitlines(keepends=True)
        old, new = ("".join(line[2:] for line in lines if line[0] == sign) for sign in "-+")
        if old and f"\n{program}".count(f"\n{old}") != 1:
            raise Broken(f"the program does not have these lines once:\n{old}")
        program = program.replace(old, new) if old else program + new
    return program


def read_page(text):
    """Returns the misuses and the controls."""
    refused, controls = [], []
    common = program = heading = ""
    awaiting = None  # a misuse whose expectation has not come yet
    for title, language, body in re.findall(r"^#+ ([^\n]*)$|^```(\w+)\n(.*?)^```\s*$", text, re.MULTILINE | re.DOTALL):
        heading = title or heading
        first, _, rest = body.partition("\n")
        if language == "text" and first.strip() == "expect":
            if awaiting is None:
                raise Broken("an `expect` block without a misuse before it")
            expected = [line.strip() for line in rest.splitlines() if line.strip()]
            if all(line.startswith(SENTENCES + OF_ONE_COMPILER) for line in expected):
                raise Broken("an `expect` block without a string")
            refused.append(awaiting._replace(expected=expected))
            awaiting = None
        elif language == "cpp" and first.strip() == "// common":
            common = body
        elif language == "cpp" and first.strip() == "// program":
            program = rest
            controls.append(("", program))
        elif language == "diff" or (language == "cpp" and first.strip() == "// refused"):
            if awaiting is not None:
                break
            snippet = ("", changed(program, body)) if language == "diff" else (common, body)
            awaiting = Misuse(heading, snippet, [], "")
        elif language == "cpp" and first.strip() == "// alone":
            if not refused or awaiting is not None:
                raise Broken("an `// alone` block without a misuse and its `expect` block before it")
            refused[-1] = refused[-1]._replace(alone=rest)
        elif language == "cpp" and first.strip() == "// control":
            controls.append((common, body))
    if awaiting is not None:
        raise Broken("a misuse without an `expect` block after it")
    for misuse in refused:
        if any(string.startswith(ADDED) for string in misuse.expected) != bool(misuse.alone):
            raise Broken(f"{misuse.name}: compilers add errors where an `// alone` block shows them, and nowhere else")
    if not refused or not controls:
        raise Broken("a page needs a `// refused` block, its `expect` block and a `// control` block")
    return refused, controls


def is_clang(options):
    return "clang" in pathlib.Path(options.compiler).name


@functools.cache
def spells_sentences(compiler):
    """Whether a compiler prints texts that it has put together: g++, and clang from 19 on."""
    said = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    version = re.search(r"clang version (\d+)", said)
    return version is None or int(version.group(1)) >= 19


def is_for(options, string):
    """Whether an expected string is for this compiler."""
    if string.startswith(SENTENCES):
        return spells_sentences(options.compiler)
    if string.startswith(OF_ONE_COMPILER):
        return string.startswith("clang") == is_clang(options)
    return True


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


def with_precompiled(options, snippet, extra):
    """The arguments that use what is parsed already, and what turns the output into that without it."""
    common, body = snippet
    text = common or body
    code = re.sub(r"\A(\s*//[^\n]*\n)+", "", text)
    if options.precompiled is None or not code.startswith(UMBRELLA):
        return [], lambda output: output
    folder = options.precompiled.resolve()
    name = "strict" if extra else "plain"
    line = text[: text.index(UMBRELLA)].count("\n") + 1
    if is_clang(options):
        there = f"In file included from {folder}/{name}/umbrella.hpp:1:\n"
        here = f"In file included from {'./common.hpp' if common else 'snippet.cpp'}:{line}:\n"
        return ["-include-pch", f"{folder}/{name}/umbrella.hpp.gch"], lambda output: output.replace(there, here).replace(f"{folder}/", "")
    there = f"from {name}/umbrella.hpp:1"
    here = f"from common.hpp:{line},\n                 from snippet.cpp:1" if common else f"from snippet.cpp:{line}"
    # Without -Winvalid-pch, one that does not fit would be read again from its text, and only take longer.
    return ["-Winvalid-pch", f"-I{folder}/{name}", "-include", "umbrella.hpp"], lambda output: output.replace(there, here)


def compile_snippet(snippet, options, extra):
    """Compiles without output files."""
    common, body = snippet
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "common.hpp").write_text(common)
        pathlib.Path(folder, "snippet.cpp").write_text('#include "common.hpp" ' * bool(common) + body)
        first, restored = with_precompiled(options, snippet, extra)
        done = run_compiler(options, pathlib.Path(folder), ["-fsyntax-only", *extra, *first, "snippet.cpp"])
        return done.returncode, restored(done.stdout + done.stderr)


def readable(message):
    """What the compiler says in its own words: packs of characters become words, `64L` is 64; places and repeated source are gone, but for
    comments of the library in it."""
    own = re.finditer(r"^(?:\S+?:\d+:\d+: |\S+: In |In file included from ).*$|^ *\d+ \|.* // (no (?:constant|such memory|such bank):.*)$", message, re.MULTILINE)
    message = "\n".join(line.group(1) or line.group() for line in own)
    message = re.sub(r"'(?:[^'\\]|\\.)'(?:, ?'(?:[^'\\]|\\.)')+", lambda pack: "".join(re.findall(r"'(.)'", pack.group())), message)
    message = re.sub(r"(?<=\d)[uUlL]+\b", "", message)
    return re.sub(r"\S+?:\d+:(\d+:)?", "", message)


def shows(message, expected):
    """Whether the string stands there as a whole: 64 is not in 1640."""
    before = r"(?<!\w)" if re.match(r"\w", expected) else ""
    after = r"(?!\w)" if re.search(r"\w$", expected) else ""
    return re.search(before + re.escape(expected) + after, message) is not None


def errors_in(output):
    return re.findall(r"^.*error:.*$", output, re.MULTILINE)


def check_alone(misuse, options, allowed):
    """The errors that a compiler adds are not the library's: it has as many where the library is not there."""
    if "tilewright" in misuse.alone:
        raise Broken("an `// alone` block with the library in it")
    _, output = compile_snippet(("", misuse.alone), options, [])
    if len(errors_in(output)) < allowed:
        raise Broken(f"{len(errors_in(output))} errors without the library, {allowed} with it:\n{output}")


def check_refused(misuse, options):
    """Returns how long the message is, and how many errors it has."""
    code, output = compile_snippet(misuse.snippet, options, [])
    errors = len(errors_in(output))
    if code == 0:
        raise Broken("the misuse compiles")
    message = readable(output)
    for string in misuse.expected:
        if not is_for(options, string):
            continue
        string = re.sub(r"^line:\s*", "line ", string)
        string = re.sub(r"^(g\+\+|g\+\+ alone|clang|g\+\+ adds|clang adds):", "", string).strip()
        if not shows(message, string):
            raise Broken(f"the message does not show `{string}`:\n{output}")
    allowed = 1 + sum(string.startswith(ADDED) and is_for(options, string) for string in misuse.expected)
    if errors != allowed:
        raise Broken(f"{errors} errors instead of {allowed}:\n{output}", len(output), errors)
    if allowed > 1:
        check_alone(misuse, options, allowed)
    elif len(output) >= LONGEST_MESSAGE:
        raise Broken(f"the message has {len(output)} characters, {LONGEST_MESSAGE - 1} are allowed:\n{output}", len(output), errors)
    return len(output), errors


def check_control(snippet, options):
    code, output = compile_snippet(snippet, options, STRICT)
    if code != 0 or output:
        raise Broken(f"the control does not compile without a word:\n{output}")


def check_page(page, options):
    refused, controls = read_page(page.read_text())
    for misuse in refused:
        check_refused(misuse, options)
    for snippet in controls:
        check_control(snippet, options)


def print_table(page, compilers):
    """Prints, for each misuse of a page, the characters and errors of every compiler; then what is wrong."""
    refused, controls = read_page(page.read_text())
    wrong = []

    def measured(misuse, options):
        try:
            characters, errors = check_refused(misuse, options)
            return f"{characters} / {errors}"
        except Broken as broken:
            wrong.append(f"{misuse.name}, {pathlib.Path(options.compiler).name}: {broken.args[0]}")
            return "{1} / {2} !".format(*broken.args) if len(broken.args) == 3 else "!"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        rows = [[workers.submit(measured, misuse, options) for options in compilers] for misuse in refused]
        right = [workers.submit(check_control, snippet, options) for snippet in controls for options in compilers]
        for control in right:
            control.result()
        width = max(len(misuse.name) for misuse in refused)
        print(f"{'characters / errors':<{width}}" + "".join(f"{pathlib.Path(options.compiler).name:>16}" for options in compilers))
        for misuse, row in zip(refused, rows):
            print(f"{misuse.name:<{width}}" + "".join(f"{cell.result():>16}" for cell in row))
    if wrong:
        raise Broken("\n".join(wrong))


def check_complete(pages, verdicts):
    """Every verdict has a page, and every page a verdict; but one is of a number that the compiler did not find, and one of mistakes."""
    names = set(re.findall(r"^\s*X\((\w+),", verdicts.read_text(), re.MULTILINE))
    titles = {page.stem for page in pages.glob("*.md")} - {"README", "mistakes", "unresolved_cycles"}
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
    parser.add_argument("--beside", nargs=2, action="append", default=[], metavar=("COMPILER", "PRECOMPILED"),
        help="prints a table of the page for --compiler and for these")
    parser.add_argument("--precompile", action="store_true", help="only parse the umbrella header, into the folder --precompiled")
    options = parser.parse_args(arguments)
    try:
        if options.precompile:
            precompile(options)
        elif options.verdicts:
            check_complete(options.page, options.verdicts)
        elif options.beside:
            others = [{"compiler": compiler, "precompiled": pathlib.Path(folder)} for compiler, folder in options.beside]
            print_table(options.page, [options, *(argparse.Namespace(**{**vars(options), **other}) for other in others)])
        else:
            check_page(options.page, options)
    except Broken as wrong:
        print(f"{options.page}: {wrong.args[0]}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
