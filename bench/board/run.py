#!/usr/bin/env python3
"""Instructions of the generated kernels of lesson 12 on its board, beside plain C at -O3 and loops by hand with __smlad.

QEMU counts them, the same number each time. Both cores have DSP instructions; of what they share, the later core counts. Results are
compared bit by bit as they are computed; one that differs makes the run fail.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = {"matmul": "int8 64 x 64 x 64", "conv2d": "int8 3 x 3, 16 to 16 channels, 16 x 16", "network": "of lesson 09, one digit"}
WAYS = ("plain", "hand", "ours", "both")


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

    print(f"\n{'':<50}" + "".join(f"{way:>12}" for way in WAYS) + f"{'ours/plain':>12}{'ours/hand':>12}{'both/ours':>12}")
    ratios = {name: [] for name in ("plain", "hand", "network", "two_cores")}
    for kernel, shape in KERNELS.items():
        row = f"{kernel + ', ' + shape:<50}" + "".join(f"{found.get((kernel, way), ''):>12}" for way in WAYS)
        for name, way, to in (("plain", "ours", "plain"), ("hand", "ours", "hand"), ("two_cores", "both", "ours")):
            if (kernel, to) not in found:
                row += " " * 12
                continue
            ratio = found[kernel, way] / found[kernel, to]
            row += f"{ratio:>12.3f}"
            ratios[kernel if kernel == "network" and name == "plain" else name].append(ratio)
        print(row)
    # Of several kernels, the one that does worst. Below 1, the generated code takes less, or both cores do.
    print("\nbars: plain 0.40, hand 1.03, network 0.5, two_cores 0.55")
    print("board: " + " ".join(f"{name}={max(all_of):.3f}" for name, all_of in ratios.items()))


if __name__ == "__main__":
    main()
