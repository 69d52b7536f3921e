"""How large the C of networks is beside its object code: for this processor with -O3 and -Os, and for a chip, whose kernels call functions.

    c_size.py --tool NETWORK_TOOL --chip NETWORK_TOOL_OF_A_CHIP --digits FOLDER --folder FOLDER --include FOLDER [OPTION...]

The C for this processor has at most 5 bytes for each byte of object code. That for a chip, which is small, has at most so many where comments
and the spaces at the beginnings of lines are left out; with them, at most MOST_ON_CHIP.
"""
import argparse
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "network"))
import networks  # noqa: E402

MOST = 5
MOST_ON_CHIP = 7


def bare(text):
    """C without comments, and without spaces where lines begin."""
    return re.sub(r"^[ \t]+|\n\s*(?=\n)", "", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL), flags=re.MULTILINE)


def code_bytes(made):
    """The bytes of code and constants of an object: what `size` calls text."""
    lines = subprocess.run(["size", made], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return int(lines[1].split()[0])


def main():
    arguments = argparse.ArgumentParser()
    for name in ("tool", "chip", "digits", "folder", "include"):
        arguments.add_argument(f"--{name}", required=True, type=pathlib.Path)
    given, options = arguments.parse_known_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    networks.write("resnet_8_32", given.folder)
    networks.write("ds_cnn_49x10", given.folder)
    models = [given.folder / "resnet_8_32.onnx", given.folder / "ds_cnn_49x10.onnx", given.digits / "digits.tflite", given.digits / "digits.onnx"]
    wrong = []
    for tool, on, of in ((given.tool, "processor", models), (given.chip, "chip", models[2:3])):
        for number, model in enumerate(of):
            name = f"{on}_{number}"
            subprocess.run([tool, "--c", given.folder, name, model], check=True, stdout=subprocess.DEVNULL)
            source, made = given.folder / f"{name}.c", given.folder / f"{name}.o"
            text = source.read_text()
            for level in ("-O3", "-Os"):
                native = ["-march=native"] if on == "processor" else []
                subprocess.run(["gcc", "-std=c11", level, *native, *options, "-I", given.include, "-c", source, "-o", made], check=True)
                code = code_bytes(made)
                ratio, of_bare = len(text) / code, len(bare(text)) / code
                print(f"{model.name} on the {on}, {level}: {len(text)} bytes of C, {len(bare(text))} of them neither comments nor "
                      f"indentation; {code} of object code; {ratio:.2f} and {of_bare:.2f} times")
                too_large = ratio > MOST if on == "processor" else ratio > MOST_ON_CHIP or of_bare > MOST
                if too_large:
                    wrong.append(f"{model.name} on the {on}, {level}")
    if wrong:
        sys.exit(f"too much C: {', '.join(wrong)}")
    print("the C is as small as it should be")


if __name__ == "__main__":
    main()
