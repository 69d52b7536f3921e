#!/usr/bin/env python3
"""Instructions of the generated kernels of lesson 12 on its board, beside plain C at -O3 and loops by hand with __smlad.

QEMU counts them, to the digit. Results are compared bit by bit as they are computed; one that differs makes the run fail.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = {"matmul": "int8 64 x 64 x 64", "conv2d": "int8 3 x 3, 16 to 16 channels, 16 x 16", "network": "of lesson 09, one digit"}
WAYS = ("plain", "hand", "ours")


def build(folder):
    configuration = ["-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release", "-D", "CMAKE_COMPILE_WARNING_AS_ERROR=ON",
                     "-D", "TILEWRIGHT_BUILD_TESTS=OFF", "-D", "TILEWRIGHT_BUILD_EXAMPLES=OFF"]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *configuration], check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", folder, "--target", "bench_board"], check=True, stdout=sys.stderr)
    return (folder / "bench/board/command.txt").read_text().split("\n")[:-1]


def measured(command):
    """Instructions by kernel and way. Of the network, the most that a digit takes."""
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300)
    found = {}
    for line in run.stdout.splitlines():
        one = re.fullmatch(r"(\w+) (\w+): (\d+) instructions", line)
        if one:
            key = one[1], one[2]
            found[key] = max(found.get(key, 0), int(one[3]))
        else:
            print(line)
    if run.returncode != 0:
        sys.exit("results differ")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/bench", help="the folder to build in")
    found = measured(build(parser.parse_args().build))

    print(f"\n{'':<50}" + "".join(f"{way:>12}" for way in WAYS) + f"{'ours/plain':>12}{'ours/hand':>12}")
    against = {}
    for kernel, shape in KERNELS.items():
        row = f"{kernel + ', ' + shape:<50}" + "".join(f"{found.get((kernel, way), ''):>12}" for way in WAYS)
        for way in WAYS[:2]:
            if (kernel, way) in found:
                against[kernel, way] = found[kernel, "ours"] / found[kernel, way]
                row += f"{against[kernel, way]:>12.3f}"
        print(row)
    # Of the two kernels, the one that does worse. Below 1, the generated code takes less.
    results = {way: max(against["matmul", way], against["conv2d", way]) for way in ("plain", "hand")}
    results["network"] = against["network", "plain"]
    print("\nbars: plain 0.40, hand 1.03, network 0.5")
    print("board: " + " ".join(f"{key}={value:.3f}" for key, value in results.items()))


if __name__ == "__main__":
    main()
