"""Networks of ONNX that this file makes, as C, against values of Python's own functions: what the tests of the ONNX project leave out.

    values.py --tool NETWORK_TOOL --folder FOLDER
"""
import argparse
import ctypes
import math
import pathlib
import re
import subprocess

import numpy as np
from onnx import TensorProto, helper, numpy_helper

KINDS = {np.dtype(name): getattr(TensorProto, kind)
         for name, kind in (("int8", "INT8"), ("uint8", "UINT8"), ("int32", "INT32"), ("int64", "INT64"), ("float32", "FLOAT"),
                            ("float64", "DOUBLE"))}


def model_of(nodes, inputs, outputs, constants, version):
    """A model; inputs and constants are arrays by name, outputs are names with their types."""
    graph = helper.make_graph(
        nodes, "test", [helper.make_tensor_value_info(name, KINDS[one.dtype], one.shape) for name, one in inputs.items()],
        [helper.make_tensor_value_info(name, KINDS[np.dtype(kind)], None) for name, kind in outputs.items()],
        [numpy_helper.from_array(one, name) for name, one in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])


class Library:
    """A network as compiled C: a model of ONNX, or the bytes of one of TensorFlow Lite. All inputs must be read, in the order of the model;
    options go to the tool."""

    def __init__(self, tool, folder, model, inputs, outputs, options=()):
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / ("model.tflite" if isinstance(model, bytes) else "model.onnx")
        file.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
        said = subprocess.run([tool, "--c", folder, "net", file, *options], capture_output=True, text=True)
        if said.returncode != 0:
            raise AssertionError(said.stderr)
        self.header = (folder / "net.h").read_text()
        lines = ['#include "net.h"', "int call(void *const *in, void *const *out, void *arena) {", "    (void)in; (void)out; (void)arena;"]
        arguments = [f"in[{at}]" for at in range(inputs)] + [f"out[{at}]" for at in range(outputs)]
        if "struct net_memories" in self.header:
            lines.append("    struct net_memories memories = {0};")
            if re.search(r"\*arena;", self.header):
                lines.append("    memories.arena = arena;")
            if re.search(r"\*weights;", self.header):
                lines.append("    memories.weights = (void *)net_weights_image;")
            arguments.append("&memories")
        lines += [f"    return net({', '.join(arguments)});", "}"]
        (folder / "call.c").write_text("\n".join(lines) + "\n")
        sources = [one for one in (folder / "net.c", folder / "net_weights.c", folder / "call.c") if one.exists()]
        include = pathlib.Path(__file__).parents[2] / "include"
        subprocess.run(["gcc", "-std=c11", "-O1", "-fPIC", "-shared", "-I", include, f"-Wa,-I,{folder}", "-o", folder / "net.so", *sources,
                        "-lm"], check=True)
        self.function = ctypes.CDLL(str(folder / "net.so")).call
        arena = re.search(r"net_arena_BYTES (\d+)", self.header)
        self.room = ctypes.create_string_buffer((int(arena[1]) if arena else 0) + 64)
        at = ctypes.addressof(self.room)
        self.arena = at + (64 - at % 64) % 64

    def __call__(self, inputs, outputs):
        """Fills arrays with the outputs."""
        pointers = [(ctypes.c_void_p * max(1, len(all)))(*(one.ctypes.data for one in all)) for all in (inputs, outputs)]
        code = self.function(*pointers, ctypes.c_void_p(self.arena))
        assert code == 0, f"code {code}"


def run(tool, folder, model, inputs, outputs):
    """What the generated C gives, and its header."""
    library = Library(tool, folder, model, len(inputs), len(outputs))
    given, made = [np.ascontiguousarray(one) for one in inputs], [np.zeros(one.shape, one.dtype) for one in outputs]
    library(given, made)
    return made, library.header


CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


def single(operator, inputs, expected, constants=None, version=17, **settings):
    """One node: operands are inputs, then constants."""
    constants = constants or {}
    node = helper.make_node(operator, [*inputs, *constants], ["result"], **settings)
    return [node], inputs, {"result": expected}, constants, version


def each(function, x):
    return np.array([function(float(one)) for one in x.ravel()], np.float32).reshape(x.shape)


SPREAD = np.array([-60, -11, -3.7, -1, -0.3, -1e-4, 0, 1e-6, 0.02, 0.7, 1, 2.5, 6, 20, 80], np.float32)


@case
def gelu():
    return single("Gelu", {"x": SPREAD}, each(lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))), SPREAD), version=20)


@case
def gelu_by_tanh():
    return single("Gelu", {"x": SPREAD},
                  each(lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), SPREAD), version=20,
                  approximate="tanh")


@case
def mish():
    return single("Mish", {"x": SPREAD}, each(lambda x: x * math.tanh(math.log1p(math.exp(x))), SPREAD), version=18)


@case
def soft_plus():
    return single("Softplus", {"x": SPREAD}, each(lambda x: math.log1p(math.exp(x)), SPREAD))


@case
def error_function():
    x = np.linspace(-5, 5, 401).astype(np.float32)
    return single("Erf", {"x": x}, each(math.erf, x))


@case
def logarithm():
    x = np.array([1e-44, 1e-39, 1e-10, 0.5, 0.99999, 1, 1.00001, 1.4142, 3, 1e20, 3e38, np.inf, 0, -1, np.nan], np.float32)
    expected = [math.log(one) if one > 0 else -math.inf if one == 0 else math.nan for one in x.tolist()]
    return single("Log", {"x": x}, np.array(expected, np.float32))


@case
def logarithm_of_doubles():
    x = np.array([5e-324, 1e-300, 0.5, 0.99999999, 1, 1.00001, 3, 1e300], np.float64)
    return single("Log", {"x": x}, np.log(x))


ANGLES = np.array([-1e6, -1234.5, -4, -3.14159, -1.6, -0.8, -1e-5, 0, 0.5, 0.7853982, 1.5707, 2, 3, 100, 65536, 9e8], np.float32)


@case
def sine():
    return single("Sin", {"x": ANGLES}, each(math.sin, ANGLES))


@case
def cosine():
    return single("Cos", {"x": ANGLES}, each(math.cos, ANGLES))


@case
def tangent():
    return single("Tan", {"x": ANGLES}, each(math.tan, ANGLES))


@case
def a_sine_beyond_all_digits_is_no_number():
    return single("Sin", {"x": np.array([2e9, np.inf, np.nan], np.float32)}, np.full(3, np.nan, np.float32))


@case
def arc_functions_at_their_ends():
    x = np.array([-1, -0.99999, -0.5, 0, 1e-6, 0.7, 0.9999, 1, 1.5], np.float32)
    return single("Acos", {"x": x}, np.array([math.acos(one) if abs(one) <= 1 else math.nan for one in x.tolist()], np.float32))


@case
def powers():
    pairs = [(2, 0.5), (-2, 3), (-2, 2), (-2, 0.5), (0, 2), (0, 0), (0, -1), (1, math.inf), (10, -20), (1.0001, 10000), (7, 30), (-1, 1e10),
             (math.nan, 0), (math.nan, 1), (math.inf, -1), (2, math.inf), (0.5, math.inf)]
    x, y = (np.array(one, np.float32) for one in zip(*pairs))
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    return single("Pow", {"x": x, "y": y}, expected)


@case
def powers_of_integers():
    pairs = [(3, 13), (-3, 13), (-3, 4), (2, 62), (7, 0), (1, -5), (-1, -5), (-1, 101), (5, -1), (10, 18)]
    x, y = (np.array(one, np.int64) for one in zip(*pairs))
    return single("Pow", {"x": x, "y": y}, np.array([int(float(a)**b) if b < 0 else a**b for a, b in pairs], np.int64))


@case
def remainders_of_far_floats():
    pairs = [(1e38, 3), (-1e38, 7e-3), (5.3, -2), (1e-40, 1e-44), (3, np.inf), (6, 0), (np.inf, 2), (12, 4), (16777216, 3), (1e30, 1e-30)]
    x, y = (np.array(one, np.float32) for one in zip(*pairs))
    with np.errstate(all="ignore"):
        return single("Mod", {"x": x, "y": y}, np.fmod(x, y), fmod=1)


@case
def quotients_of_integers():
    pairs = [(7, 2), (-7, 2), (7, -2), (-7, -2), (-8, 2), (0, -3), (2**31 - 1, -1), (-2**31 + 1, 2)]
    x, y = (np.array(one, np.int32) for one in zip(*pairs))
    return single("Div", {"x": x, "y": y}, np.array([int(a / b) for a, b in pairs], np.int32))


@case
def a_shape_that_the_model_works_out():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    nodes = [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("Gather", ["shape", "zero"], ["first"]),
             helper.make_node("Mul", ["first", "three"], ["rows"]), helper.make_node("Unsqueeze", ["rows", "zero_list"], ["list"]),
             helper.make_node("Concat", ["list", "rest"], ["to"], axis=0), helper.make_node("Reshape", ["x", "to"], ["result"])]
    constants = {"zero": np.array(0), "three": np.array(3), "zero_list": np.array([0]), "rest": np.array([-1, 2])}
    return nodes, {"x": x}, {"result": x.reshape(6, -1, 2)}, constants, 17


@case
def reshapes_that_need_copies():
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    nodes = [helper.make_node("Transpose", ["x"], ["turned"], perm=[2, 0, 1]), helper.make_node("Add", ["turned", "turned"], ["twice"]),
             helper.make_node("Reshape", ["twice", "to"], ["result"])]
    return nodes, {"x": x}, {"result": (2 * x.transpose(2, 0, 1)).reshape(3, 8)}, {"to": np.array([3, 8])}, 17


@case
def operands_that_are_reshaped_in_two_ways():
    a, b = np.arange(12, dtype=np.int32).reshape(3, 4), np.arange(12, dtype=np.int32).reshape(2, 6) * 7
    nodes = [helper.make_node("Reshape", ["a", "flat"], ["x"]), helper.make_node("Reshape", ["b", "flat"], ["y"]),
             helper.make_node("Sub", ["x", "y"], ["result"])]
    return nodes, {"a": a, "b": b}, {"result": a.ravel() - b.ravel()}, {"flat": np.array([12])}, 17


@case
def a_slice_across_joined_dimensions():
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    nodes = [helper.make_node("Reshape", ["x", "flat"], ["y"]),
             helper.make_node("Slice", ["y", "begin", "end", "axis", "step"], ["result"])]
    constants = {"flat": np.array([12]), "begin": np.array([1]), "end": np.array([12]), "axis": np.array([0]), "step": np.array([3])}
    return nodes, {"x": x}, {"result": x.ravel()[1:12:3]}, constants, 17


@case
def padding_by_the_other_end():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    node = helper.make_node("Pad", ["x", "pads", "", "axes"], ["result"], mode="wrap")
    return [node], {"x": x}, {"result": np.pad(x, ((0, 0), (2, 1)), "wrap")}, {"pads": np.array([2, 1]), "axes": np.array([-1])}, 19


@case
def indices_that_are_computed():
    x, at = np.arange(12, dtype=np.float32).reshape(4, 3), np.array([[3, -1, 0], [2, 2, 1]], np.int32)
    return single("Gather", {"x": x, "at": at}, x[at])


@case
def the_last_of_several_updates_stays():
    x = np.zeros(4, np.float32)
    expected = np.array([0, 3, 0, 2], np.float32)
    return single("ScatterElements", {"x": x, "at": np.array([1, 3, 1]), "news": np.array([1, 2, 3], np.float32)}, expected, version=16)


def transposed_convolution(x, w, stride, dilation, group, before, after):
    size = [(x.shape[at + 2] - 1) * stride[at] + (w.shape[at + 2] - 1) * dilation[at] + 1 for at in (0, 1)]
    members, channels = w.shape[1], x.shape[1] // group
    made = np.zeros((x.shape[0], members * group, *size), np.float64)
    for n, c, h, v in np.ndindex(*x.shape):
        for m, i, j in np.ndindex(*w.shape[1:]):
            at = h * stride[0] + i * dilation[0], v * stride[1] + j * dilation[1]
            made[n, c // channels * members + m, at[0], at[1]] += x[n, c, h, v] * w[c, m, i, j]
    return made[:, :, before[0]:size[0] - after[0], before[1]:size[1] - after[1]].astype(np.float32)


def drawn(*shape):
    return np.random.default_rng(sum(shape)).integers(-4, 5, shape).astype(np.float32)


@case
def transposed_convolutions_of_groups():
    x, w = drawn(2, 4, 3, 4), drawn(4, 3, 3, 2)
    expected = transposed_convolution(x, w, (2, 3), (1, 2), 2, (1, 0), (0, 2))
    return single("ConvTranspose", {"x": x, "w": w}, expected, group=2, strides=[2, 3], dilations=[1, 2], pads=[1, 0, 0, 2])


@case
def transposed_convolutions_with_gaps():
    x, w = drawn(1, 2, 5, 4), drawn(2, 1, 2, 2)
    expected = transposed_convolution(x, w, (3, 4), (1, 1), 1, (0, 0), (0, 0))
    return single("ConvTranspose", {"x": x, "w": w}, expected, strides=[3, 4])


@case
def pooling_by_squares():
    x = drawn(1, 2, 4, 5)
    expected = np.zeros((1, 2, 2, 4), np.float32)
    for n, c, h, v in np.ndindex(*expected.shape):
        expected[n, c, h, v] = math.sqrt((x[n, c, 2 * h:2 * h + 2, v:v + 2]**2).sum())
    return single("LpPool", {"x": x}, expected, version=11, kernel_shape=[2, 2], strides=[2, 1])


@case
def elements_of_large_dimensions_resized():
    x = np.arange(14, dtype=np.float32).reshape(1, 1, 14)
    node = helper.make_node("Resize", ["x", "", "", "sizes"], ["result"], mode="linear", coordinate_transformation_mode="align_corners")
    expected = np.interp(np.arange(27) * 0.5, np.arange(14), x[0, 0]).astype(np.float32)[None, None]
    return [node], {"x": x}, {"result": expected}, {"sizes": np.array([1, 1, 27])}, 13


@case
def windows_of_cosines():
    at = 2 * np.pi * np.arange(10) / 10
    window = 0.42 - 0.5 * np.cos(at) + 0.08 * np.cos(2 * at)
    return single("BlackmanWindow", {}, window.astype(np.float32), {"size": np.array(10)})


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def recurrence(operator, gates, step, direction="forward", layout=0, initial=True, bias=True, further=None, **settings):
    """A recurrent operator, all of whose results are wanted; `step(x, r, weights, h, c, direction)` makes the next h and c of rows x by the
    weights of x, where r multiplies by those of h, and adds their bias."""
    steps, batches, depth, units = 5, 2, 3, 4
    directions = 2 if direction == "bidirectional" else 1
    random = np.random.default_rng(len(operator) + directions + layout)
    draw = lambda *shape: (random.standard_normal(shape) * 0.6).astype(np.float32)
    x, w, r, b = draw(steps, batches, depth), draw(directions, gates * units, depth), draw(directions, gates * units, units), draw(directions, 2 * gates * units)
    h = draw(directions, batches, units) if initial else np.zeros((directions, batches, units), np.float32)
    c = draw(directions, batches, units) if initial else np.zeros((directions, batches, units), np.float32)
    b = b if bias else np.zeros_like(b)
    made, last, cells = np.zeros((steps, directions, batches, units)), [], []
    for d in range(directions):
        now, cell = h[d].astype(np.float64), c[d].astype(np.float64)
        for at in range(steps) if direction != "reverse" and d == 0 else reversed(range(steps)):
            half = gates * units
            by = lambda what, first=0, end=gates: what @ r[d, first * units:end * units].T + b[d, half + first * units:half + end * units]
            now, cell = step(x[at] @ w[d].T + b[d, :half], by, now, cell, units, None if further is None else further[d].reshape(-1, units))
            made[at, d] = now
        last.append(now), cells.append(cell)
    turned = lambda one: one.transpose(1, 0, 2) if layout else one
    whole = made.transpose(2, 0, 1, 3) if layout else made
    given = {"w": w, "r": r}
    names = ["x", "w", "r"]
    for name, one, there in (("b", b, bias), ("", None, False), ("h", turned(h), initial), ("c", turned(c), initial and operator == "LSTM"),
                             ("p", further, further is not None)):
        names.append(name if there else "")
        given |= {name: np.ascontiguousarray(one)} if there else {}
    results = {"y": whole, "last": turned(np.array(last))} | ({"cells": turned(np.array(cells))} if operator == "LSTM" else {})
    while names[-1] == "":
        names.pop()
    node = helper.make_node(operator, names, list(results), hidden_size=units, direction=direction, layout=layout, **settings)
    return ([node], {"x": np.ascontiguousarray(turned(x))}, {name: np.ascontiguousarray(one).astype(np.float32) for name, one in results.items()},
            given, 14)


def lstm_step(x, by, h, c, units, peephole):
    p = np.zeros((3, units)) if peephole is None else peephole
    i, o, f, g = np.split(x + by(h), 4, axis=1)
    c_next = sigmoid(f + p[2] * c) * c + sigmoid(i + p[0] * c) * np.tanh(g)
    return sigmoid(o + p[1] * c_next) * np.tanh(c_next), c_next


def gru_step(x, by, h, c, units, _):
    z, r = (sigmoid(one) for one in np.split(x[:, :2 * units] + by(h, 0, 2), 2, axis=1))
    return (1 - z) * np.tanh(x[:, 2 * units:] + by(r * h, 2, 3)) + z * h, c


def gru_step_of_torch(x, by, h, c, units, _):
    z, r = (sigmoid(one) for one in np.split(x[:, :2 * units] + by(h, 0, 2), 2, axis=1))
    return (1 - z) * np.tanh(x[:, 2 * units:] + r * by(h, 2, 3)) + z * h, c


@case
def lstm_of_both_directions():
    weights = (np.random.default_rng(1).standard_normal((2, 12)) * 0.5).astype(np.float32)
    return recurrence("LSTM", 4, lstm_step, "bidirectional", further=weights)


@case
def lstm_of_batches():
    return recurrence("LSTM", 4, lstm_step, layout=1, initial=False)


@case
def gru_of_both_directions():
    return recurrence("GRU", 3, gru_step, "bidirectional", layout=1)


@case
def gru_of_torch():
    return recurrence("GRU", 3, gru_step_of_torch, initial=False, linear_before_reset=1)


@case
def rnn_backwards():
    return recurrence("RNN", 1, lambda x, by, h, c, *_: (np.clip(x + by(h), 0, 1.5), c), "reverse", bias=False, activations=["Relu"], clip=1.5)


@case
def rows_by_their_root_mean_square():
    x, scale = drawn(2, 3, 4), drawn(3, 4)
    root = np.sqrt((x.astype(np.float64)**2).mean(axis=(1, 2), keepdims=True) + 0.25)
    return single("RMSNormalization", {"x": x}, (x / root * scale).astype(np.float32), {"scale": scale}, version=23, axis=-2, epsilon=0.25)


def in_groups(version, scale, shift):
    x = drawn(2, 6, 2, 3)
    apart = x.astype(np.float64).reshape(2, 3, -1)
    apart = (apart - apart.mean(axis=2, keepdims=True)) / np.sqrt(apart.var(axis=2, keepdims=True) + 1e-5)
    each = lambda one: (np.repeat(one, 2) if version < 21 else one).reshape(1, 6, 1, 1)
    expected = apart.reshape(x.shape) * each(scale) + each(shift)
    return single("GroupNormalization", {"x": x}, expected.astype(np.float32), {"scale": scale, "shift": shift}, version=version, num_groups=3)


@case
def groups_with_a_scale_each():
    return in_groups(18, drawn(3), drawn(3) + 1)


@case
def groups_with_scales_of_channels():
    return in_groups(21, drawn(6), drawn(6) + 1)


@case
def swish():
    return single("Swish", {"x": SPREAD}, each(lambda x: x / (1 + math.exp(-1.5 * x)) if x > -50 else 0.0, SPREAD), version=24, alpha=1.5)


@case
def the_names_of_arguments():
    x = np.arange(3, dtype=np.float32)
    nodes = [helper.make_node("Add", ["input.1", "in1"], ["t0"]), helper.make_node("Add", ["t0", "int"], ["a" * 24])]
    prototype = "(const float *input_1, const float *in1, const float *in2, float *out0"
    return nodes, {"input.1": x, "in1": x, "int": x}, {"a" * 24: 3 * x}, {}, 17, prototype


def sliced(x, table, starts, ends, axes, steps, operator="Add"):
    """A node that reads a part of a constant."""
    where = {name: np.array(one) for name, one in (("starts", starts), ("ends", ends), ("axes", axes), ("steps", steps))}
    nodes = [helper.make_node("Slice", ["table", *where], ["part"]), helper.make_node(operator, ["x", "part"], ["result"])]
    index = [slice(None)] * table.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        index[axis] = slice(start, None if end < -100 else end, step)
    part = table[tuple(index)]
    return nodes, {"x": x}, {"result": x @ part if operator == "MatMul" else x + part}, {"table": table} | where, 13


@case
def first_rows_of_a_constant():
    return sliced(drawn(5, 8), drawn(64, 8), [0], [5], [0], [1])


@case
def first_columns_of_a_constant():
    return sliced(drawn(5, 8), drawn(5, 64), [0], [8], [1], [1])


@case
def inner_part_of_a_constant():
    return sliced(drawn(3, 4), drawn(9, 9), [2, 3], [8, 7], [0, 1], [2, 1])


@case
def rows_of_a_constant_reversed():
    return sliced(drawn(3, 4), drawn(8, 4), [2], [-1000], [0], [-1])


@case
def rows_of_weights():
    return sliced(drawn(5, 6), drawn(32, 16), [0], [6], [0], [1], "MatMul")


@case
def columns_of_weights():
    return sliced(drawn(5, 32), drawn(32, 48), [0], [16], [1], [1], "MatMul")


@case
def positions_of_embeddings():
    tokens, positions, ids = drawn(20, 8), drawn(64, 8), np.array([[3, 0, 19, 7]])
    nodes = [helper.make_node("Gather", ["tokens", "ids"], ["a"]), helper.make_node("Shape", ["ids"], ["shape"]),
             helper.make_node("Gather", ["shape", "one"], ["count"]), helper.make_node("Unsqueeze", ["count", "zero"], ["end"]),
             helper.make_node("Slice", ["all", "zero", "end", "axis"], ["some"]), helper.make_node("Gather", ["positions", "some"], ["b"]),
             helper.make_node("Add", ["a", "b"], ["result"])]
    constants = {"tokens": tokens, "positions": positions, "all": np.arange(64)[None], "one": np.array(1), "zero": np.array([0]),
                 "axis": np.array([1])}
    return nodes, {"ids": ids}, {"result": tokens[ids] + positions[None, :4]}, constants, 13


@case
def gates_of_a_gru():
    """Its kernels read parts of the weights, in several orders."""
    x, w, r, b, size = drawn(3, 2, 4), drawn(1, 15, 4), drawn(1, 15, 5), drawn(1, 30), 5
    h, steps = np.zeros((2, size)), []
    for row in x:
        gates = [row @ w[0, at * size:][:size].T + b[0, at * size:][:size] for at in range(3)]
        of_h = lambda at, state: state @ r[0, at * size:][:size].T + b[0, (3 + at) * size:][:size]
        z, reset = sigmoid(gates[0] + of_h(0, h)), sigmoid(gates[1] + of_h(1, h))
        h = (1 - z) * np.tanh(gates[2] + of_h(2, reset * h)) + z * h
        steps.append(h)
    expected = np.array(steps, np.float32)[:, None]
    return single("GRU", {"x": x}, expected, {"w": w, "r": r, "b": b}, 14, hidden_size=size)


@case
def windows_that_are_shifted():
    """Attention in windows of an image: more dimensions than a result has."""
    x, weights = drawn(1, 8, 8, 6), drawn(6, 12)
    nodes = [helper.make_node("Reshape", ["x", "apart"], ["a"]), helper.make_node("Transpose", ["a"], ["b"], perm=[0, 1, 3, 2, 4, 5]),
             helper.make_node("Reshape", ["b", "rows"], ["c"]), helper.make_node("MatMul", ["c", "w"], ["d"]),
             helper.make_node("Reshape", ["d", "heads"], ["e"]), helper.make_node("Transpose", ["e"], ["f"], perm=[2, 0, 3, 1, 4]),
             helper.make_node("Split", ["f"], ["q1", "k1"], axis=0), helper.make_node("Squeeze", ["q1", "zero"], ["q"]),
             helper.make_node("Squeeze", ["k1", "zero"], ["k"]), helper.make_node("Transpose", ["k"], ["turned"], perm=[0, 1, 3, 2]),
             helper.make_node("MatMul", ["q", "turned"], ["result"])]
    constants = {"apart": np.array([1, 2, 4, 2, 4, 6]), "rows": np.array([-1, 16, 6]), "w": weights, "heads": np.array([4, 16, 2, 2, 3]),
                 "zero": np.array([0])}
    rows = x.reshape(1, 2, 4, 2, 4, 6).transpose(0, 1, 3, 2, 4, 5).reshape(4, 16, 6)
    q, k = (rows @ weights).reshape(4, 16, 2, 2, 3).transpose(2, 0, 3, 1, 4)
    return nodes, {"x": x}, {"result": q @ k.transpose(0, 1, 3, 2)}, constants, 13


@case
def counts_as_old_exporters_write_them():
    x = drawn(1, 6, 4)
    nodes = [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("Gather", ["shape", "one"], ["count"]),
             helper.make_node("Unsqueeze", ["count"], ["list"], axes=[0]),
             helper.make_node("ConstantOfShape", ["list"], ["all"], value=numpy_helper.from_array(np.array([1]))),
             helper.make_node("NonZero", ["all"], ["found"]),
             helper.make_node("Transpose", ["found"], ["turned"], perm=[1, 0]), helper.make_node("Cast", ["turned"], ["real"], to=1),
             helper.make_node("Add", ["x", "real"], ["result"])]
    return nodes, {"x": x}, {"result": x + np.arange(6, dtype=np.float32)[:, None]}, {"one": np.array(1)}, 9


@case
def places_of_elements_that_are_not_zero():
    x = np.array([[0, 3, 0], [5, 0, -1]])
    return single("NonZero", {}, np.array(np.nonzero(x)), {"x": x}, 13)


@case
def one_hot_before_opset_11():
    """An index below 0 does not count from the end."""
    x = np.array([1, -1, 3, 0])
    expected = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0]], np.float32)
    return single("OneHot", {"x": x}, expected, {"depth": np.array(3), "values": np.array([0, 1], np.float32)}, 9)


@case
def one_hot():
    x = np.array([1, -1, 3, 0])
    expected = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]], np.float32)
    return single("OneHot", {"x": x}, expected, {"depth": np.array(3), "values": np.array([0, 1], np.float32)}, 11)


@case
def selu_before_opset_6():
    """Its numbers have fewer digits."""
    return single("Selu", {"x": SPREAD}, each(lambda x: 1.0507 * (x if x > 0 else 1.6732 * math.expm1(x)), SPREAD), version=5)


@case
def quantised_to_a_type_that_is_asked_for():
    x = np.array([-300, -2.5, 0.4, 1.6, 200], np.float32)
    return single("QuantizeLinear", {"x": x}, np.array([-128, -2, 0, 2, 127], np.int8), {"scale": np.array(1, np.float32)}, 21, output_dtype=3)


@case
def choice_between_branches():
    """The condition of the outer one is known: what is not taken has an operator that is not imported. That of the inner one is an input."""
    x, kinds = drawn(2, 2), lambda *names: [helper.make_tensor_value_info(one, TensorProto.FLOAT, None) for one in names]
    graph = lambda nodes, *names: helper.make_graph(nodes, "branch", [], kinds(*names))
    inner = helper.make_node("If", ["flag"], ["r"], then_branch=graph([helper.make_node("Abs", ["t"], ["r"])], "r"),
                             else_branch=graph([helper.make_node("Neg", ["t"], ["r"])], "r"))
    outer = helper.make_node("If", ["known"], ["result"], then_branch=graph([helper.make_node("Det", ["x"], ["r"])], "r"),
                             else_branch=graph([helper.make_node("Mul", ["x", "x"], ["t"]), inner], "r"))
    nodes = [helper.make_node("Cast", ["x0"], ["flag"], to=TensorProto.BOOL), helper.make_node("Cast", ["nothing"], ["known"], to=TensorProto.BOOL),
             outer]
    return nodes, {"x": x, "x0": np.array([0], np.int32)}, {"result": -x * x}, {"nothing": np.array([0])}, 13


@case
def results_that_nothing_reads():
    x = drawn(1, 2, 4, 4)
    nodes = [helper.make_node("MaxPool", ["x"], ["result", "places"], kernel_shape=[2, 2], strides=[2, 2]), helper.make_node("Unheard", ["x"], ["y"])]
    return nodes, {"x": x}, {"result": x.reshape(1, 2, 2, 2, 2, 2).max((3, 5))}, {}, 12


def check_extents(tool, folder):
    """Extents that are left to run time, one by its name and one in the shape of its input."""
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "y"], ["result"])], "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3]), helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, None])],
        [helper.make_tensor_value_info("result", TensorProto.FLOAT, ["batch", None])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    network = Library(tool, folder, model, 2, 1, ["--extent", "batch=2", "--extent", "y=3,5"])
    x, y, result = drawn(2, 3), drawn(3, 5), np.zeros((2, 5), np.float32)
    network([x, y], [result])
    np.testing.assert_allclose(result, x @ y, rtol=1e-5, atol=1e-6)
    for extents, words in ((["batch=2"], "of inputs `y` [3, ?]; numbers are given by --extent y=3,1 of the tool"),
                           (["batch=2", "y=3,none"], "--extent y=3,none: NAME=NUMBER or INPUT=NUMBER,NUMBER,… is wanted"),
                           (["bath=2"], "no extent and no input is called `bath`; there is `x` [?`batch`, 3], `y` [3, ?]")):
        options = [word for one in extents for word in ("--extent", one)]
        said = subprocess.run([tool, "--layers", folder / "model.onnx", *options], capture_output=True, text=True)
        assert said.returncode == 1 and words in said.stderr, said.stderr
    said = subprocess.run([tool, "--check", folder / "model.onnx", "--extent", "batch=2", "--extent", "y=3,5"], capture_output=True, text=True)
    assert "1 of 1 results compared" in said.stdout, said.stdout + said.stderr


def check(name, tool, folder):
    nodes, inputs, expected, constants, version, *prototype = CASES[name]()
    model = model_of(nodes, inputs, {key: one.dtype for key, one in expected.items()}, constants, version)
    got, header = run(tool, folder / name, model, list(inputs.values()), list(expected.values()))
    for (output, should), is_it in zip(expected.items(), got):
        wide = should.dtype == np.float64
        relative, absolute = (1e-12, 1e-15) if wide else (1e-5, 1e-6) if should.dtype == np.float32 else (0, 0)
        np.testing.assert_allclose(is_it, should, rtol=relative, atol=absolute, err_msg=output)
    for text in prototype:
        assert text in header.replace("\n", " "), header


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--tool", required=True, type=pathlib.Path)
    arguments.add_argument("--folder", required=True, type=pathlib.Path)
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    failed = 0
    for name in CASES:
        if given.only not in name:
            continue
        try:
            check(name, given.tool, given.folder)
        except AssertionError as error:
            failed += 1
            print(f"{name}: {error}")
    if given.only in "extents":
        check_extents(given.tool, given.folder / "extents")
    print(f"{len(CASES)} networks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
