#!/usr/bin/env python3
"""Trains the network of lesson 14 in floating point, quantises it to int8 after training, and writes it in two formats.

  train.py     trains on the first 898 digits, and writes digits.tflite, digits.onnx and network.hpp: about a minute

Needs numpy and, for the files, flatbuffers and onnx (Debian: python3-numpy python3-flatbuffers python3-onnx). Images are
[image][row][column][channel]. The same numpy with the same BLAS writes the same files; others add in another order and train slightly
different weights.
"""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the number of threads would change the order of sums

import pathlib
import sys

import numpy as np
from onnx import ModelProto, TensorProto, checker, helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(FOLDER.parent / "09_network"), str(ROOT / "tests" / "network")]
import onnx_reference  # what the formats say that each operator computes
import tflite_reference
import tflite_writer as w
import train as lesson09  # digits, distortions, patches and training

CHANNELS, CLASSES, SIDE = 24, 10, 8
SEED = 1
EPOCHS, LEARNING_RATE = 160, 4e-3  # the rest as lesson 09 has it
DROPPED = lesson09.DROPPED
TRAINING_DIGITS = lesson09.TRAINING_DIGITS


# ---- the network in floating point, forwards and backwards


def initial_weights(random):
    """Weights and bias of: convolution [9][channels], depthwise [9][channels], pointwise [channels][channels], dense [inputs][classes]."""
    inputs = (SIDE // 2) ** 2 * CHANNELS
    parameters = []
    for shape, count, gain in (((9, CHANNELS), 9, 2), ((9, CHANNELS), 9, 2), ((CHANNELS, CHANNELS), CHANNELS, 1),
                               ((inputs, CLASSES), inputs, 1)):
        parameters.append(random.normal(0, (gain / count) ** 0.5, shape).astype(np.float32))
        parameters.append(np.zeros(shape[1], np.float32))
    return parameters


def depthwise(images, weights):
    count, rows, columns, channels = images.shape
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return sum(padded[:, r : r + rows, s : s + columns] * weights[3 * r + s] for r in range(3) for s in range(3))


def depthwise_gradients(gradient, images, weights):
    """Of the images, and of the weights."""
    count, rows, columns, channels = images.shape
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    back, of_weights = np.zeros_like(padded), np.empty_like(weights)
    for tap in range(9):
        r, s = divmod(tap, 3)
        of_weights[tap] = np.einsum("nyxc,nyxc->c", padded[:, r : r + rows, s : s + columns], gradient)
        back[:, r : r + rows, s : s + columns] += gradient * weights[tap]
    return back[:, 1:-1, 1:-1], of_weights


def forward(parameters, images):
    """What each layer makes: the first convolution, the three steps of the residual block, the pooled pixels."""
    w1, b1, w2, b2, w3, b3, _, _ = parameters
    first = np.maximum(lesson09.patches(images) @ w1 + b1, 0).reshape(*images.shape[:3], -1)
    deep = np.maximum(depthwise(first, w2) + b2, 0)
    point = deep @ w3 + b3
    joined = np.maximum(first + point, 0)
    return first, deep, point, joined, lesson09.max_pool(joined)


def scores(parameters, images):
    pooled = forward(parameters, images)[-1]
    return pooled.reshape(len(images), -1) @ parameters[6] + parameters[7]


def gradients(parameters, images, targets, random):
    """Of the mean cross-entropy, for each of the parameters."""
    _, _, w2, _, w3, _, w4, b4 = parameters
    first, deep, point, joined, pooled = forward(parameters, images)
    kept = (random.random((len(images), w4.shape[0])) >= DROPPED).astype(np.float32) / np.float32(1 - DROPPED)
    features = pooled.reshape(len(images), -1) * kept
    of_scores = (lesson09.softmax(features @ w4 + b4) - targets) / np.float32(len(images))
    of_joined = lesson09.max_pool_gradient((of_scores @ w4.T * kept).reshape(pooled.shape), joined, pooled) * (joined > 0)
    of_deep = of_joined @ w3.T * (deep > 0)
    back, of_w2 = depthwise_gradients(of_deep, first, w2)
    of_first = ((of_joined + back) * (first > 0)).reshape(-1, CHANNELS)
    rows = of_joined.reshape(-1, CHANNELS)
    return [lesson09.patches(images).T @ of_first, of_first.sum(axis=0), of_w2, of_deep.sum(axis=(0, 1, 2)),
            deep.reshape(-1, CHANNELS).T @ rows, rows.sum(axis=0), features.T @ of_scores, of_scores.sum(axis=0)]


# ---- the network in int8


def activation_scale(array):
    """(scale, zero point) of int8 for the values of an array and 0."""
    low, high = min(0.0, float(array.min())), max(0.0, float(array.max()))
    scale = np.float32((high - low) / 255)
    return scale, int(np.clip(round(-128 - low / float(scale)), -128, 127))


class Quantised:
    """The network in int8. `layers` are (name, weights, scales of the weights, bias): weights [filter][row][column][channel], depthwise
    [row][column][channel], pointwise [filter][channel], dense [class][input]. `scales` has the scale and zero point of each tensor."""

    def __init__(self, parameters, images):
        first, deep, point, joined, _ = forward(parameters, images)
        self.scales = {"pixels": (np.float32(1 / lesson09.BRIGHTEST), 0), "first": activation_scale(first), "deep": activation_scale(deep),
                       "point": activation_scale(point), "joined": activation_scale(joined),
                       "scores": activation_scale(scores(parameters, images))}
        w1, b1, w2, b2, w3, b3, w4, b4 = parameters
        self.layers = {}
        for name, x, weights, bias, axes in (("first", "pixels", w1.T.reshape(CHANNELS, 3, 3, 1), b1, (1, 2, 3)),
                                             ("deep", "first", w2.reshape(3, 3, CHANNELS), b2, (0, 1)),
                                             ("point", "deep", w3.T, b3, 1),
                                             ("scores", "joined", w4.T, b4, None)):
            scale = np.maximum(np.abs(weights).max(axis=axes).reshape(-1) / np.float32(127), np.float32(1e-6)).astype(np.float32)
            spread = scale if name == "deep" else scale.reshape(-1, *[1] * (weights.ndim - 1))
            levels = np.clip(np.rint(weights / spread), -127, 127).astype(np.int8)
            bias_scale = (scale * self.scales[x][0]).astype(np.float32)
            levels_of_bias = np.rint(bias.astype(np.float64) / bias_scale).astype(np.int32)
            self.layers[name] = (x, levels, scale, levels_of_bias, bias_scale)


def to_tflite(of):
    """The bytes of digits.tflite: pixels of 0 to 16 as int8, scores of int8."""
    tensors, buffers, codes, nodes = [], [w.buffer()], [], []
    operators = {name: number for number, name in tflite_reference.BUILTIN.items()}
    numbers = {}

    def scale(pair):
        return w.quantisation([float(pair[0])], [pair[1]])

    def tensor(name, shape, pair):
        tensors.append(w.tensor(name, "int8", shape, 0, scale(pair)))
        return len(tensors) - 1

    def constant(name, array, scales, axis=0):
        buffers.append(w.buffer(np.ascontiguousarray(array).tobytes()))
        kept = w.quantisation([float(one) for one in scales], [0] * len(scales), axis) if scales is not None else None
        tensors.append(w.tensor(name, str(array.dtype), list(array.shape), len(buffers) - 1, kept))
        return len(tensors) - 1

    def node(operation, inputs, output, kind, *fields):
        if operation not in numbers:
            numbers[operation] = len(codes)
            codes.append(w.code(operators[operation], operators[operation], 2))
        nodes.append(w.node(numbers[operation], inputs, [output], kind, w.Table(*fields)))
        return output

    def weights(name, shape, axis):
        _, levels, scales, bias, bias_scales = of.layers[name]
        return [constant(f"{name}/weights", levels.reshape(shape), scales, axis), constant(f"{name}/bias", bias, bias_scales)]

    relu, none, same = 1, 0, 0
    image = [1, SIDE, SIDE, CHANNELS]
    pixels = tensor("pixels", [1, SIDE, SIDE, 1], of.scales["pixels"])
    first = node("CONV_2D", [pixels, *weights("first", (CHANNELS, 3, 3, 1), 0)], tensor("first", image, of.scales["first"]), 1,
                 w.i8(0, same), w.i32(1, 1), w.i32(2, 1), w.i8(3, relu))
    deep = node("DEPTHWISE_CONV_2D", [first, *weights("deep", (1, 3, 3, CHANNELS), 3)], tensor("deep", image, of.scales["deep"]), 2,
                w.i8(0, same), w.i32(1, 1), w.i32(2, 1), w.i32(3, 1), w.i8(4, relu))
    point = node("CONV_2D", [deep, *weights("point", (CHANNELS, 1, 1, CHANNELS), 0)], tensor("point", image, of.scales["point"]), 1,
                 w.i8(0, same), w.i32(1, 1), w.i32(2, 1), w.i8(3, none))
    joined = node("ADD", [first, point], tensor("joined", image, of.scales["joined"]), 11, w.i8(0, relu))
    half = SIDE // 2
    pooled = node("MAX_POOL_2D", [joined], tensor("pooled", [1, half, half, CHANNELS], of.scales["joined"]), 5,
                  w.i8(0, 1), w.i32(1, 2), w.i32(2, 2), w.i32(3, 2), w.i32(4, 2), w.i8(5, none))
    row = node("RESHAPE", [pooled, constant("row", np.array([1, half * half * CHANNELS], np.int32), None)],
               tensor("features", [1, half * half * CHANNELS], of.scales["joined"]), 17, w.int32s(0, [1, half * half * CHANNELS]))
    dense = of.layers["scores"]
    last = node("FULLY_CONNECTED", [row, *weights("scores", dense[1].shape, 0)], tensor("scores", [1, CLASSES], of.scales["scores"]), 8,
                w.i8(0, none))
    return w.model(codes, [w.subgraph(tensors, [pixels], [last], nodes)], buffers)


def to_onnx(of):
    """digits.onnx: the same integers between QuantizeLinear and DequantizeLinear. Pixels of 0 to 1 and scores are floats; images have their
    channels first."""
    nodes, constants = [], []

    def constant(name, array):
        constants.append(numpy_helper.from_array(array if array.ndim == 0 else np.ascontiguousarray(array), name))
        return name

    def node(operation, inputs, output, **attributes):
        nodes.append(helper.make_node(operation, inputs, [output], name=output, **attributes))
        return output

    def through_int8(x, name, pair, result=None):
        operands = [constant(f"{name}/scale", np.array(pair[0], np.float32)), constant(f"{name}/zero", np.array(pair[1], np.int8))]
        return node("DequantizeLinear", [node("QuantizeLinear", [x, *operands], f"{name}/int8"), *operands], result or f"{name}/float")

    def weights(name, arranged):
        _, levels, scales, bias, bias_scales = of.layers[name]
        made = []
        for what, array, by in (("weights", arranged(levels), scales), ("bias", bias, bias_scales)):
            by = by[0] if len(by) == 1 else by
            operands = [constant(f"{name}/{what}/int", array), constant(f"{name}/{what}/scale", np.asarray(by)),
                        constant(f"{name}/{what}/zero", np.zeros(np.shape(by), array.dtype))]
            made.append(node("DequantizeLinear", operands, f"{name}/{what}", axis=0))
        return made

    window = {"kernel_shape": [3, 3], "pads": [1] * 4, "strides": [1, 1], "dilations": [1, 1], "group": 1}
    pixels = through_int8("pixels", "in", of.scales["pixels"])
    first = node("Conv", [pixels, *weights("first", lambda a: a.transpose(0, 3, 1, 2))], "first/sums", **window)
    first = through_int8(node("Relu", [first], "first"), "first", of.scales["first"])
    deep = node("Conv", [first, *weights("deep", lambda a: a.transpose(2, 0, 1)[:, None])], "deep/sums", **{**window, "group": CHANNELS})
    deep = through_int8(node("Relu", [deep], "deep"), "deep", of.scales["deep"])
    of_one_pixel = {**window, "kernel_shape": [1, 1], "pads": [0] * 4}
    point = node("Conv", [deep, *weights("point", lambda a: a[:, :, None, None])], "point", **of_one_pixel)
    point = through_int8(point, "point", of.scales["point"])
    joined = through_int8(node("Relu", [node("Add", [first, point], "sum")], "joined"), "joined", of.scales["joined"])
    pooled = node("MaxPool", [joined], "pooled", kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4)
    half = SIDE // 2
    # Features of digits.tflite have their channels last.
    by_channel = lambda a: a.reshape(CLASSES, half, half, CHANNELS).transpose(0, 3, 1, 2).reshape(CLASSES, -1)
    last = node("Gemm", [node("Flatten", [pooled], "features", axis=1), *weights("scores", by_channel)], "scores/sums", transB=1)
    through_int8(last, "scores", of.scales["scores"], "scores")
    value = lambda name, extents: helper.make_tensor_value_info(name, TensorProto.FLOAT, extents)
    graph = helper.make_graph(nodes, "digits", [value("pixels", [1, 1, SIDE, SIDE])], [value("scores", [1, CLASSES])], constants)
    model = helper.make_model(graph, producer_name="train.py", opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    checker.check_model(model, full_check=True)
    return model.SerializeToString()


def onnx_scores(data, images):
    """What digits.onnx gives for images of floats, all at once."""
    def spread(scale, x, axis):
        return scale.reshape([-1 if at == axis else 1 for at in range(x.ndim)]) if scale.ndim else scale

    onnx_reference.OPERATORS.update({
        "QuantizeLinear": lambda x, scale, zero: np.clip(np.rint(x / scale) + zero, -128, 127),
        "DequantizeLinear": lambda x, scale, zero, axis=1: (x - spread(zero, x, axis)) * spread(scale, x, axis)})
    return onnx_reference.run(ModelProto.FromString(data), {"pixels": images.transpose(0, 3, 1, 2)})["scores"]


# ---- the header for reference.cpp


def header(of, in_tflite, in_onnx, in_float, count):
    scale = {name: float(pair[0]) for name, pair in of.scales.items()}
    zero = {name: pair[1] for name, pair in of.scales.items()}
    text = f"""#pragma once
#include <array>
#include <cstdint>

/// Lesson 14: the quantised network, as train.py writes it, for reference.cpp. Arrays are row-major.
/// A sum times multiplier / 2^31 * 2^shift is the next layer's int8, before its zero point.
namespace lesson_import {{

inline constexpr int channels = {CHANNELS};
/// Read right of the {count} digits that nothing was learnt from, as NumPy computes both files; {in_float} in floating point.
inline constexpr int read_in_tflite = {in_tflite}, read_in_onnx = {in_onnx};

// clang-format off

struct scale {{
    std::int32_t multiplier, shift;
}};

"""
    for name in scale:
        text += f"inline constexpr int {name}_zero = {zero[name]};\n"
    text += "\n"
    multiply = tflite_reference.quantize_multiplier
    twice = 2 * max(scale["first"], scale["point"])
    for name, real in (("add_first", scale["first"] / twice), ("add_point", scale["point"] / twice),
                       ("add_joined", twice / (2**20 * scale["joined"]))):
        text += "inline constexpr scale {}{{{}, {}}};\n".format(name, *multiply(real))
    for name, (x, levels, scales, bias, _) in of.layers.items():
        if name == "scores":
            reals = [float(np.float32(of.scales[x][0] * scales[0])) / scale[name]] * CLASSES
        else:
            reals = [scale[x] * float(one) / scale[name] for one in scales]
        multipliers, shifts = zip(*map(multiply, reals))
        text += "\n" + lesson09.array(f"{name}_weights", levels.reshape(1, -1), "int8_t", 16)
        for part, values in (("bias", bias), ("multiplier", multipliers), ("shift", shifts)):
            text += "\n" + lesson09.array(f"{name}_{part}", np.array(values), "int32_t", 8)
    return text + "\n// clang-format on\n\n}  // namespace lesson_import\n"


def main():
    pixels, labels = lesson09.load_digits()
    images = (pixels / lesson09.BRIGHTEST).astype(np.float32)
    known, unknown = slice(None, TRAINING_DIGITS), slice(TRAINING_DIGITS, None)
    parameters = lesson09.fit("training", images[known], labels[known], np.random.default_rng(SEED), initial_weights, gradients, EPOCHS,
                              LEARNING_RATE)
    of = Quantised(parameters, images[known])
    data, others = to_tflite(of), to_onnx(of)
    model = tflite_reference.read(data)
    found = np.array([tflite_reference.run(model, [one[None].astype(np.int8)])[0][0] for one in pixels[unknown]])
    in_float, in_tflite, in_onnx = (lesson09.right(one, labels[unknown]) for one in (
        scores(parameters, images[unknown]), found, onnx_scores(others, images[unknown])))
    count = len(labels[unknown])
    (FOLDER / "digits.tflite").write_bytes(data)
    (FOLDER / "digits.onnx").write_bytes(others)
    (FOLDER / "network.hpp").write_text(header(of, in_tflite, in_onnx, in_float, count))
    print(f"digits.tflite {len(data)} bytes, digits.onnx {len(others)} bytes")
    print(f"of {count} test digits, {in_float} are read in floating point ({100 * in_float / count:.2f} %), {in_tflite} by digits.tflite, "
          f"{in_onnx} by digits.onnx")


if __name__ == "__main__":
    main()
