#!/usr/bin/env python3
"""Instructions of generated products of bytes for AArch64 and for RISC-V with vectors of 128 bits, beside plain C at -O3.

QEMU runs both, and a plugin counts: the same number each time. Instructions are no seconds. Results are compared bit by bit as they are
computed; one that differs makes the run fail.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRODUCTS = {"square": "int8 64 x 64 x 64", "layer": "uint8 by int8, 196 x 150 x 300"}
WAYS = ("by_sums", "by_rows", "ours")


def build(folder):
    configuration = ["-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release", "-D", "CMAKE_COMPILE_WARNING_AS_ERROR=ON",
                     "-D", "TILEWRIGHT_BUILD_TESTS=OFF", "-D", "TILEWRIGHT_BUILD_EXAMPLES=OFF"]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *configuration], check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", folder, "--target", "bench_foreign"], check=True, stdout=sys.stderr)


def measured(command):
    """Instructions by product and way."""
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    if run.returncode != 0:
        sys.exit(run.stdout + run.stderr)
    marks = {int(number): int(count) for number, count in re.findall(r"^mark (\d+) at (\d+)$", run.stderr, re.MULTILINE)}
    names = re.findall(r"^(\d+): (\w+) (\w+)$", run.stdout, re.MULTILINE)
    return {(product, way): marks[2 * int(at) + 1] - marks[2 * int(at)] for at, product, way in names}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/bench", help="the folder to build in")
    folder = parser.parse_args().build
    build(folder)

    print(f"\n{'':<52}" + "".join(f"{way:>12}" for way in WAYS) + f"{'ours/plain':>12}")
    last = "foreign:"
    for processor in ("aarch64", "riscv64"):
        found = measured((folder / f"bench/foreign/{processor}.txt").read_text().split("\n")[:-1])
        ratios = []
        for product, shape in PRODUCTS.items():
            # Plain C is the loops of which the compiler makes less.
            ratios.append(found[product, "ours"] / min(found[product, "by_sums"], found[product, "by_rows"]))
            print(f"{processor + ', ' + shape:<52}" + "".join(f"{found[product, way]:>12}" for way in WAYS) + f"{ratios[-1]:>12.3f}")
        last += f" {processor}={max(ratios):.3f}"
    # Of several products, the one that does worst. Below 1, the generated code takes less.
    print("\n" + last)


if __name__ == "__main__":
    main()
