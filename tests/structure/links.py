#!/usr/bin/env python3
"""Every link in the documentation leads to a file that is there, and to a heading that the file has; links to other sites are not followed.
Every file of the project that is named in the text, such as `plan/loops/box.hpp`, is there as well.

    links.py        prints what leads nowhere, then `links: N, files: N, wrong: M`
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
FILE = re.compile(r"`([a-z_0-9./]+/[a-z_0-9]+\.(?:hpp|h|cpp|py|sh|cmake|toml|svg|md))`")
FOLDERS = ["", "include", "include/tilewright", "tests"]


def without_blocks(page):
    return re.sub(r"^ *```.*?^ *```", "", page, flags=re.MULTILINE | re.DOTALL)


def without_spans(text):
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", lambda span: "x" * len(span[0]), text)


def anchors(page):
    """What headings are called in links, as GitHub makes it of them."""
    found = {}
    for heading in re.findall(r"^#+ +(.*?) *$", without_blocks(page), flags=re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        again = found.get(name, 0)
        found[name] = again + 1
        if again:
            found[f"{name}-{again}"] = 1
    return found


def pages():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True)
    names = listed.stdout.decode().split("\0") if listed.returncode == 0 else []
    found = [ROOT / name for name in names if name and (ROOT / name).exists()]
    return found or [page for page in ROOT.rglob("*.md") if "build" not in page.relative_to(ROOT).parts]


def main():
    count, files, wrong = 0, 0, []
    for page in sorted(pages()):
        text = without_blocks(page.read_text())
        for file in FILE.findall(text):
            files += 1
            if not any((folder / file).exists() for folder in [page.parent, *(ROOT / folder for folder in FOLDERS)]):
                wrong.append(f"{page.relative_to(ROOT)}: `{file}`: there is no such file")
        for target in LINK.findall(without_spans(text)):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            path, _, anchor = target.partition("#")
            leads_to = (page.parent / path).resolve() if path else page
            name = page.relative_to(ROOT)
            if not leads_to.exists():
                wrong.append(f"{name}: {target}: there is no such file")
            elif anchor and leads_to.suffix == ".md" and anchor not in anchors(leads_to.read_text()):
                wrong.append(f"{name}: {target}: there is no such heading")
    for one in wrong:
        print(one)
    print(f"links: {count}, files: {files}, wrong: {len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
