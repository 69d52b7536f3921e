"""Networks that keep something from one run to the next, as C, against NumPy; and what the tool says when it checks them.

    states.py --tool NETWORK_TOOL --folder FOLDER [--onnxruntime LIBRARY]
"""
import argparse
import ctypes
import pathlib
import re
import subprocess

import numpy as np
from onnx import helper

import values

RANDOM = np.random.default_rng(7)


def drawn(*shape):
    return (RANDOM.standard_normal(shape) * 0.3).astype(np.float32)


def recurrent():
    """A cell whose new state needs all of the old one: a copy is made at the end."""
    constants = {"w": drawn(8, 16), "u": drawn(16, 16), "v": drawn(16, 3)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("MatMul", ["h", "u"], ["b"]),
             helper.make_node("Add", ["a", "b"], ["s"]), helper.make_node("Tanh", ["s"], ["h_next"]),
             helper.make_node("MatMul", ["h_next", "v"], ["y"])]

    def step(x, h):
        h = np.tanh(x @ constants["w"] + h @ constants["u"])
        return h @ constants["v"], h
    return nodes, constants, (1, 8), (1, 16), (1, 3), ("h", "h_next"), step


def streaming():
    """A convolution over the last six of all inputs, which shift."""
    constants = {"k": drawn(5, 4, 6), "one": np.array([1]), "end": np.array([6]), "axis": np.array([2])}
    nodes = [helper.make_node("Slice", ["past", "one", "end", "axis"], ["tail"]),
             helper.make_node("Concat", ["tail", "x"], ["past_next"], axis=2), helper.make_node("Conv", ["past_next", "k"], ["y"])]

    def step(x, past):
        past = np.concatenate([past[:, :, 1:], x], axis=2)
        return np.einsum("oct,bct->bo", constants["k"], past)[:, :, None], past
    return nodes, constants, (1, 4, 1), (1, 4, 6), (1, 5, 1), ("past", "past_next"), step


def averaging():
    """Each element by itself: it is written where it was."""
    constants = {"half": np.array([0.5], np.float32)}
    nodes = [helper.make_node("Mul", ["mean", "half"], ["less"]), helper.make_node("Add", ["less", "x"], ["mean_next"]),
             helper.make_node("Relu", ["mean_next"], ["y"])]

    def step(x, mean):
        mean = mean * np.float32(0.5) + x
        return np.maximum(mean, 0), mean
    return nodes, constants, (1, 8), (1, 8), (1, 8), ("mean", "mean_next"), step


def check_runs(tool, folder, case):
    nodes, constants, x_shape, state_shape, y_shape, (before, after), step = case()
    zeros = [np.zeros(shape, np.float32) for shape in (x_shape, state_shape, y_shape)]
    model = values.model_of(nodes, {"x": zeros[0], before: zeros[1]}, {"y": np.float32, after: np.float32}, constants, 13)
    network = values.Library(tool, folder, model, 1, 1, ["--state", f"{before}={after}"])
    offset = [re.search(rf"TILEWRIGHT_net_{name}_OFFSET (\d+)", network.header)[1] for name in (before, after)]
    assert offset[0] == offset[1], offset
    state = drawn(*state_shape)
    ctypes.memmove(network.arena + int(offset[0]), state.ctypes.data, state.nbytes)
    for _ in range(5):
        x, y = drawn(*x_shape), zeros[2].copy()
        network([x], [y])
        expected, state = step(x, state)
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)
        kept = np.frombuffer(ctypes.string_at(network.arena + int(offset[0]), state.nbytes), np.float32).reshape(state_shape)
        np.testing.assert_allclose(kept, state, rtol=1e-5, atol=1e-6)
    return folder / "model.onnx"


def said_by(tool, *arguments, fails=False):
    done = subprocess.run([tool, *arguments], capture_output=True, text=True)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


def check_tool(tool, folder, model, library):
    """The recurrent network: `--check` on inputs that are drawn, and out of files; and bad input."""
    state = ["--state", "h=h_next"]
    for judge in ([], ["--onnxruntime", library]) if library else ([],):
        text = said_by(tool, "--check", model, *state, *judge)
        assert re.search(r"k\d+ +node 3 \(Tanh\) +h_next +16 +nearly equal", text), text
        assert text.endswith("3 of 5 results compared, 2 are parts of other kernels, 0 not checked: no difference\n"), text
    x, h = drawn(1, 8), drawn(1, 16)
    np.save(folder / "x.npy", x)
    (folder / "h.bin").write_bytes(h.tobytes())
    assert "no difference" in said_by(tool, "--check", model, folder / "x.npy", folder / "h.bin")
    np.save(folder / "flat.npy", x[0])
    np.save(folder / "wide.npy", x.astype(np.float64))
    for files, words in ((["flat.npy", "h.bin"], "flat.npy: these are not the elements of the input: '<f4' [8]; wanted: float32 [1, 8], 32 bytes"),
                         (["wide.npy", "h.bin"], "'<f8' [1,8]; wanted: float32"),
                         (["x.npy", "x.npy"], "'<f4' [1,8]; wanted: float32 [1, 16]"),
                         (["h.bin", "h.bin"], "64 bytes; wanted: float32 [1, 8], 32 bytes"),
                         (["x.npy", "none.bin"], "none.bin: the file cannot be read"),
                         (["x.npy"], "1 files are given, and the network has 2 inputs")):
        error = said_by(tool, "--check", model, *(folder / one for one in files), fails=True)
        assert words in error and error.count("\n") == 1, error
    for option, words in (("h=g", "state `h=g`: no output is called `g`; there is `y`, `h_next`"),
                          ("g=y", "state `g=y`: no input is called `g`; there is `x`, `h`"),
                          ("h=y", "state `h=y`: float 16 is read, float 3 is written"), ("h", "--state h: INPUT=OUTPUT is wanted")):
        error = said_by(tool, "--layers", model, "--state", option, fails=True)
        assert words in error and error.count("\n") == 1, error


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--tool", required=True, type=pathlib.Path)
    arguments.add_argument("--folder", required=True, type=pathlib.Path)
    arguments.add_argument("--onnxruntime", type=pathlib.Path)
    given = arguments.parse_args()
    models = [check_runs(given.tool, given.folder / case.__name__, case) for case in (recurrent, streaming, averaging)]
    check_tool(given.tool, given.folder, models[0], given.onnxruntime)
    for model, state in zip(models[1:], ("past=past_next", "mean=mean_next")):
        assert "no difference" in said_by(given.tool, "--check", model, "--state", state)
    print(f"{len(models)} networks keep their states")


if __name__ == "__main__":
    main()
