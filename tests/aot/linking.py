"""What a linker lacks, as docs/diagnostics/mistakes.md lists it: the kernel, functions of the machine, the code of the kernel, Halide's runtime.
The header of the kernel has the prototypes of the functions of the machine: bodies behind them are all that is missing.

    linking.py COMPILER PAGE HEADER KERNEL FUNCTION,… LIBRARY CODE RUNTIME [FLAG…]

The libraries are those of the kernel's target; the flags find the headers that HEADER includes.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

SECTION = "What the device provides"


def undefined(command):
    """The functions that a linker lacks."""
    done = subprocess.run(command, capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    return done.returncode, set(re.findall(r"undefined reference to [`'](\w+)'", done.stderr)), done.stderr


def listed(page):
    """The first column of the table of mistakes when linking, of names that stand for what is missing."""
    section = page.split("## When linking", 1)[1]
    return re.findall(r"^\| [^|]*`([\w…]+)`[^|]*\|", section, re.MULTILINE)


def main():
    compiler, page, header, kernel, functions, library, code, runtime, *flags = sys.argv[1:]
    functions = set(functions.split(","))
    text = pathlib.Path(header).read_text()
    wrong = []

    def expect(what, found, wanted):
        if found != wanted:
            wrong.append(f"{what}: {found}\ninstead of {wanted}")

    with tempfile.TemporaryDirectory() as folder:
        source, device = pathlib.Path(folder) / "main.cpp", pathlib.Path(folder) / "device.c"
        source.write_text(f'#include "{header}"\nint main() {{ return {kernel}(nullptr, nullptr, nullptr) == '
                          "TILEWRIGHT_ARGUMENT_ERROR(TILEWRIGHT_NULL_BUFFER, 0) ? 0 : 1; }\n")
        compiled, program = f"{folder}/main.o", f"{folder}/main"
        subprocess.run([compiler, "-std=c++20", *flags, "-c", source, "-o", compiled], check=True)
        link = [compiler, compiled, "-o", program]
        end = ["-ldl", "-lpthread"]
        expect("without the kernel", undefined(link)[1], {kernel})
        expect("with its library alone", undefined([*link, library])[1], {f"{kernel}_unchecked", f"{kernel}_unchecked_metadata"})
        expect("without the functions of the machine", undefined([*link, library, code, runtime, *end])[1], functions)
        of_runtime = undefined([*link, library, code, *end])[1] - functions
        expect("without the runtime", {name[:7] for name in of_runtime}, {"halide_"})

        # To copy: the prototypes, with bodies.
        provided = text.split(SECTION, 1)[1]
        prototypes = re.findall(r"^int \w+\([^;]*\);", provided, re.MULTILINE)
        expect("prototypes", {re.match(r"int (\w+)", one)[1] for one in prototypes}, functions)
        bodies = "\n".join(one.removesuffix(";") + " { return 0; }" for one in prototypes)
        device.write_text(f'#include "{header}"\n{bodies}\n')
        subprocess.run([compiler, *flags, "-Wall", "-Werror", "-x", "c", "-c", device, "-o", f"{folder}/device.o"], check=True)
        done = undefined([*link, f"{folder}/device.o", library, code, runtime, *end])
        expect("with bodies", done, (0, set(), ""))
        if done[0] == 0:
            expect("the program", subprocess.run([program]).returncode, 0)

        # In C++, a function that does not see its prototype is another one.
        device.write_text(f"#include <stdint.h>\n{bodies}\n")
        subprocess.run([compiler, "-x", "c++", "-c", device, "-o", f"{folder}/device.o"], check=True)
        expect("with functions of C++", undefined([*link, f"{folder}/device.o", library, code, runtime, *end])[1], functions)

    page = pathlib.Path(page).read_text()
    expect("the page", listed(page), ["matmul", "mvin", "matmul_unchecked", "halide_…"])
    expect("the section in the page", SECTION in page.split("## When linking", 1)[1], True)
    print("\n".join(wrong) or "all that a linker lacks is as the page says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
