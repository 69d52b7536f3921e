#!/usr/bin/env python3
"""Builds the documentation as a site: the pages of the repository by MkDocs, and the reference of the headers by Doxygen.

    site.py OUT [--reports FOLDER]

OUT/html/index.html is the first page; it opens from the disk, and needs no network. OUT/stage holds what MkDocs reads. With --reports, the
report pages of FOLDER (*.html) become part of the site. Any warning of either tool is an error, and so is a link that leads nowhere or a page
that fetches something from elsewhere.

The pages stay as they are read on a forge. What differs there is translated here:
- a link to a source file leads to a page with that file, since a browser would save it;
- a link to a folder leads to its README.md, or to a page that lists what is in it;
- a list that follows a paragraph at once gets an empty line in front of it.
"""
import argparse
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LINK = re.compile(r"(?<=\]\()([^()\s]+)(?=\))")
PICTURES = {".svg", ".png"}
# The page that lists what lies in a folder without a README.md.
LISTED_BY = {"docs/reference": "docs/README.md", "examples": "docs/course.md", "docs": "docs/README.md"}
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".h": "c", ".c": "c", ".py": "python", ".sh": "sh", ".sbatch": "sh", ".cmake": "cmake", ".txt": "cmake",
             ".json": "json", ".toml": "toml"}
CODE = re.compile(r"^ *```.*?^ *```[^\S\n]*$|(`+)(?!`)[^\n]*?(?<!`)\1(?!`)", re.MULTILINE | re.DOTALL)

LIST = re.compile(r"(- |\d+\. )")


def versioned(pattern):
    """Files of the repository, without what is built in it."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", pattern], capture_output=True)
    if listed.returncode == 0:
        found = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        found = [file for file in ROOT.rglob(pattern) if "build" not in file.relative_to(ROOT).parts]
    return sorted(file for file in found if file.exists())


def outside_of_code(change, text):
    """`text` with `change` of all links that are not in code. A text of a link may have code in it."""
    code = [range(*span.span()) for span in CODE.finditer(text)]
    return LINK.sub(lambda link: link[0] if any(link.start() in span for span in code) else change(link[0]), text)


def with_lists(text):
    """`text` with an empty line in front of every list: MkDocs takes it as part of the paragraph otherwise."""
    code = [range(*span.span()) for span in CODE.finditer(text)]
    lines, at, before = [], 0, ""
    for line in text.split("\n"):
        in_code = any(at in span for span in code)
        if LIST.match(line) and not in_code and before.strip() and not LIST.match(before) and not before.startswith(" "):
            lines.append("")
        lines.append(line)
        at += len(line) + 1
        before = line
    return "\n".join(lines)


class Stage:
    """The folder that MkDocs reads: pages and pictures where they are in the repository, and a page for each source file that a page links."""

    def __init__(self, folder):
        self.folder = folder
        self.sources = {}  # file of the repository: its page on the stage

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def target_of(self, page, link):
        """Where a link of a page leads on the site, relative to the page."""
        if re.match(r"[a-z]+:|#", link):
            return link
        path, hash_mark, anchor = link.partition("#")
        file = (page.parent / path).resolve()
        name = file.relative_to(ROOT)
        if file.is_dir():
            to = self.listing(file, name)
        elif file.suffix == ".md":
            to = name
        elif file.suffix in PICTURES:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, self.folder / name)
            to = name
        else:
            to = self.source(file, name)
        return f"{self.link(page.relative_to(ROOT), to)}{hash_mark}{anchor}"

    def listing(self, folder, name):
        if (folder / "README.md").exists():
            return name / "README.md"
        if str(name) in LISTED_BY:
            return LISTED_BY[str(name)]
        to = pathlib.Path("sources") / name / "README.md"
        if folder not in self.sources:
            self.sources[folder] = to
            files = [file for file in sorted(folder.iterdir()) if file.is_file()]
            links = [f"- [{file.name}]({self.link(to, self.source(file, name / file.name))})" for file in files]
            self.write(to, "\n".join([f"# {name}", "", *links, ""]))
        return to

    @staticmethod
    def link(page, to):
        return "../" * (len(pathlib.Path(page).parts) - 1) + str(to)

    def source(self, file, name):
        to = pathlib.Path("sources") / f"{name}.md"
        if file not in self.sources:
            self.sources[file] = to
            text = file.read_text()
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
            self.write(to, f"# {name}\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{text.rstrip()}\n{fence}\n")
        return to

    def page(self, page):
        self.write(page.relative_to(ROOT), with_lists(outside_of_code(lambda link: self.target_of(page, link), page.read_text())))


def linked(page):
    """The pages that a page links, in its order."""
    found = []
    for link in LINK.findall(page.read_text()):
        file = (page.parent / link.partition("#")[0]).resolve()
        if file.suffix == ".md" and file.exists() and file not in found:
            found.append(file)
    return found


def navigation(pages):
    """The menu: each chapter has the pages of a folder, in the order in which the page that lists them names them."""
    taken = set()

    def take(names, listed_by=None):
        chosen = [page for page in pages if page not in taken and any(page.match(str(ROOT / name)) for name in names)]
        order = {page: at for at, page in enumerate(linked(ROOT / listed_by))} if listed_by else {}
        chosen.sort(key=lambda page: (order.get(page, len(order)), page))
        taken.update(chosen)
        return [str(page.relative_to(ROOT)) for page in chosen]

    home = take(["README.md"])
    menu = [
        {"Tilewright": home},
        {"Course": take(["docs/course.md"]) + take(["examples/*/*.md"], "docs/course.md")},
        {"Guides": take(["docs/README.md"]) + take(["docs/*.md"], "docs/README.md")},
        {"Reference": take(["docs/reference/*.md"], "docs/README.md")},
        {"Verdicts": take(["docs/diagnostics/README.md"]) + take(["docs/diagnostics/*.md"])},
        {"Design": take(["docs/design/README.md"]) + take(["docs/design/*.md"], "docs/design/README.md")},
        {"Project": take(["CONTRIBUTING.md", "CHANGELOG.md", "tests/*/README.md"])},
    ]
    left = [str(page.relative_to(ROOT)) for page in pages if page not in taken]
    if left:
        sys.exit(f"site.py: no chapter of the menu has {', '.join(left)}: name the folder in `navigation`")
    return menu


def run(*command, inputs=None):
    """Runs a tool that returns an error where it warns; says what it printed, then."""
    done = subprocess.run(command, input=inputs, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{command[0]} returned {done.returncode}:\n{done.stdout}")


class Html(html.parser.HTMLParser):
    """The names in a file that links lead to, its links, what a browser loads with it, and text that is still Markdown."""

    def __init__(self, file):
        super().__init__()
        self.names, self.links, self.loads, self.raw = set(), set(), set(), []
        self.within = []
        self.feed(file.read_text())

    def handle_endtag(self, tag):
        if tag in self.within:
            del self.within[len(self.within) - 1 - self.within[::-1].index(tag):]

    def handle_data(self, data):
        if "p" in self.within and not {"code", "pre", "script"} & set(self.within):
            self.raw += re.findall(r"^ *(?:- |\d+\. |\||```).*", data, re.MULTILINE)

    def handle_starttag(self, tag, attributes):
        self.within.append(tag)
        values = dict(attributes)
        self.names |= {values[name] for name in ("id", "name") if values.get(name)}
        if values.get("href"):
            (self.loads if tag == "link" and values.get("rel") in ("stylesheet", "icon", "preconnect") else self.links).add(values["href"])
        if values.get("src"):
            self.loads.add(values["src"])


def check(folder):
    """Every link leads to a file of the site, and to a name in it. The rest of linkchecker's work would take minutes: it reads a page again
    for each name that a link has."""
    read = {file: Html(file) for file in sorted(folder.rglob("*.html"))}
    wrong, count = [], 0
    for file, has in read.items():
        if file.name == "404.html":  # its links begin at the root of a server
            continue
        page = file.relative_to(folder)
        wrong += [f"{page}: loads {link} from elsewhere" for link in has.loads if re.match(r"(https?:)?//", link)]
        if "api" not in page.parts:
            wrong += [f"{page}: still Markdown: {line[:80]}" for line in has.raw]
        for link in sorted(has.links | has.loads):
            if re.match(r"[a-z]+:|//", link):
                continue
            count += 1
            path, _, name = urllib.parse.unquote(link).partition("#")
            to = (file.parent / path.partition("?")[0]).resolve() if path else file
            if not to.exists():
                wrong.append(f"{page}: {link}: there is no such file")
            elif name and to in read and name not in read[to].names:
                wrong.append(f"{page}: {link}: {to.name} has no such heading")
    if wrong:
        sys.exit("\n".join(wrong))
    return count


def main():
    arguments = argparse.ArgumentParser(description="Builds the documentation as a site.")
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--reports", type=pathlib.Path, help="folder of report pages that become part of the site")
    asked = arguments.parse_args()
    out = asked.out.resolve()
    stage = Stage(out / "stage")
    shutil.rmtree(stage.folder, ignore_errors=True)

    pages = [page for page in versioned("*.md") if page.parent != HERE and ".github" not in page.parts]
    for page in pages:
        stage.page(page)
    menu = navigation(pages)

    api = stage.folder / "api"
    api.mkdir(parents=True)
    run("doxygen", "-", inputs=f"""@INCLUDE = "{HERE}/Doxyfile"
INPUT = "{ROOT}/include/tilewright" "{HERE}/api.md"
USE_MDFILE_AS_MAINPAGE = "{HERE}/api.md"
STRIP_FROM_PATH = "{ROOT}/include"
STRIP_FROM_INC_PATH = "{ROOT}/include"
OUTPUT_DIRECTORY = "{api}"
""")
    shutil.copyfile(HERE / "site.css", stage.folder / "site.css")
    menu[3]["Reference"].append({"Headers": "api/index.html"})

    reports = sorted(asked.reports.glob("*.html")) if asked.reports else []
    if asked.reports and not reports:
        sys.exit(f"site.py: {asked.reports} has no report page (*.html)")
    for report in reports:
        (stage.folder / "reports").mkdir(exist_ok=True)
        shutil.copyfile(report, stage.folder / "reports" / report.name)
    if reports:
        menu[1]["Course"].append({"Reports of lessons": [{report.stem: f"reports/{report.name}"} for report in reports]})

    settings = yaml.safe_load((HERE / "mkdocs.yml").read_text())
    settings |= {"docs_dir": str(stage.folder), "site_dir": str(out / "html"), "nav": menu}
    (out / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False))
    run("mkdocs", "build", "--strict", "--clean", "--config-file", str(out / "mkdocs.yml"))
    count = check(out / "html")
    print(f"{out}/html/index.html: {len(pages)} pages, {len(stage.sources)} source files, {len(reports)} reports, the reference of the headers, "
          f"{count} links")


if __name__ == "__main__":
    main()
