"""C of networks, compiled as projects do, with all optimisations, for this processor: without a warning, kernels that ask for it stay
functions of their own, and loops with exponentials become vectors in the network that has long ones.

    optimised.py --tool NETWORK_TOOL --folder FOLDER --include FOLDER [OPTION...]
"""
import argparse
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "network"))
import networks  # noqa: E402


def scalar_loops(source, said):
    """Lines of the loops of `source` with an exponential, and those of them that gcc made no vectors of. `said`: what -fopt-info-vec tells."""
    lines = source.read_text().splitlines()
    loops = set()
    for number, line in enumerate(lines, 1):
        if " * tilewright_of_bits_float((" in line:
            loops.add(max(at for at in range(1, number) if lines[at - 1].lstrip().startswith("for (")))
    vectors = {int(at) for at in re.findall(rf"{source.name}:(\d+):\d+: optimized: loop vectorized", said)}
    return loops, loops - vectors


def taken_in(source, made):
    """Kernels of `source` that ask to be functions of their own, and are none in the object `made`, or of which gcc made another one."""
    wanted = set(re.findall(r"^TILEWRIGHT_ALONE static int (\w+_steps)\(", source.read_text(), re.MULTILINE))
    if len(wanted) < 5:
        sys.exit(f"{source}: only {len(wanted)} kernels are functions of their own")
    symbols = subprocess.run(["nm", made], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = re.findall(r" t (\w+_steps)(\S*)$", symbols, re.MULTILINE)
    return sorted((wanted - {name for name, _ in found}) | {name + clone for name, clone in found if clone and name in wanted})


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--tool", required=True, type=pathlib.Path)
    arguments.add_argument("--folder", required=True, type=pathlib.Path)
    arguments.add_argument("--include", required=True, type=pathlib.Path)
    given, options = arguments.parse_known_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in ("mobilenet_v1_025_96", "transformer_128x256"):
        networks.write(name, given.folder)
        subprocess.run([given.tool, "--c", given.folder, name, given.folder / f"{name}.onnx"], check=True)
        source = given.folder / f"{name}.c"
        said = subprocess.run(["gcc", "-std=c11", "-O3", "-march=native", *options, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                               "-fopt-info-vec", "-I", given.include, "-c", source, "-o", given.folder / f"{name}.o"],
                              check=True, stderr=subprocess.PIPE, text=True).stderr
        if others := taken_in(source, given.folder / f"{name}.o"):
            sys.exit(f"{source}: steps that are no functions of their own: {others}")
        loops, scalar = scalar_loops(source, said)
        # The other has a softmax of two elements.
        if name.startswith("transformer") and (scalar or len(loops) < 2):
            sys.exit(f"{source}: loops with exponentials at lines {sorted(loops)}, no vectors at {sorted(scalar)}")
    print("no warning, and loops with exponentials are vectors")


if __name__ == "__main__":
    main()
