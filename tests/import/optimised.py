"""C of a network, compiled as projects do, with all optimisations, for this processor: without a warning.

    optimised.py --tool NETWORK_TOOL --folder FOLDER --include FOLDER [OPTION...]
"""
import argparse
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "network"))
import networks  # noqa: E402


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--tool", required=True, type=pathlib.Path)
    arguments.add_argument("--folder", required=True, type=pathlib.Path)
    arguments.add_argument("--include", required=True, type=pathlib.Path)
    given, options = arguments.parse_known_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    name = "mobilenet_v1_025_96"
    networks.write(name, given.folder)
    subprocess.run([given.tool, "--c", given.folder, "net", given.folder / f"{name}.onnx"], check=True)
    subprocess.run(["gcc", "-std=c11", "-O3", "-march=native", *options, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", given.include, "-c",
                    given.folder / "net.c", "-o", given.folder / "net.o"], check=True)
    print("no warning")


if __name__ == "__main__":
    main()
