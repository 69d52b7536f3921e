"""What headers of the library include, as scripts about them read it."""
import pathlib
import re

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"


def included(header):
    """The names that a header includes, in their order: those of the library begin with "tilewright/"."""
    return re.findall(r"^ *# *include <([^>]+)>", header.read_text(), re.MULTILINE)


def included_always(header):
    """Those of them that it includes whatever is defined: not inside of #if."""
    names, conditions = [], 0
    for line in header.read_text().splitlines():
        if re.match(r"\s*#\s*if", line):
            conditions += 1
        elif re.match(r"\s*#\s*endif", line):
            conditions -= 1
        elif conditions == 0 and (found := re.match(r"\s*#\s*include\s*<([^>]+)>", line)):
            names.append(found[1])
    return names


def graph(include=INCLUDE):
    """Of each C++ header, by the name under which it is included, what it includes."""
    return {path.relative_to(include).as_posix(): included(path) for path in sorted(include.rglob("*.hpp"))}


def reached(header, edges, known):
    """All names that a header includes, itself or through headers of the library; `known` keeps the answers."""
    if header not in known:
        known[header] = set()  # of headers that include each other
        for one in edges.get(header, ()):
            known[header] |= {one} | reached(one, edges, known)
    return known[header]
