#!/usr/bin/env python3
"""Networks with elements of 16 bits and with elements that graphs do not have. As C, they are compared with NumPy's float16 and with numbers that
are written here; the network tool compares them with the reference of the library and with ONNX Runtime. And what has to be refused.

    halves.py --tool NETWORK_TOOL --folder FOLDER [--onnxruntime LIBRARY] [--only CASE]
"""
import argparse
import pathlib
import re
import subprocess
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "network"))
import tflite_writer as w  # noqa: E402
from values import Library  # noqa: E402

ALL = np.arange(1 << 16, dtype=np.uint16)
EVERY_FLOAT16 = ALL.view(np.float16).astype(np.float32)
EVERY_BFLOAT16 = (ALL.astype(np.uint32) << 16).view(np.float32)
CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


def float_input(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model_of(nodes, inputs, outputs, constants):
    """Inputs and outputs are their shapes by name, of float32."""
    graph = helper.make_graph(nodes, "test", [float_input(name, *shape) for name, shape in inputs.items()],
                              [float_input(name, *shape) for name, shape in outputs.items()], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def tensor(name, kind, dims, **elements):
    made = TensorProto(name=name, data_type=kind, dims=dims)
    for field, value in elements.items():
        if field == "raw_data":
            made.raw_data = value
        else:
            getattr(made, field).extend(value)
    return made


def same_bits(got, wanted):
    """Equal to the bit, but for what is no number."""
    number = ~np.isnan(wanted)
    assert np.array_equal(np.isnan(got), ~number), "what is no number"
    differ = np.flatnonzero(got.view(np.uint32)[number] != wanted.view(np.uint32)[number])
    assert differ.size == 0, f"{differ.size} differ: {got[number][differ[:4]]} instead of {wanted[number][differ[:4]]}"


class Tools:
    def __init__(self, tool, folder, library):
        self.tool, self.root, self.library, self.count = tool, folder, library, 0
        self.begin()

    def begin(self):
        """Another network: a library that is loaded is not written again."""
        self.count += 1
        self.folder = self.root / str(self.count)

    def compiled(self, model, inputs, outputs):
        """What the network as C makes; `outputs` are arrays that it fills. Then the tool compares each kernel with both references."""
        self.begin()
        network = Library(self.tool, self.folder, model, len(inputs), len(outputs))
        network(inputs, outputs)
        self.checked(model)

    def checked(self, model, *inputs):
        file = self.folder / ("model.tflite" if isinstance(model, bytes) else "model.onnx")
        for judge in ([], ["--onnxruntime", self.library]) if self.library and file.suffix == ".onnx" else ([],):
            said = subprocess.run([self.tool, "--check", file, *judge, *inputs], capture_output=True, text=True)
            text = said.stdout + said.stderr
            assert said.returncode == 0 and re.search(r" 0 not checked: no difference\n$", text), text

    def layers(self, model):
        """What the tool prints of the layers, or its lines of refusal."""
        file = self.folder / ("model.tflite" if isinstance(model, bytes) else "model.onnx")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
        return subprocess.run([self.tool, "--layers", file], capture_output=True, text=True)

    def refused(self, model, *words):
        said = self.layers(model)
        assert said.returncode != 0 and said.stderr.count("\n") == len(words), said.stdout + said.stderr
        for line, wanted in zip(said.stderr.splitlines(), words):
            assert wanted in line, f"{wanted}: {line}"


def widened(tools, constant, wanted):
    """A constant of 16 bits, cast to float32, times 1."""
    nodes = [helper.make_node("Cast", ["w"], ["wide"], to=TensorProto.FLOAT), helper.make_node("Mul", ["x", "wide"], ["y"])]
    got = np.zeros(wanted.shape, np.float32)
    tools.compiled(model_of(nodes, {"x": [1]}, {"y": wanted.shape}, [constant]), [np.ones(1, np.float32)], [got])
    same_bits(got, wanted)


@case
def every_float16_as_bytes(tools):
    widened(tools, tensor("w", TensorProto.FLOAT16, [1 << 16], raw_data=ALL.tobytes()), EVERY_FLOAT16)


@case
def every_float16_in_a_list(tools):
    widened(tools, tensor("w", TensorProto.FLOAT16, [1 << 16], int32_data=ALL.tolist()), EVERY_FLOAT16)


@case
def every_bfloat16_as_bytes(tools):
    widened(tools, tensor("w", TensorProto.BFLOAT16, [1 << 16], raw_data=ALL.tobytes()), EVERY_BFLOAT16)


@case
def every_bfloat16_in_a_list(tools):
    widened(tools, tensor("w", TensorProto.BFLOAT16, [1 << 16], int32_data=ALL.tolist()), EVERY_BFLOAT16)


def telling_floats():
    """Each float16, what lies in the middle between two, the neighbours of both, and floats of drawn bits."""
    finite = EVERY_FLOAT16[np.isfinite(EVERY_FLOAT16) & ~np.signbit(EVERY_FLOAT16)].astype(np.float64)
    middles = (finite[:-1] + finite[1:]) / 2
    exact = np.concatenate([finite, middles, [65519.996, 65520, 1e9, 3e38, np.inf, np.nan]]).astype(np.float32)
    around = np.concatenate([exact, np.nextafter(exact, np.float32(0)), np.nextafter(exact, np.float32(np.inf))])
    drawn = np.random.RandomState(5).randint(0, 1 << 32, 50000, np.uint64).astype(np.uint32).view(np.float32)
    return np.concatenate([around, -around, drawn])


def as_bfloat16(x):
    """The nearest bfloat16, by whole numbers of 64 bits."""
    bits = x.view(np.uint32).astype(np.int64)
    low, high = bits & 0xffff, bits >> 16
    up = (low > 0x8000) | ((low == 0x8000) & (high % 2 == 1))
    return np.where(np.isnan(x), x, ((high + up) << 16).astype(np.uint32).view(np.float32))


def rounded(tools, kind, wanted_of):
    """Cast of an input, and of a constant, to 16 bits and back."""
    x = telling_floats()
    with np.errstate(over="ignore"):
        wanted = wanted_of(x)
    casts = [helper.make_node("Cast", ["x"], ["half"], to=kind), helper.make_node("Cast", ["half"], ["y"], to=TensorProto.FLOAT)]
    got = np.zeros(x.shape, np.float32)
    tools.compiled(model_of(casts, {"x": x.shape}, {"y": x.shape}, []), [x], [got])
    same_bits(got, wanted)
    casts[1].output[0] = "wide"
    casts.append(helper.make_node("Mul", ["one", "wide"], ["y"]))
    got = np.zeros(x.shape, np.float32)
    tools.compiled(model_of(casts, {"one": [1]}, {"y": x.shape}, [numpy_helper.from_array(x, "x")]), [np.ones(1, np.float32)], [got])
    same_bits(got, wanted)


@case
def cast_to_float16(tools):
    rounded(tools, TensorProto.FLOAT16, lambda x: x.astype(np.float16).astype(np.float32))


@case
def cast_to_bfloat16(tools):
    rounded(tools, TensorProto.BFLOAT16, as_bfloat16)


@case
def a_network_in_float16(tools):
    """As converters write them with inputs and outputs of float32: what nodes compute is not rounded."""
    draw = np.random.RandomState(7)
    shapes = {"w": (8, 3, 3, 3), "b": (8,), "d": (288, 5), "s": (1,), "third": (1, 8, 6, 6)}
    constants = {name: draw.uniform(-1, 1, shape).astype(np.float16) for name, shape in shapes.items()}
    fill = numpy_helper.from_array(np.array([0.1], np.float16))
    cast = lambda x, y, to: helper.make_node("Cast", [x], [y], to=to)
    nodes = [cast("x", "h", TensorProto.FLOAT16), helper.make_node("Conv", ["h", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c"], ["r"]), helper.make_node("Add", ["r", "third"], ["sum"]), helper.make_node("Mul", ["sum", "s"], ["m"]),
             helper.make_node("Shape", ["m"], ["shape"]), helper.make_node("ConstantOfShape", ["shape"], ["filled"], value=fill),
             helper.make_node("Add", ["m", "filled"], ["moved"]), helper.make_node("Flatten", ["moved"], ["f"]), helper.make_node("MatMul", ["f", "d"], ["p"]),
             cast("p", "y", TensorProto.FLOAT)]
    model = model_of(nodes, {"x": [1, 3, 6, 6]}, {"y": [1, 5]}, [numpy_helper.from_array(one, name) for name, one in constants.items()])
    for name, shape in (("h", [1, 3, 6, 6]), ("r", [1, 8, 6, 6]), ("f", [1, 288])):
        model.graph.value_info.append(helper.make_tensor_value_info(name, TensorProto.FLOAT16, shape))
    x = draw.uniform(-1, 1, (1, 3, 6, 6)).astype(np.float32)
    w_, b, d, s, third = (constants[name].astype(np.float64) for name in ("w", "b", "d", "s", "third"))
    padded = np.pad(x.astype(np.float16).astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    c = sum(np.einsum("nchw,kc->nkhw", padded[:, :, i:i + 6, j:j + 6], w_[:, :, i, j]) for i in range(3) for j in range(3))
    m = (np.maximum(c + b[:, None, None], 0) + third) * s + np.float64(np.float16(0.1))
    got = np.zeros((1, 5), np.float32)
    tools.compiled(model, [x], [got])
    np.testing.assert_allclose(got, m.reshape(1, -1) @ d, rtol=1e-5, atol=1e-5)


@case
def inputs_and_outputs_of_float16(tools):
    """They are float in C; a file of an input is float16."""
    nodes = [helper.make_node("Mul", ["x", "three"], ["y"]), helper.make_node("Cast", ["x"], ["wide"], to=TensorProto.FLOAT)]
    model = model_of(nodes, {}, {}, [numpy_helper.from_array(np.array([3], np.float16), "three")])
    model.graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT16, [4]))
    model.graph.output.extend([helper.make_tensor_value_info("y", TensorProto.FLOAT16, [4]), float_input("wide", 4)])
    x = np.array([1.5, -0.25, 65504, 2.0**-24], np.float16)
    got, wide = np.zeros(4, np.float32), np.zeros(4, np.float32)
    tools.compiled(model, [x.astype(np.float32)], [got, wide])
    assert got.tolist() == [4.5, -0.75, 196512, 3 / 2**24] and wide.tolist() == x.tolist(), (got, wide)
    np.save(tools.folder / "x.npy", x)
    tools.checked(model, tools.folder / "x.npy")
    np.save(tools.folder / "x.npy", x.astype(np.float32))
    said = subprocess.run([tools.tool, "--check", tools.folder / "model.onnx", tools.folder / "x.npy"], capture_output=True, text=True)
    assert "'<f4' [4]; wanted: float16 [4], 8 bytes" in said.stderr, said.stderr


@case
def weights_stay_constants(tools):
    """No kernel casts weights, and operators take them where they need constants: scales of Resize, the shape of Reshape."""
    draw = np.random.RandomState(3)
    x, weights, bias = (draw.uniform(-1, 1, shape).astype(np.float16) for shape in ((2, 80), (80, 64), (64,)))
    nodes = [helper.make_node("Cast", [one], [one + "32"], to=TensorProto.FLOAT) for one in ("w", "b")]
    nodes.append(helper.make_node("Gemm", ["x", "w32", "b32"], ["y"]))
    model = model_of(nodes, {"x": x.shape}, {"y": [2, 64]}, [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")])
    got = np.zeros((2, 64), np.float32)
    tools.compiled(model, [x.astype(np.float32)], [got])
    np.testing.assert_allclose(got, x.astype(np.float64) @ weights.astype(np.float64) + bias, rtol=1e-5, atol=1e-5)
    said = tools.layers(model).stdout
    assert len(re.findall(r"^k\d", said, re.MULTILINE)) == 1, said
    scales = numpy_helper.from_array(np.array([1, 1, 2], np.float16), "s")
    nodes = [helper.make_node("Cast", ["s"], ["s32"], to=TensorProto.FLOAT),
             helper.make_node("Resize", ["x", "", "s32"], ["y"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")]
    got = np.zeros((1, 1, 6), np.float32)
    tools.compiled(model_of(nodes, {"x": [1, 1, 3]}, {"y": [1, 1, 6]}, [scales]), [np.array([[[1, 2, 3]]], np.float32)], [got])
    assert got.tolist() == [[[1, 1, 2, 2, 3, 3]]], got


def float16_quantised(bits, further=()):
    """FULLY_CONNECTED of TensorFlow Lite whose weights of 2 x 3 and bias are float16, as its quantisation to float16 writes them."""
    tensors = [w.tensor("x", "float32", [1, 3]), w.tensor("w", "float16", [2, 3], 1), w.tensor("b", "float16", [2], 2),
               w.tensor("w32", "float32", [2, 3]), w.tensor("b32", "float32", [2]), w.tensor("y", "float32", [1, 2]), *further]
    nodes = [w.node(0, [1], [3]), w.node(0, [2], [4]), w.node(1, [0, 3, 4], [5], 8, w.Table())]
    buffers = [w.buffer(), w.buffer(np.array(bits[:6], np.uint16).tobytes()), w.buffer(np.array(bits[6:], np.uint16).tobytes()),
               w.buffer(b"\x01\x00\x00\x00\x08\x00\x00\x00words...")]
    return bytes(w.model([w.code(6, 6), w.code(9, 9)], [w.subgraph(tensors, [0], [5], nodes)], buffers))


@case
def weights_of_tensorflow_lite(tools):
    # 1, -2, the smallest subnormal 2^-24; 0.5, the largest 65504, -0; a bias of 3 and of the largest subnormal 1023 * 2^-24.
    model = float16_quantised([0x3c00, 0xc000, 0x0001, 0x3800, 0x7bff, 0x8000, 0x4200, 0x03ff])
    got = np.zeros((1, 2), np.float32)
    tools.compiled(model, [np.array([[2, 1, 2.0**24]], np.float32)], [got])
    assert got.tolist() == [[2 - 2 + 1 + 3, 65505]], got  # 1023 * 2^-24 is less than half a step of 65505
    tools.compiled(model, [np.array([[0, 0, 0]], np.float32)], [got])
    assert got.tolist() == [[3, 1023 / 2**24]], got


@case
def what_nothing_reads_is_of_any_type(tools):
    words = tensor("words", TensorProto.STRING, [2], string_data=[b"cat", b"dog"])
    others = [words, tensor("half", TensorProto.FLOAT16, [2], raw_data=b"abcd"), tensor("b", TensorProto.BFLOAT16, [1], int32_data=[1]),
              tensor("z", TensorProto.COMPLEX64, [1], float_data=[1, 2]), tensor("new", 17, [3], raw_data=b"abc")]
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Gather", ["words", "x"], ["label"]),
             helper.make_node("Constant", [], ["text"], value_string="of no use"), helper.make_node("Constant", [], ["texts"], value_strings=["a", "b"]),
             helper.make_node("Identity", ["half"], ["copy"])]
    got = np.zeros(2, np.float32)
    Library(tools.tool, tools.folder, model_of(nodes, {"x": [2]}, {"y": [2]}, others), 1, 1)([np.array([-1, 2], np.float32)], [got])
    assert got.tolist() == [0, 2]
    further = [w.tensor("words", "string", [1], 3), w.tensor("half", "float16", [8], 3), w.tensor("four", "int4", [32], 3), w.tensor("new", 99, [1], 3)]
    assert tools.layers(float16_quantised([0] * 8, further)).returncode == 0


@case
def refusals(tools):
    words = tensor("words", TensorProto.STRING, [2], string_data=[b"cat", b"dog"])
    half = numpy_helper.from_array(np.ones(2, np.float16), "half")
    tools.refused(model_of([helper.make_node("Concat", ["words", "words"], ["y"], axis=0)], {}, {"y": [4]}, [words]),
                  "node 0 (`Concat`): operand 0, `words`: elements of STRING")
    texts = [helper.make_node("Constant", [], ["text"], value_string="of use"), helper.make_node("Concat", ["text", "text"], ["y"], axis=0)]
    tools.refused(model_of(texts, {}, {"y": [2]}, []), "node 0 (`Concat`): operand 0, `text`: elements of STRING")
    fill = helper.make_node("ConstantOfShape", ["s"], ["y"], value=tensor("", TensorProto.STRING, [1], string_data=[b""]))
    tools.refused(model_of([fill], {}, {"y": [2]}, [numpy_helper.from_array(np.array([2]), "s")]), "node 0 (`ConstantOfShape`): attribute `value`: elements of STRING")
    model = model_of([helper.make_node("Identity", ["x"], ["y"])], {}, {"y": [2]}, [])
    model.graph.input.append(helper.make_tensor_value_info("x", TensorProto.STRING, [2]))
    tools.refused(model, "the network: input `x` has elements of STRING")
    model = model_of([helper.make_node("Relu", ["x"], ["z"])], {"x": [2]}, {}, [])
    model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.COMPLEX64, [2]))
    tools.refused(model, "the network: output `z` has elements of COMPLEX64")
    like = [helper.make_node("CastLike", ["x", "half"], ["h"]), helper.make_node("Cast", ["h"], ["y"], to=TensorProto.FLOAT)]
    tools.refused(model_of(like, {"x": [2]}, {"y": [2]}, [half]), "node 0 (`CastLike`): to float16, which a Cast says")
    tensors = [w.tensor("x", "float16", [2], 1), w.tensor("y", "float16", [2], 1), w.tensor("z", "float16", [2]), w.tensor("wide", "float32", [2])]
    graph = w.subgraph(tensors, [], [3], [w.node(0, [0, 1], [2], 11, w.Table()), w.node(1, [2], [3])])
    tools.refused(bytes(w.model([w.code(0, 0), w.code(6, 6)], [graph], [w.buffer(), w.buffer(b"abcd")])), "node 0 (`ADD`): operand 0, `x`: elements of float16")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--tool", required=True, type=pathlib.Path)
    arguments.add_argument("--folder", required=True, type=pathlib.Path)
    arguments.add_argument("--onnxruntime", type=pathlib.Path)
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    failed = 0
    for name, check in CASES.items():
        if given.only not in name:
            continue
        try:
            check(Tools(given.tool, given.folder / name, given.onnxruntime))
        except AssertionError as error:
            failed += 1
            print(f"{name}: {error}")
    print(f"{len(CASES)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
