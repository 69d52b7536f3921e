#!/usr/bin/env python3
"""What can be checked of the packages without vcpkg, Conan and GitHub: their files parse, name the version of the library and things that are
there, and hold what CMake installs.

    packaging.py FILE…    the names of the files that CMake installs beside its configuration
"""
import ast
import fnmatch
import json
import pathlib
import re
import shutil
import sys
import tempfile
import types

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "cmake/packaging"
VERSION = ".".join(re.findall(r"^#define TILEWRIGHT_VERSION_\w+ (\d+)$", (ROOT / "include/tilewright/version.hpp").read_text(), re.MULTILINE))


def check(holds, what):
    if not holds:
        sys.exit(f"wrong: {what}")


def syntax():
    for file in [*PACKAGING.rglob("*.py"), *(ROOT / "cmake").glob("*.py")]:
        ast.parse(file.read_text(), file)
    for file in PACKAGING.rglob("*.json"):
        json.loads(file.read_text())


def vcpkg():
    port = PACKAGING / "vcpkg/tilewright"
    manifest = json.loads((port / "vcpkg.json").read_text())
    check(manifest["name"] == port.name, "a port has the name of its folder")
    check(manifest["version"] == VERSION, f"vcpkg.json has version {manifest['version']}, the library {VERSION}")
    check(manifest["license"] == "Apache-2.0" and manifest["description"], "license and description")
    check("boost-hana" in manifest["dependencies"], "boost-hana")
    portfile = (port / "portfile.cmake").read_text()
    clone = re.search(r'"\$\{CMAKE_CURRENT_LIST_DIR\}/([./]+)"', portfile)
    check((port / clone[1]).resolve() == ROOT, "the port lies in a clone")
    for option in re.findall(r"-D(\w+)=", portfile):
        check(f"option({option} " in (ROOT / "CMakeLists.txt").read_text(), f"{option} is no option of CMakeLists.txt")
    check((port / "usage").exists(), "usage")


def conan_modules():
    """Just enough of Conan to run the recipe: its functions load and copy, and empty ones for the rest."""
    def copy(recipe, pattern, src, dst):
        src, dst = pathlib.Path(src), pathlib.Path(dst)
        for file in src.rglob("*"):
            name = file.relative_to(src).as_posix()
            if file.is_file() and fnmatch.fnmatch(name, pattern):
                (dst / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, dst / name)

    names = {"conan": {"ConanFile": object}, "conan.tools": {}, "conan.tools.build": {"check_min_cppstd": None},
             "conan.tools.files": {"copy": copy, "load": lambda recipe, path: pathlib.Path(path).read_text()},
             "conan.tools.layout": {"basic_layout": None}}
    for name, members in names.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)


def conan(installed):
    conan_modules()
    sys.path.insert(0, str(PACKAGING / "conan"))
    import conanfile
    recipe = conanfile.TilewrightConan()
    recipe.recipe_folder = str(PACKAGING / "conan")
    recipe.set_version()
    check(recipe.name == "tilewright" and recipe.version == VERSION, f"Conan has version {recipe.version}, the library {VERSION}")
    with tempfile.TemporaryDirectory() as folder:
        recipe.export_sources_folder = recipe.source_folder = f"{folder}/source"
        recipe.package_folder = f"{folder}/package"
        recipe.export_sources()
        recipe.package()
        package = pathlib.Path(folder) / "package"
        packaged = {file.relative_to(package).as_posix() for file in package.rglob("*") if file.is_file()}
    headers = {file.relative_to(ROOT).as_posix() for file in (ROOT / "include").rglob("*") if file.is_file()}
    expected = headers | {f"share/cmake/tilewright/{name}" for name in installed} | {"licenses/LICENSE"}
    check(packaged == expected, f"Conan and CMake disagree about {sorted(packaged ^ expected)}")


def github():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    for job in workflow["jobs"].values():
        check(job["container"] == "debian:12", "the container")
        runs = [step.get("run", "").split(" ")[0] for step in job["steps"]]
        check(".ci/run" in runs and (ROOT / ".ci/run").stat().st_mode & 0o111, ".ci/run is run")
    for name, needed in (("bug_report", {"machine", "schedule", "message", "compiler"}), ("feature_request", {"goal"})):
        form = yaml.safe_load((ROOT / f".github/ISSUE_TEMPLATE/{name}.yml").read_text())
        asked = {field["id"] for field in form["body"] if field.get("validations", {}).get("required")}
        check(form["name"] and form["description"] and asked >= needed, f"{name} asks for {asked}")
    check((ROOT / ".github/SECURITY.md").exists(), "SECURITY.md")


def newest_version(page):
    """The version of the first section of a changelog that is released; before that, the one that its introduction names."""
    found = re.search(r"^## \[(\d+\.\d+\.\d+)\]", page, re.MULTILINE) or re.search(r"the version in the headers is (\d+\.\d+\.\d+)", page)
    return found and found[1]


def changelog():
    """keepachangelog.com: what is not released comes first, then each version with its day, newest first; changes stand under six kinds."""
    page = (ROOT / "CHANGELOG.md").read_text()
    sections = re.findall(r"^## (.*)$", page, re.MULTILINE)
    check(page.startswith("# Changelog\n") and sections[0] == "[Unreleased]", f"the changelog begins with {sections[0]}")
    for section in sections[1:]:
        check(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", section), f"the changelog has a section {section}")
    newest = newest_version(page)
    check(newest == VERSION, f"the newest version of the changelog is {newest}, that of the library {VERSION}")
    made = "## [Unreleased]\n\n{}### Added\n\n## [1.10.0] - 2026-02-01\n\n## [1.9.2] - 2026-01-01\n"
    check(newest_version(made.format("")) == newest_version(made.format("the version in the headers is 1.9.2\n")) == "1.10.0",
          "the newest version is that of the first section that is released")
    numbers = [tuple(map(int, one)) for one in re.findall(r"^## \[(\d+)\.(\d+)\.(\d+)\]", page, re.MULTILINE)]
    check(numbers == sorted(set(numbers), reverse=True), f"the versions of the changelog are not in order: {numbers}")
    kinds = set(re.findall(r"^### (.*)$", page, re.MULTILINE))
    check(kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}, f"the changelog has {kinds}")


syntax()
vcpkg()
conan(sys.argv[1:])
github()
changelog()
print(f"packaging: version {VERSION} everywhere")
