#!/usr/bin/env python3
"""Writes networks with drawn weights: as .tflite and .int8.onnx with int8, and as .onnx with float32; the transformer as .onnx alone.
The same name gives the same network each time.

    networks.py NAME|small|all FOLDER    FOLDER/NAME.tflite, FOLDER/NAME.int8.onnx and FOLDER/NAME.onnx, and a line for each file

Weights are drawn so that each channel has mean about 0 and deviation about 1 on drawn images, as batch normalisation leaves it. The scales of
int8 come from the largest and smallest values of the float network on these images. Each .onnx passes ONNX's checker, and onnx_reference.py
computes from it what the network was while it was drawn. Each .tflite is read back and run by tflite_reference.py: its line says how many
values of the worst tensor stand at 127, and how far what is before SOFTMAX is from the floats. Each .int8.onnx has the weights and scales
of the .tflite, as QuantizeLinear and DequantizeLinear around operators of floats.
"""
import math
import pathlib
import sys
import zlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

import onnx_reference
import tflite_reference as reference
import tflite_writer as w

IMAGES = 4  # that scales are taken from


class Layer:
    """An operator of a network of floats: positions of its input and output, weights [o, h, w, i], [h, w, c] or [o, i], bias [o]."""

    def __init__(self, operation, inputs, output, weights=None, bias=None, **options):
        self.operation, self.inputs, self.output, self.weights, self.bias, self.options = operation, inputs, output, weights, bias, options


def rounded(values):
    """To 11 bits, so that sums in another order give the same file."""
    return values.astype(numpy.float16).astype(numpy.float32)


def activated(values, word):
    return {"NONE": values, "RELU": numpy.maximum(values, 0), "RELU6": numpy.clip(values, 0, 6)}[word]


class Network:
    """A network of floats that is computed while it is described. Arrays have the shape [images, h, w, c] or [images, c]; methods take and
    give positions of arrays."""

    def __init__(self, name, shape, images=IMAGES):
        self.name, self.draw, self.layers, self.arrays = name, numpy.random.RandomState(zlib.crc32(name.encode())), [], []
        self.input = self.keep(self.images(images, shape))

    def images(self, count, shape):
        """Values in [-1, 1]. Pictures have bright and dark areas and an own brightness, so that they differ behind a mean of all pixels."""
        fine = self.draw.uniform(-1, 1, (count, *shape))
        if len(shape) == 1:
            return fine.astype(numpy.float32)
        coarse = self.draw.uniform(-1, 1, (count, 4, 4, shape[2]))
        rows, columns = (numpy.arange(one) * 4 // one for one in shape[:2])
        brightness = self.draw.uniform(-0.4, 0.4, (count, 1, 1, shape[2]))
        return numpy.clip(0.25 * fine + 0.5 * coarse[:, rows][:, :, columns] + brightness, -1, 1).astype(numpy.float32)

    def keep(self, array):
        self.arrays.append(array)
        return len(self.arrays) - 1

    def weighted(self, operation, x, weights, sums_of, activation, channel_axis, **options):
        """Draws a gain and a bias for each channel, by what the weights give for the images. Where a channel has few values, all channels
        have one deviation: the small differences between few images would become large, and the errors of int8 with them."""
        sums = sums_of(weights)
        axes = tuple(range(sums.ndim - 1))
        channels = sums.shape[-1]
        if sums.size // channels < 32:
            gain = rounded(numpy.full(channels, 1 / sums.std()))
            bias = rounded(self.draw.normal(0, 0.4, channels))
        else:
            gain = rounded(self.draw.uniform(0.6, 1.4, channels) / (sums.std(axis=axes) + 0.05))
            bias = rounded(self.draw.normal(0.2, 0.4, channels) - sums.mean(axis=axes) * gain)
        spread = [1] * weights.ndim
        spread[channel_axis] = channels
        result = self.keep(activated((sums * gain + bias).astype(numpy.float32), activation))
        self.layers.append(Layer(operation, [x], result, weights * gain.reshape(spread), bias, activation=activation, **options))
        return result

    def windows(self, x, kernel, stride):
        options = {"padding": "SAME", "stride_h": stride, "stride_w": stride}
        return reference.windows(self.arrays[x], *kernel, options, numpy.float32(0))[0]

    def conv(self, x, channels, kernel, stride=1, activation="NONE"):
        """A convolution with padding SAME."""
        depth = self.arrays[x].shape[3]
        weights = self.draw.normal(0, 1 / math.sqrt(math.prod(kernel) * depth), (channels, *kernel, depth)).astype(numpy.float32)

        def sums(weights):
            taken = self.windows(x, kernel, stride)
            return (taken.reshape(-1, weights[0].size) @ weights.reshape(channels, -1).T).reshape(*taken.shape[:3], channels)
        return self.weighted("conv", x, weights, sums, activation, 0, kernel=kernel, stride=stride)

    def depthwise(self, x, kernel, stride=1, activation="NONE"):
        weights = self.draw.normal(0, 1 / math.sqrt(math.prod(kernel)), (*kernel, self.arrays[x].shape[3])).astype(numpy.float32)
        sums = lambda weights: (self.windows(x, kernel, stride) * weights).sum(axis=(3, 4))
        return self.weighted("depthwise", x, weights, sums, activation, 2, kernel=kernel, stride=stride)

    def dense(self, x, channels, activation="NONE"):
        depth = self.arrays[x].shape[1]
        weights = self.draw.normal(0, 1 / math.sqrt(depth), (channels, depth)).astype(numpy.float32)
        return self.weighted("dense", x, weights, lambda weights: self.arrays[x] @ weights.T, activation, 0)

    def add(self, x, y, activation="NONE"):
        result = self.keep(activated(self.arrays[x] + self.arrays[y], activation))
        self.layers.append(Layer("add", [x, y], result, activation=activation))
        return result

    def pool(self, x, kernel, stride, largest=True):
        """The maximum, with padding SAME; values are not negative."""
        taken = self.windows(x, kernel, stride)
        result = self.keep(taken.max(axis=(3, 4)))
        self.layers.append(Layer("pool", [x], result, kernel=kernel, stride=stride))
        return result

    def mean(self, x):
        """Of all pixels: [images, h, w, c] to [images, c]."""
        result = self.keep(self.arrays[x].mean(axis=(1, 2)))
        self.layers.append(Layer("mean", [x], result))
        return result

    def softmax(self, x):
        powers = numpy.exp(self.arrays[x] - self.arrays[x].max(axis=-1, keepdims=True))
        result = self.keep(powers / powers.sum(axis=-1, keepdims=True))
        self.layers.append(Layer("softmax", [x], result))
        return result

    def macs(self):
        return sum(math.prod(self.arrays[one.output].shape[1:]) * one.weights[0].size if one.operation in ("conv", "dense") else
                   math.prod(self.arrays[one.output].shape[1:]) * math.prod(one.options["kernel"])
                   for one in self.layers if one.operation in ("conv", "dense", "depthwise"))


# Networks

def mobilenet_v1(name="mobilenet_v1_025_96"):
    """A quarter of MobileNetV1's channels, 96 by 96 by 3, two classes (MLPerf Tiny: visual wake words)."""
    n = Network(name, (96, 96, 3))
    x = n.conv(n.input, 8, (3, 3), 2, "RELU6")
    for channels, stride in [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)]:
        x = n.conv(n.depthwise(x, (3, 3), stride, "RELU6"), channels, (1, 1), 1, "RELU6")
    n.softmax(n.dense(n.mean(x), 2))
    return n


def resnet_8(name="resnet_8_32"):
    """Three stages of one block, 32 by 32 by 3, ten classes (MLPerf Tiny: image classification)."""
    n = Network(name, (32, 32, 3))
    x = n.conv(n.input, 16, (3, 3), 1, "RELU")
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        y = n.conv(n.conv(x, channels, (3, 3), stride, "RELU"), channels, (3, 3))
        x = n.add(x if stride == 1 else n.conv(x, channels, (1, 1), stride), y, "RELU")
    n.softmax(n.dense(n.mean(x), 10))
    return n


def ds_cnn(name="ds_cnn_49x10"):
    """Depthwise separable convolutions over 49 times of 10 coefficients, twelve words (MLPerf Tiny: keyword spotting)."""
    n = Network(name, (49, 10, 1))
    x = n.conv(n.input, 64, (10, 4), 2, "RELU")
    for _ in range(4):
        x = n.conv(n.depthwise(x, (3, 3), 1, "RELU"), 64, (1, 1), 1, "RELU")
    n.softmax(n.dense(n.mean(x), 12))
    return n


def autoencoder(name="autoencoder_640", layers=1):
    """640 - 128 - 8 - 128 - 640. MLPerf Tiny's (anomaly detection) has `layers` = 4 of 128 on each side."""
    n = Network(name, (640,), 64)
    x = n.input
    for channels in [128] * layers + [8] + [128] * layers:
        x = n.dense(x, channels, "RELU")
    n.dense(x, 640)
    return n


def mobilenet_v2(name="mobilenet_v2_224"):
    """1.0, 224 by 224 by 3, 1000 classes."""
    n = Network(name, (224, 224, 3), 1)
    x, depth = n.conv(n.input, 32, (3, 3), 2, "RELU6"), 32
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for expansion, channels, times, first in stages:
        for at in range(times):
            stride = first if at == 0 else 1
            y = x if expansion == 1 else n.conv(x, depth * expansion, (1, 1), 1, "RELU6")
            y = n.conv(n.depthwise(y, (3, 3), stride, "RELU6"), channels, (1, 1))
            x, depth = n.add(x, y) if stride == 1 and depth == channels else y, channels
    n.dense(n.mean(n.conv(x, 1280, (1, 1), 1, "RELU6")), 1000)
    return n


def resnet_18(name="resnet_18_224"):
    """224 by 224 by 3, 1000 classes. Padding is SAME, so at stride 2 more of it stands behind."""
    n = Network(name, (224, 224, 3), 1)
    x, depth = n.pool(n.conv(n.input, 64, (7, 7), 2, "RELU"), (3, 3), 2), 64
    for channels, first in ((64, 1), (128, 2), (256, 2), (512, 2)):
        for stride in (first, 1):
            y = n.conv(n.conv(x, channels, (3, 3), stride, "RELU"), channels, (3, 3))
            x, depth = n.add(x if depth == channels else n.conv(x, channels, (1, 1), stride), y, "RELU"), channels
    n.dense(n.mean(x), 1000)
    return n


# TensorFlow Lite

def range_of(array):
    """(scale, zero point) of int8 for the values of an array and 0."""
    low, high = min(0.0, float(array.min())), max(0.0, float(array.max()))
    scale = numpy.float32(max(high - low, 1e-3) / 255)
    return scale, int(numpy.clip(round(-128 - low / float(scale)), -128, 127))


def scales_of(network):
    """(scale, zero point) of each array."""
    found = [range_of(one) for one in network.arrays]
    for layer in network.layers:
        if layer.operation == "softmax":
            found[layer.output] = (numpy.float32(1 / 256), -128)
        if layer.operation == "pool":
            found[layer.output] = found[layer.inputs[0]]
    return found


def levels_of(layer, scales):
    """The weights of a layer as int8, their scales, the axis that these stand along, and the bias as int32. Convolutions have a scale for
    each channel, dense layers one in all."""
    axis = {"conv": 0, "depthwise": 3, "dense": 0}[layer.operation]
    weights = layer.weights[None] if layer.operation == "depthwise" else layer.weights
    if layer.operation == "dense":
        weight_scales = numpy.array([numpy.abs(weights).max() / 127], numpy.float32)
        spread = 1
    else:
        weight_scales = (numpy.abs(weights).max(axis=tuple(one for one in range(4) if one != axis)) / 127).astype(numpy.float32)
        spread = [len(weight_scales) if one == axis else 1 for one in range(4)]
    levels = numpy.clip(numpy.round(weights / weight_scales.reshape(spread)), -127, 127).astype(numpy.int8)
    bias_scales = (weight_scales * scales[layer.inputs[0]][0]).astype(numpy.float32)
    return levels, weight_scales, axis, numpy.round(layer.bias.astype(numpy.float64) / bias_scales).astype(numpy.int32)


def to_tflite(network):
    """The bytes of the file: activations with one scale, weights with one for each channel (dense ones with one in all), biases of int32."""
    scales = scales_of(network)
    buffers, codes, numbers, tensors, nodes = [w.buffer()], [], [], [], []
    operators = {one: number for number, one in reference.BUILTIN.items()}

    def quantised(scale, zero_point):
        return w.quantisation([float(scale)], [zero_point])

    for at, (array, (scale, zero_point)) in enumerate(zip(network.arrays, scales)):
        name = "input" if at == network.input else f"a{at}"
        tensors.append(w.tensor(name, "int8", [1, *array.shape[1:]], 0, quantised(scale, zero_point)))

    def constant(name, array, quantisation=None):
        buffers.append(w.buffer(numpy.ascontiguousarray(array).tobytes()))
        tensors.append(w.tensor(name, str(array.dtype), list(array.shape), len(buffers) - 1, quantisation))
        return len(tensors) - 1

    def node(operation, inputs, output, kind, *fields):
        if operation not in numbers:
            numbers.append(operation)
            codes.append(w.code(operators[operation], operators[operation], 2))
        nodes.append(w.node(numbers.index(operation), inputs, [output], kind, w.Table(*fields)))

    activation = lambda field, layer: w.i8(field, reference.ACTIVATION.index(layer.options["activation"]))
    for layer in network.layers:
        name = f"a{layer.output}"
        if layer.weights is not None:
            levels, weight_scales, axis, bias = levels_of(layer, scales)
            bias_scales = (weight_scales * scales[layer.inputs[0]][0]).astype(numpy.float32)
            kept = w.quantisation(weight_scales.tolist(), [0] * len(weight_scales), axis if len(weight_scales) > 1 else 0)
            inputs = [layer.inputs[0], constant(f"{name}/weights", levels, kept),
                      constant(f"{name}/bias", bias, w.quantisation(bias_scales.tolist(), [0] * len(bias_scales)))]
        if layer.operation == "conv":
            stride = layer.options["stride"]
            node("CONV_2D", inputs, layer.output, 1, w.i8(0, 0), w.i32(1, stride), w.i32(2, stride), activation(3, layer))
        elif layer.operation == "depthwise":
            stride = layer.options["stride"]
            node("DEPTHWISE_CONV_2D", inputs, layer.output, 2, w.i8(0, 0), w.i32(1, stride), w.i32(2, stride), w.i32(3, 1), activation(4, layer))
        elif layer.operation == "dense":
            node("FULLY_CONNECTED", inputs, layer.output, 8, activation(0, layer))
        elif layer.operation == "add":
            node("ADD", layer.inputs, layer.output, 11, activation(0, layer))
        elif layer.operation == "pool":
            (height, width), stride = layer.options["kernel"], layer.options["stride"]
            node("MAX_POOL_2D", layer.inputs, layer.output, 5, w.i8(0, 0), w.i32(1, stride), w.i32(2, stride), w.i32(3, width), w.i32(4, height))
        elif layer.operation == "mean":
            node("MEAN", [layer.inputs[0], constant(f"{name}/axes", numpy.array([1, 2], numpy.int32))], layer.output, 27, w.truth(0, False))
        elif layer.operation == "softmax":
            node("SOFTMAX", layer.inputs, layer.output, 9, w.f32(0, 1.0))
        else:
            raise ValueError(f"{layer.operation} is not written for TensorFlow Lite")
    return w.model(codes, [w.subgraph(tensors, [network.input], [network.layers[-1].output], nodes)], buffers)


def levels_of_image(network, scales):
    """The first image as int8."""
    scale, zero_point = scales[network.input]
    return numpy.clip(numpy.round(network.arrays[network.input][:1] / scale) + zero_point, -128, 127).astype(numpy.int8)


def last_scores(network):
    """The last array that is not a softmax."""
    return next(one.output for one in reversed(network.layers) if one.operation != "softmax")


def decibels(network, levels, scales, at):
    """The signal over the noise of an array of int8."""
    found = (levels.astype(numpy.float64) - scales[at][1]) * float(scales[at][0])
    real = network.arrays[at][:1].astype(numpy.float64)
    return 10 * math.log10((real ** 2).sum() / ((found - real) ** 2).sum())


def tried(network, data):
    """What the reference says of a .tflite: the share of values at 127 in the worst tensor, and the signal over the noise of the output in
    decibels, for the first image. Tensors of fewer than 100 values do not count for the share."""
    model, scales = reference.read(data), scales_of(network)
    values = reference.run_all(model, [levels_of_image(network, scales)])
    shares = [(values[one.output] == 127).mean() for one in network.layers if values[one.output].size >= 100]
    return max(shares), decibels(network, values[last_scores(network)], scales, last_scores(network))


def tried_int8_onnx(network, model):
    """Likewise, what onnx_reference.py says of an .int8.onnx, in decibels."""
    scales, at = scales_of(network), last_scores(network)
    image = levels_of_image(network, scales).astype(int) + 128
    values = onnx_reference.run(model, {"input": image.transpose(0, 3, 1, 2) if image.ndim == 4 else image})
    return decibels(network, values["output" if at == network.layers[-1].output else f"a{at}"] - 128, scales, at)


# ONNX

class Writer:
    """Nodes and constants of a graph of ONNX. Methods take and give names."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(numpy.ascontiguousarray(array).reshape(numpy.shape(array)), name))
        return name

    def node(self, operation, inputs, output, **attributes):
        self.nodes.append(helper.make_node(operation, inputs, [output], name=f"{operation}_{len(self.nodes)}", **attributes))
        return output

    def model(self, name, inputs, outputs, elements=TensorProto.FLOAT):
        """Inputs and outputs are (name, shape); shapes between are inferred and written."""
        values = [[helper.make_tensor_value_info(one, elements, shape) for one, shape in each] for each in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, name, *values, self.constants)
        made = helper.make_model(graph, producer_name="networks.py", opset_imports=[helper.make_opsetid("", 13)])
        made.ir_version = 7
        made = shape_inference.infer_shapes(made, check_type=True, strict_mode=True)
        onnx.checker.check_model(made, full_check=True)
        return made


def pads(extents, kernel, stride):
    """[top, left, bottom, right] of padding SAME."""
    before, after = [], []
    for extent, reach in zip(extents, kernel):
        result, front = reference.window_place(extent, reach, stride, 1, "SAME")
        before.append(front)
        after.append(max(0, (result - 1) * stride + reach - extent) - front)
    return before + after


def to_onnx(network, scales=None):
    """Arrays are [1, c, h, w]; activations are nodes of their own. With scales, weights are int8, biases int32, and
    inputs, outputs and what lies between are uint8, which is what ONNX Runtime is fast with: each level is 128 more than the .tflite's."""
    out, names = Writer(), {network.input: "input"}
    last = network.layers[-1].output

    def dequantised(levels, scale, zero_point, **attributes):
        """The floats of integers, by name."""
        prefix = f"{levels}/real"
        parameters = [out.constant(f"{prefix}/scale", numpy.asarray(scale, numpy.float32)), out.constant(f"{prefix}/zero", zero_point)]
        return out.node("DequantizeLinear", [levels, *parameters], prefix, **attributes)

    def rounded_as(x, at, levels):
        """QuantizeLinear with the scale of an array."""
        scale, zero_point = scales[at]
        return out.node("QuantizeLinear", [x, out.constant(f"{levels}/scale", scale), out.constant(f"{levels}/zero", numpy.uint8(zero_point + 128))], levels)

    if scales:
        names[network.input] = dequantised("input", scales[network.input][0], numpy.uint8(scales[network.input][1] + 128))
    for layer in network.layers:
        name, shape = "output" if layer.output == last else f"a{layer.output}", network.arrays[layer.inputs[0]].shape
        inputs, activation = [names[one] for one in layer.inputs], layer.options.get("activation", "NONE")
        result = f"{name}/float" if scales else name
        before = result if activation == "NONE" else f"{name}/sum"
        if layer.weights is not None:
            turned = {"conv": lambda x: x.transpose(0, 3, 1, 2), "depthwise": lambda x: x.reshape(x.shape[-3:]).transpose(2, 0, 1)[:, None],
                      "dense": lambda x: x}[layer.operation]
            if scales:
                levels, weight_scales, _, bias = levels_of(layer, scales)
                by_channel = {"axis": 0} if len(weight_scales) > 1 else {}
                of = (lambda array: array) if by_channel else (lambda array: array[0])
                zeros = lambda kind: of(numpy.zeros(len(weight_scales), kind))
                inputs.append(dequantised(out.constant(f"{name}/weights", turned(levels)), of(weight_scales), zeros(numpy.int8), **by_channel))
                bias_scales = of(weight_scales) * scales[layer.inputs[0]][0]
                inputs.append(dequantised(out.constant(f"{name}/bias", bias), bias_scales, zeros(numpy.int32), **by_channel))
            else:
                inputs += [out.constant(f"{name}/weights", turned(layer.weights)), out.constant(f"{name}/bias", layer.bias)]
        if layer.operation in ("conv", "depthwise", "pool"):
            kernel, stride = layer.options["kernel"], layer.options["stride"]
            placed = {"kernel_shape": list(kernel), "strides": [stride] * 2, "pads": pads(shape[1:3], kernel, stride)}
        if layer.operation in ("conv", "depthwise"):
            out.node("Conv", inputs, before, group=1 if layer.operation == "conv" else shape[3], dilations=[1, 1], **placed)
        elif layer.operation == "dense":
            out.node("Gemm", inputs, before, transB=1)
        elif layer.operation == "add":
            out.node("Add", inputs, before)
        elif layer.operation == "pool":
            out.node("MaxPool", inputs, before, **placed)
        elif layer.operation == "mean":
            mean = out.node("GlobalAveragePool", inputs, f"{name}/mean")
            if scales:
                levels = rounded_as(mean, layer.output, f"{name}/mean/levels")
                mean = dequantised(levels, scales[layer.output][0], numpy.uint8(scales[layer.output][1] + 128))
            out.node("Flatten", [mean], before, axis=1)
        elif layer.operation == "softmax":
            out.node("Softmax", inputs, before, axis=-1)
        if activation == "RELU":
            out.node("Relu", [before], result)
        elif activation == "RELU6":
            if all(one.name != "zero" for one in out.constants):
                out.constant("zero", numpy.float32(0))
                out.constant("six", numpy.float32(6))
            out.node("Clip", [before, "zero", "six"], result)
        if scales:
            rounded_as(result, layer.output, name)
            if layer.output != last:
                names[layer.output] = dequantised(name, scales[layer.output][0], numpy.uint8(scales[layer.output][1] + 128))
        else:
            names[layer.output] = name
    order = lambda shape: [1, shape[3], shape[1], shape[2]] if len(shape) == 4 else [1, *shape[1:]]
    return out.model(network.name, [("input", order(network.arrays[network.input].shape))], [("output", order(network.arrays[last].shape))],
                     TensorProto.UINT8 if scales else TensorProto.FLOAT)


def transformer(name="transformer_128x256"):
    """A block of a transformer: 128 positions of 256 numbers, 4 heads of 64, 1024 hidden; norms stand in front, GELU by Erf."""
    positions, width, heads, hidden = 128, 256, 4, 1024
    draw, out = numpy.random.RandomState(zlib.crc32(name.encode())), Writer()
    shape_of_heads = out.constant("shape_of_heads", numpy.array([1, positions, heads, width // heads], numpy.int64))
    shape_of_rows = out.constant("shape_of_rows", numpy.array([1, positions, width], numpy.int64))
    scalars = {one: out.constant(one, numpy.float32(value)) for one, value in
               (("epsilon", 1e-5), ("two", 2), ("root_of_two", math.sqrt(2)), ("one", 1), ("half", 0.5), ("scale", math.sqrt(heads / width)))}

    def norm(x, prefix):
        mean = out.node("ReduceMean", [x], f"{prefix}/mean", axes=[-1], keepdims=1)
        centred = out.node("Sub", [x, mean], f"{prefix}/centred")
        square = out.node("Pow", [centred, scalars["two"]], f"{prefix}/square")
        variance = out.node("ReduceMean", [square], f"{prefix}/variance", axes=[-1], keepdims=1)
        root = out.node("Sqrt", [out.node("Add", [variance, scalars["epsilon"]], f"{prefix}/shifted")], f"{prefix}/root")
        quotient = out.node("Div", [centred, root], f"{prefix}/quotient")
        gain = out.constant(f"{prefix}/gain", draw.normal(1, 0.1, width).astype(numpy.float32))
        bias = out.constant(f"{prefix}/bias", draw.normal(0, 0.1, width).astype(numpy.float32))
        return out.node("Add", [out.node("Mul", [quotient, gain], f"{prefix}/scaled"), bias], prefix)

    def dense(x, prefix, rows, columns):
        weights = out.constant(f"{prefix}/weights", draw.normal(0, 1 / math.sqrt(rows), (rows, columns)).astype(numpy.float32))
        bias = out.constant(f"{prefix}/bias", draw.normal(0, 0.1, columns).astype(numpy.float32))
        return out.node("Add", [out.node("MatMul", [x, weights], f"{prefix}/product"), bias], prefix)

    def by_heads(x, order):
        return out.node("Transpose", [out.node("Reshape", [x, shape_of_heads], f"{x}/split")], f"{x}/heads", perm=order)

    x = norm("input", "norm_1")
    query = by_heads(dense(x, "query", width, width), [0, 2, 1, 3])
    key = by_heads(dense(x, "key", width, width), [0, 2, 3, 1])
    value = by_heads(dense(x, "value", width, width), [0, 2, 1, 3])
    scores = out.node("Mul", [out.node("MatMul", [query, key], "scores"), scalars["scale"]], "scaled_scores")
    mixed = out.node("MatMul", [out.node("Softmax", [scores], "attention", axis=-1), value], "mixed")
    rows = out.node("Reshape", [out.node("Transpose", [mixed], "mixed/rows", perm=[0, 2, 1, 3]), shape_of_rows], "mixed/joined")
    x = out.node("Add", ["input", dense(rows, "projection", width, width)], "residual")
    y = dense(norm(x, "norm_2"), "up", width, hidden)
    error = out.node("Erf", [out.node("Div", [y, scalars["root_of_two"]], "gelu/divided")], "gelu/erf")
    gate = out.node("Mul", [out.node("Add", [error, scalars["one"]], "gelu/shifted"), scalars["half"]], "gelu/gate")
    out.node("Add", [x, dense(out.node("Mul", [y, gate], "gelu"), "down", hidden, width)], "output")
    return out.model(name, [("input", [1, positions, width])], [("output", [1, positions, width])])


def onnx_macs(model):
    """Multiplications with an addition, by the shapes in the file."""
    graph = model.graph
    shapes = {one.name: [each.dim_value for each in one.type.tensor_type.shape.dim] for one in [*graph.input, *graph.value_info, *graph.output]}
    shapes.update({one.name: list(one.dims) for one in graph.initializer})
    total = 0
    for node in graph.node:
        if node.op_type == "Conv":
            total += math.prod(shapes[node.output[0]]) * math.prod(shapes[node.input[1]][1:])
        elif node.op_type in ("Gemm", "MatMul"):
            total += math.prod(shapes[node.output[0]]) * shapes[node.input[0]][-1]
    return total


def computed_as(network, model):
    """The largest difference between what the file of ONNX and what the network has as output, for the first image."""
    image, wanted = network.arrays[network.input][:1], network.arrays[network.layers[-1].output][:1]
    found = onnx_reference.run(model, {"input": image.transpose(0, 3, 1, 2) if image.ndim == 4 else image})["output"]
    return numpy.abs(found - wanted).max() / numpy.abs(wanted).max()


SMALL = {"mobilenet_v1_025_96": mobilenet_v1, "resnet_8_32": resnet_8, "ds_cnn_49x10": ds_cnn, "autoencoder_640": autoencoder,
         "autoencoder_640_deep": lambda: autoencoder("autoencoder_640_deep", 4)}
LARGE = {"mobilenet_v2_224": mobilenet_v2, "resnet_18_224": resnet_18}
NAMES = [*SMALL, *LARGE, "transformer_128x256"]


def write(name, folder):
    """Writes the files of one network and prints a line for each."""
    if name == "transformer_128x256":
        network, model = None, transformer(name)
        rows = numpy.random.RandomState(1).normal(0, 1, (1, 128, 256))
        deviation = onnx_reference.run(model, {"input": rows})["output"].std()
        if not 0.5 < deviation < 3:
            raise ValueError(f"{name}: the output has a deviation of {deviation}")
    else:
        network = {**SMALL, **LARGE}[name]()
        model = to_onnx(network)
        difference = computed_as(network, model)
        if not difference < 1e-3:
            raise ValueError(f"{name}: the file of ONNX computes something else, by {difference}")
        if onnx_macs(model) != network.macs():
            raise ValueError(f"{name}: {onnx_macs(model)} multiplications in the file, {network.macs()} in the network")
    if network:
        data = to_tflite(network)
        at_end, signal = tried(network, data)
        (folder / f"{name}.tflite").write_bytes(data)
        print(f"{name}.tflite: {len(data)} bytes, {len(reference.read(data).nodes)} nodes, {network.macs()} MACs; "
              f"{100 * at_end:.2f} % of a tensor at 127 at most, {signal:.1f} dB", flush=True)
        quantised = to_onnx(network, scales_of(network))
        (folder / f"{name}.int8.onnx").write_bytes(quantised.SerializeToString())
        signal_of_onnx = tried_int8_onnx(network, quantised)
        print(f"{name}.int8.onnx: {len(quantised.SerializeToString())} bytes, {len(quantised.graph.node)} nodes; {signal_of_onnx:.1f} dB",
              flush=True)
        if at_end > 0.02 or min(signal, signal_of_onnx) < 15:
            raise ValueError(f"{name}: the scales do not fit")
    data = model.SerializeToString()
    (folder / f"{name}.onnx").write_bytes(data)
    onnx.checker.check_model(str(folder / f"{name}.onnx"))
    print(f"{name}.onnx: {len(data)} bytes, {len(model.graph.node)} nodes, {onnx_macs(model)} MACs", flush=True)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in [*NAMES, "small", "all"]:
        print(__doc__ + "\nNAME: " + ", ".join(NAMES))
        return 2
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name in {"all": NAMES, "small": SMALL}.get(sys.argv[1], [sys.argv[1]]):
        write(name, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
