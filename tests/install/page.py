#!/usr/bin/env python3
"""Runs the blocks of docs/installing.md, one after the other, in an empty folder: a block of C++ becomes app.cpp, one of CMake
CMakeLists.txt, one of sh is run, and one of text is what that printed last. Blocks of `console` are only read.

    page.py WORK
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def clone(folder):
    """The sources as they are now, committed or not, as a repository."""
    for part in ("include", "cmake"):
        shutil.copytree(ROOT / part, folder / part)
    for part in ("CMakeLists.txt", "LICENSE"):
        shutil.copy(ROOT / part, folder)
    git = ["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@localhost"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "sources"]):
        subprocess.run(git + command, check=True)


def main():
    work = pathlib.Path(sys.argv[1])
    shutil.rmtree(work, ignore_errors=True)
    (work / "home").mkdir(parents=True)
    clone(work / "tilewright")
    environment = os.environ | {"HOME": str(work / "home")}

    page = (ROOT / "docs/installing.md").read_text()
    counts, said = {}, ""
    for kind, block in re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        counts[kind] = counts.get(kind, 0) + 1
        if kind == "cpp":
            (work / "app.cpp").write_text(block)
        elif kind == "cmake":
            shutil.rmtree(work / "build", ignore_errors=True)
            (work / "CMakeLists.txt").write_text(block.replace("https://example.org/tilewright.git", f"file://{work}/tilewright"))
        elif kind == "sh":
            run = subprocess.run(["sh", "-euc", block], cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            said = run.stdout
            if run.returncode != 0:
                sys.exit(f"{block}\nended with {run.returncode}:\n{said}")
        elif kind == "text" and not said.endswith(block):
            sys.exit(f"the page says that this is printed:\n{block}\nIt is:\n{said}")
        elif kind not in ("text", "console"):
            sys.exit(f"a block of {kind}")
    print(counts)
    if not all(counts.get(kind) for kind in ("cpp", "cmake", "sh", "text")):
        sys.exit("the page has lost its blocks")


if __name__ == "__main__":
    main()
