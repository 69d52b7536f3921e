#!/usr/bin/env python3
"""Draws small networks of ONNX from a seed: floats, integers, and quantised ones. The same seed gives the same networks.

    quantised_networks.py COUNT SEED FOLDER [--without OPERATOR…]

Each network has a folder NUMBER_KIND of its own: model.onnx, the elements of its inputs as input_0.bin, …, and for each output a line of
`expected`, which says how far two implementations may be apart, and the shape that it has:

    exact SHAPE             not at all: integers, or floats that are all sums of small powers of two
    step STEP SHAPE         by one step of quantisation: a float before a rounding may differ in its last digits
    float SHAPE             by what roundings add up to; bound_0.bin, … has a bound for each element, in float64

The bound: each sum of n products of float32 has a deviation of up to u * sqrt(n + 1) * (the sum of their magnitudes), where u is 2^-24;
deviations pass through later operators as independent ones do, and the bound is four of them. Every model passes ONNX's checker.
"""
import math
import pathlib
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import onnx_reference

U = 2.0 ** -24
TYPES = {"float32": TensorProto.FLOAT, "int8": TensorProto.INT8, "uint8": TensorProto.UINT8, "int32": TensorProto.INT32}
LIMITS = {"int8": (-128, 127), "uint8": (0, 255)}


class Tensor:
    """A tensor while a network is drawn: its name, what is computed (float64, or integers), and the deviation of each element."""

    def __init__(self, name, array, deviation=None):
        self.name, self.array = name, array
        self.deviation = numpy.zeros(array.shape) if deviation is None else numpy.broadcast_to(deviation, array.shape)

    shape = property(lambda self: self.array.shape)


class Drawing:
    """One network. Methods take and give tensors."""

    def __init__(self, draw):
        self.draw, self.names = draw, 0
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []

    # What models are made of

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def choice(self, *of):
        return of[self.draw.randint(len(of))]

    def number(self, low, high):
        """From low to high, both included."""
        return int(self.draw.randint(low, high + 1))

    def input(self, array):
        name = f"in{len(self.inputs)}"
        self.inputs.append((name, array))
        return Tensor(name, array.astype(numpy.float64) if array.dtype == numpy.float32 else array)

    def constant(self, array):
        name = self.name("c")
        array = numpy.asarray(array)
        self.constants.append(numpy_helper.from_array(array if array.ndim == 0 else numpy.ascontiguousarray(array), name))
        return Tensor(name, array.astype(numpy.float64) if array.dtype == numpy.float32 else array)

    def floats(self, *shape, deviation=1.0):
        return self.constant(self.draw.normal(0, deviation, shape).astype(numpy.float32))

    def node(self, operation, inputs, array, deviation=None, **attributes):
        result = Tensor(self.name("t"), array, deviation)
        self.nodes.append(helper.make_node(operation, [one if isinstance(one, str) else one.name for one in inputs], [result.name], **attributes))
        return result

    def output(self, tensor, rule):
        """`rule` is "exact", "float" or a step."""
        self.outputs.append((tensor, rule))

    # Elementwise

    def each(self, operation, x, function, slope, own=1.0, inputs=(), **attributes):
        """`slope` is how steep the function is at most at each element; `own` how many roundings it adds, of its result or of 1."""
        array = function(x.array)
        deviation = numpy.hypot(slope * x.deviation, own * U * numpy.maximum(numpy.abs(array), 1 if own > 1 else 0))
        return self.node(operation, [x, *inputs], array, deviation, **attributes)

    def activation(self, x):
        word = self.choice("Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "Elu", "Softsign", "Neg", "Abs")
        v = x.array
        if word == "Relu":
            return self.each(word, x, lambda v: numpy.maximum(v, 0), v > 0, 0)
        if word == "Clip":
            low, high = -self.draw.uniform(0, 1), self.draw.uniform(0, 3)
            limits = [self.constant(numpy.float32(one)) for one in (low, high)]
            return self.each(word, x, lambda v: numpy.clip(v, limits[0].array, limits[1].array), 1, 0, limits)
        if word == "LeakyRelu":
            alpha = float(numpy.float32(self.draw.uniform(0, 0.5)))
            return self.each(word, x, lambda v: numpy.where(v < 0, alpha * v, v), 1, alpha=alpha)
        if word == "Sigmoid":
            y = 1 / (1 + numpy.exp(-v))
            return self.each(word, x, lambda v: y, y * (1 - y), 6)
        if word == "Tanh":
            return self.each(word, x, numpy.tanh, 1 - numpy.tanh(v) ** 2, 6)
        if word == "HardSigmoid":
            return self.each(word, x, lambda v: numpy.clip(0.2 * v + 0.5, 0, 1), 0.2, 2)
        if word == "Elu":
            return self.each(word, x, lambda v: numpy.where(v > 0, v, numpy.exp(numpy.minimum(v, 0)) - 1), 1, 6)
        if word == "Softsign":
            return self.each(word, x, lambda v: v / (1 + numpy.abs(v)), 1 / (1 + numpy.abs(v)) ** 2, 2)
        if word == "Neg":
            return self.each(word, x, numpy.negative, 1, 0)
        return self.each("Abs", x, numpy.abs, 1, 0)

    def two(self, operation, a, b):
        function, da, db = {"Add": (numpy.add, 1, 1), "Sub": (numpy.subtract, 1, 1), "Mul": (numpy.multiply, b.array, a.array),
                            "Div": (numpy.divide, 1 / b.array if operation == "Div" else 0, a.array / b.array ** 2 if operation == "Div" else 0),
                            "Max": (numpy.maximum, 1, 1), "Min": (numpy.minimum, 1, 1)}[operation]
        array = function(a.array, b.array)
        deviation = numpy.sqrt((da * a.deviation) ** 2 + (db * b.deviation) ** 2 + (U * array) ** 2)
        return self.node(operation, [a, b], array, deviation)

    # Sums of products

    def summed(self, function, x, w, count, bias=None):
        """What `function`, linear in both of its arguments, gives for x and w, and its deviation."""
        array = function(x.array, w.array)
        variance = function(x.deviation ** 2, w.array ** 2) + function(x.array ** 2, w.deviation ** 2)
        local = function(numpy.abs(x.array), numpy.abs(w.array))
        if bias is not None:
            array, local, variance = array + bias.array, local + numpy.abs(bias.array), variance + bias.deviation ** 2
        return array, numpy.sqrt(variance + (count + 1) * (U * local) ** 2)

    def window(self, spatial, most=3):
        """Attributes of a window that fits the spatial extents."""
        rank = len(spatial)
        kernel = [self.number(1, min(most, one)) for one in spatial]
        dilations = [self.choice(1, 1, 2) if (k - 1) * 2 + 1 <= one else 1 for k, one in zip(kernel, spatial)]
        pads = [self.number(0, kernel[at % rank] - 1) for at in range(2 * rank)] if self.choice(True, False) else [0] * (2 * rank)
        return {"kernel_shape": kernel, "strides": [self.choice(1, 1, 2) for _ in spatial], "dilations": dilations, "pads": pads}

    def conv_drawn(self, x):
        """(attributes, shape of the weights) of a convolution of x."""
        channels = x.shape[1]
        attributes = self.window(x.shape[2:])
        dividers = [one for one in range(1, channels + 1) if channels % one == 0]
        group = self.choice(1, 1, channels, dividers[self.draw.randint(len(dividers))])
        attributes["group"] = group
        return attributes, (group * self.number(1, 6 if group < 3 else 2), channels // group, *attributes["kernel_shape"])

    def conv(self, x):
        attributes, shape = self.conv_drawn(x)
        count = math.prod(shape[1:])
        weights = self.floats(*shape, deviation=1 / math.sqrt(count))
        bias = self.floats(shape[0]) if self.choice(True, False) else None
        return self.conv_of(x, weights, bias, attributes)

    def conv_of(self, x, weights, bias, attributes):
        spread = None if bias is None else Tensor("", bias.array.reshape(-1, *[1] * (x.array.ndim - 2)), bias.deviation.reshape(-1, *[1] * (x.array.ndim - 2)))
        array, deviation = self.summed(lambda a, b: convolved(a, b, attributes), x, weights, math.prod(weights.shape[1:]), spread)
        return self.node("Conv", [x, weights] + ([bias] if bias else []), array, deviation, **attributes)

    def matmul(self, a, b):
        return self.node("MatMul", [a, b], *self.summed(numpy.matmul, a, b, a.shape[-1]))

    def gemm(self, x):
        depth, width = x.shape[1], self.number(1, 12)
        turned, alpha, beta = self.choice(0, 1), self.choice(1.0, 1.0, 0.5), self.choice(1.0, 1.0, 0.25)
        weights = self.floats(*((width, depth) if turned else (depth, width)), deviation=1 / math.sqrt(depth))
        bias = self.floats(*self.choice((width,), (1, width), (1, 1), (x.shape[0], width))) if self.choice(True, True, False) else None
        array, deviation = self.summed(lambda a, b: alpha * (a @ (b.T if turned else b)), x, weights, depth + 2,
                                       bias and Tensor("", beta * bias.array))
        return self.node("Gemm", [x, weights] + ([bias] if bias else []), array, deviation, transB=turned, alpha=alpha, beta=beta)

    # Windows and reductions

    def pool(self, x, largest=None):
        largest = self.choice(True, False) if largest is None else largest
        attributes = self.window(x.shape[2:])
        if largest:
            taken, deviation = (taps(one, attributes, fill) for one, fill in ((x.array, -math.inf), (x.deviation, 0)))
            return self.node("MaxPool", [x], taken.max(axis=-1), deviation.max(axis=-1), **attributes)
        attributes.pop("dilations")
        counts_pads = attributes["count_include_pad"] = self.choice(0, 1)
        count = numpy.full(x.shape, 1.0)
        count = math.prod(attributes["kernel_shape"]) if counts_pads else taps(count, attributes, 0).sum(axis=-1)
        taken = taps(x.array, attributes, 0)
        local = math.sqrt(taken.shape[-1] + 1) * U * numpy.abs(taken).sum(axis=-1)
        deviation = numpy.sqrt((taps(x.deviation, attributes, 0) ** 2).sum(axis=-1) + local ** 2) / count
        return self.node("AveragePool", [x], taken.sum(axis=-1) / count, deviation, **attributes)

    def mean(self, operation, x, over, **attributes):
        count = math.prod(x.shape[one] for one in over)
        local = math.sqrt(count + 1) * U * numpy.abs(x.array).sum(axis=over, keepdims=True)
        deviation = numpy.sqrt((x.deviation ** 2).sum(axis=over, keepdims=True) + local ** 2) / count
        return self.node(operation, [x], x.array.mean(axis=over, keepdims=True), deviation, **attributes)

    def global_mean(self, x):
        return self.mean("GlobalAveragePool", x, tuple(range(2, x.array.ndim)))

    def softmax(self, x, axis=-1):
        y = onnx_reference.softmax(x.array, axis)
        below = x.array.max(axis=axis, keepdims=True) - x.array
        spread = numpy.sqrt(((y * x.deviation) ** 2).sum(axis=axis, keepdims=True))
        deviation = y * (x.deviation + spread + U * (below + math.sqrt(x.shape[axis]) + 6))
        return self.node("Softmax", [x], y, deviation, axis=axis)

    def norm(self, x):
        """A normalisation of the last dimension, by its parts or by one operator."""
        gain, shift = self.floats(x.shape[-1]), self.floats(x.shape[-1])
        axis = x.array.ndim - 1
        mark = len(self.nodes)
        mean = self.mean("ReduceMean", x, (axis,), axes=[-1], keepdims=1)
        centred = self.two("Sub", x, mean)
        variance = self.mean("ReduceMean", self.two("Mul", centred, centred), (axis,), axes=[-1], keepdims=1)
        shifted = self.two("Add", variance, self.constant(numpy.float32(1e-5)))
        root = self.each("Sqrt", shifted, numpy.sqrt, 0.5 / numpy.sqrt(shifted.array))
        result = self.two("Add", self.two("Mul", self.two("Div", centred, root), gain), shift)
        if self.choice(True, False):
            return result
        del self.nodes[mark:]
        return self.node("LayerNormalization", [x, gain, shift], result.array, result.deviation, axis=-1, epsilon=float(numpy.float32(1e-5)))

    # Movement

    def moved(self, operation, inputs, move, **attributes):
        of = [one for one in inputs if not (isinstance(one, Tensor) and one.array.dtype == numpy.int64)]
        return self.node(operation, inputs, move(*[one.array for one in of]), move(*[one.deviation for one in of]), **attributes)

    def reshape(self, x, shape):
        return self.moved("Reshape", [x, self.constant(numpy.array(shape, numpy.int64))], lambda a: a.reshape(shape))

    def transpose(self, x, order):
        return self.moved("Transpose", [x], lambda a: a.transpose(order), perm=list(order))

    def slice(self, x, axis):
        extent = x.shape[axis]
        step = self.choice(1, 1, 2, -1)
        begin, end = sorted([self.number(0, extent - 1), self.number(0, extent - 1)])
        if step < 0:
            begin, end = end, begin - 1 - extent if begin == 0 else begin - 1
        else:
            end += 1
        of = slice(begin, None if end < 0 else end, step)
        operands = [self.constant(numpy.array([one], numpy.int64)) for one in (begin, end, axis, step)]
        return self.moved("Slice", [x, *operands], lambda a: a[(slice(None),) * axis + (of,)])

    def concat(self, all, axis):
        return self.moved("Concat", all, lambda *a: numpy.concatenate(a, axis), axis=axis)

    def flatten(self, x):
        return self.moved("Flatten", [x], lambda a: a.reshape(a.shape[0], -1), axis=1)

    # Quantisation

    def scale_of(self, array, kind, exact):
        """(scale, zero point) for the values of an array."""
        low, high = min(0.0, float(array.min())), max(0.0, float(array.max()))
        least, most = LIMITS[kind]
        scale = numpy.float32(max(high - low, 1e-3) / 255)
        if exact:
            scale = numpy.float32(2.0 ** round(math.log2(scale)))
        return scale, int(numpy.clip(round(least - low / float(scale)), least, most))

    def quantised(self, x, exact, kind=None):
        """QuantizeLinear and DequantizeLinear; (the integers, the floats, the scale)."""
        kind = kind or self.choice("int8", "uint8")
        scale, zero = self.scale_of(x.array, kind, exact)
        levels = numpy.clip(numpy.round(x.array / float(scale)) + zero, *LIMITS[kind]).astype(kind)
        operands = [self.constant(scale), self.constant(numpy.array(zero, kind))]
        integers = self.node("QuantizeLinear", [x, *operands], levels)
        floats = self.node("DequantizeLinear", [integers, *operands], (levels.astype(numpy.float64) - zero) * float(scale))
        return integers, floats, scale

    def quantised_weights(self, shape, axis, exact, deviation):
        """(levels of int8, scales, the floats as a tensor of the network)."""
        real = self.draw.normal(0, deviation, shape)
        others = tuple(one for one in range(len(shape)) if one != axis)
        by_channel = self.choice(True, False)
        most = numpy.abs(real).max(axis=others) if by_channel else numpy.abs(real).max()
        scale = numpy.maximum(most / 127, 1e-4)
        scale = 2.0 ** numpy.ceil(numpy.log2(scale)) if exact else scale
        scale = scale.astype(numpy.float32) if by_channel else numpy.float32(scale)
        spread = numpy.asarray(scale, numpy.float64).reshape([-1 if at == axis else 1 for at in range(len(shape))] if by_channel else [])
        levels = numpy.clip(numpy.round(real / spread), -127, 127).astype(numpy.int8)
        operands = [self.constant(levels), self.constant(scale)]
        if self.choice(True, False):
            operands.append(self.constant(numpy.zeros(scale.shape, numpy.int8)))
        attributes = {"axis": axis} if by_channel else {}
        return self.node("DequantizeLinear", operands, levels * spread, **attributes), scale

    def quantised_bias(self, count, scale):
        """Integers of 32 bits with the scales of the sums."""
        scale = numpy.asarray(scale, numpy.float32)
        levels = numpy.round(self.draw.normal(0, 0.4, count) / scale).clip(-2 ** 20, 2 ** 20).astype(numpy.int32)
        attributes = {"axis": 0} if scale.ndim else {}
        return self.node("DequantizeLinear", [self.constant(levels), self.constant(scale)], levels * scale.astype(numpy.float64), **attributes)


def taps(x, attributes, fill):
    """[n, c, ..., taps] of x [n, c, ...]; `fill` lies outside."""
    rank = x.ndim - 2
    kernel, strides, pads = (attributes[one] for one in ("kernel_shape", "strides", "pads"))
    dilations = attributes.get("dilations", [1] * rank)
    padded = numpy.pad(x, [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:])], constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    found = numpy.lib.stride_tricks.sliding_window_view(padded, reach, axis=tuple(range(2, 2 + rank)))
    found = found[(slice(None),) * 2 + tuple(slice(None, None, one) for one in strides) + tuple(slice(None, None, one) for one in dilations)]
    return found.reshape(*found.shape[:2 + rank], -1)


def convolved(x, weights, attributes, fill=0):
    """A convolution of x [n, c, ...] with weights [o, c / group, ...]."""
    group = attributes["group"]
    parts = []
    for inside, of in zip(numpy.split(taps(x, attributes, fill), group, axis=1), numpy.split(weights, group)):
        parts.append(numpy.einsum("nc...t,oct->no...", inside, of.reshape(*of.shape[:2], -1)))
    return numpy.concatenate(parts, axis=1)


# Kinds of networks

def image(d, most=16):
    """A float input of 1 to 3 spatial dimensions."""
    spatial = [d.number(3, most) for _ in range(d.choice(1, 2, 2, 2, 3))]
    return d.input(d.draw.uniform(-1, 1, (d.choice(1, 1, 2), d.number(1, 8), *spatial)).astype(numpy.float32))


def floats_of_windows(d):
    x = image(d)
    for _ in range(d.number(1, 4)):
        before = x
        x = d.choice(d.conv, d.conv, d.pool)(x)
        if d.choice(True, False):
            x = d.activation(x)
        if x.shape == before.shape:
            x = d.two(d.choice("Add", "Mul", "Sub", "Max"), before, x)
        step = d.number(0, 5)
        if step == 0:
            x = d.concat([x, d.activation(x)] if d.choice(True, False) else [d.activation(x), x, x], 1)
        elif step == 1:
            x = d.slice(x, d.number(1, x.array.ndim - 1))
        elif step == 2 and x.array.ndim == 4:
            x = d.transpose(x, (0, 1, 3, 2))
    if d.choice(True, False):
        d.output(x, "float")
        x = d.flatten(d.global_mean(x))
        x = d.gemm(x)
        x = d.softmax(x) if d.choice(True, False) else x
    d.output(x, "float")


def floats_of_rows(d):
    batch, rows, heads = d.number(1, 3), d.number(2, 9), d.choice(1, 2, 3)
    width = heads * d.number(2, 8)
    x = d.input(d.draw.uniform(-1, 1, (batch, rows, width)).astype(numpy.float32))
    for _ in range(d.number(1, 3)):
        step = d.number(0, 4)
        if step == 0:
            x = d.norm(x)
        elif step == 1:
            product = d.matmul(x, d.floats(width, width, deviation=1 / math.sqrt(width)))
            x = d.two("Add", x, d.activation(d.two("Add", product, d.floats(width))))
        elif step == 2:
            parts = []
            for order in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)):
                projected = d.matmul(x, d.floats(width, width, deviation=1 / math.sqrt(width)))
                parts.append(d.transpose(d.reshape(projected, (batch, rows, heads, width // heads)), order))
            mixed = d.matmul(d.softmax(d.matmul(parts[0], parts[1])), parts[2])
            x = d.two("Add", x, d.reshape(d.transpose(mixed, (0, 2, 1, 3)), (batch, rows, width)))
        elif step == 3:
            x = d.two(d.choice("Add", "Mul", "Max", "Min"), x, d.activation(x))
        else:
            x = d.softmax(x, d.choice(1, -1))
    if d.choice(True, False):
        d.output(x, "float")
        x = d.gemm(d.reshape(x, (batch * rows, width)))
    d.output(x, "float")


def integers(d):
    """ConvInteger and MatMulInteger. Weights of int8 have 7 bits: processors without VNNI add pairs of products in 16 bits."""
    kinds = d.choice("uint8", "int8"), d.choice("uint8", "int8")
    levels = lambda kind, shape, weights: d.draw.randint(*((-64, 64) if weights and kind == "int8" else (LIMITS[kind][0], LIMITS[kind][1] + 1)), shape).astype(kind)
    zero = lambda kind, weights: d.constant(levels(kind, (), weights))
    if d.choice(True, False):
        kinds = "uint8", kinds[1]
        spatial = [d.number(3, 14) for _ in range(d.choice(1, 2, 2))]
        x = d.input(levels(kinds[0], (d.choice(1, 2), d.number(1, 6), *spatial), False))
        attributes, shape = d.conv_drawn(x)
        w = d.constant(levels(kinds[1], shape, True))
        zeros = [zero(kinds[0], False), zero(kinds[1], True)][:d.number(0, 2)]
        shifts = [int(one.array) for one in zeros] + [0] * (2 - len(zeros))
        array = convolved(x.array.astype(numpy.int32) - shifts[0], w.array.astype(numpy.int32) - shifts[1], attributes)
        y = d.node("ConvInteger", [x, w, *zeros], array.astype(numpy.int32), **attributes)
    else:
        outer = d.choice((), (2,), (2, 3))
        m, k, n = d.number(1, 9), d.number(1, 20), d.number(1, 9)
        x = d.input(levels(kinds[0], (*outer, m, k), False))
        shape = (k, n) if d.choice(True, False) else (*outer, k, n)
        w = d.input(levels(kinds[1], shape, True)) if d.choice(True, False) else d.constant(levels(kinds[1], shape, True))
        zeros = [zero(kinds[0], False), zero(kinds[1], True)][:d.number(0, 2)]
        shifts = [int(one.array) for one in zeros] + [0] * (2 - len(zeros))
        array = (x.array.astype(numpy.int32) - shifts[0]) @ (w.array.astype(numpy.int32) - shifts[1])
        y = d.node("MatMulInteger", [x, w, *zeros], array.astype(numpy.int32))
    for _ in range(d.number(0, 2)):
        other = d.constant(d.draw.randint(-1000, 1000, y.shape[-1:]).astype(numpy.int32))
        operation = d.choice("Add", "Sub", "Mul", "Max", "Min")
        function = {"Add": numpy.add, "Sub": numpy.subtract, "Mul": numpy.multiply, "Max": numpy.maximum, "Min": numpy.minimum}[operation]
        y = d.node(operation, [y, other], function(y.array, other.array))
    d.output(y, "exact")
    if d.choice(True, False):
        scale = d.constant(numpy.float32(2.0 ** -d.number(4, 12)))
        converted = d.node("Cast", [y], y.array.astype(numpy.float32).astype(numpy.float64), to=TensorProto.FLOAT)
        d.output(d.node("Mul", [converted, scale], converted.array * scale.array), "exact")


def finish_quantised(d, x, exact):
    """The integers as output, the floats, or both."""
    q, floats, scale = d.quantised(x, exact)
    which = d.number(0, 2)
    if which != 1:
        d.output(q, "exact" if exact else 1)
    if which != 0:
        d.output(floats, "exact" if exact else float(scale))


def quantised_windows(d, exact):
    x = image(d, 12)
    scale = d.quantised(x, exact)[1:]
    x, scale = scale
    for _ in range(d.number(1, 3)):
        before = x
        step = d.number(0, 5)
        if step < 4:
            attributes, shape = d.conv_drawn(x)
            w, weight_scale = d.quantised_weights(shape, 0, exact, 1 / math.sqrt(math.prod(shape[1:])))
            bias = d.quantised_bias(shape[0], scale * weight_scale) if d.choice(True, False) else None
            x = d.conv_of(x, w, bias, attributes)
            if d.choice(True, False):
                x = d.each("Relu", x, lambda v: numpy.maximum(v, 0), 1, 0)
        elif step == 4:
            x = d.pool(x, largest=True)
        else:
            x = d.pool(x, largest=exact)
        if not exact and d.choice(True, False, False, False):
            x = d.activation(x)
        x, scale = d.quantised(x, exact)[1:]
        if x.shape == before.shape:
            x, scale = d.quantised(d.two("Add", before, x), exact)[1:]
        elif d.choice(True, False, False):
            x, scale = d.quantised(d.concat([x, x], 1), exact)[1:]
    if not exact and d.choice(True, False):
        x, scale = d.quantised(d.global_mean(x), exact)[1:]
    finish_quantised(d, x, exact)


def quantised_rows(d, exact):
    rows, depth = d.number(1, 6), d.number(2, 24)
    x = d.input(d.draw.uniform(-1, 1, (rows, depth)).astype(numpy.float32))
    x, scale = d.quantised(x, exact)[1:]
    for _ in range(d.number(1, 3)):
        width = d.number(1, 16)
        depth = x.shape[1]
        if d.choice(True, False):
            w, weight_scale = d.quantised_weights((width, depth), 0, exact, 1 / math.sqrt(depth))
            bias = d.quantised_bias(width, scale * weight_scale)
            array, deviation = d.summed(lambda a, b: a @ b.T, x, w, depth, bias)
            x = d.node("Gemm", [x, w, bias], array, deviation, transB=1)
        else:
            w, _ = d.quantised_weights((depth, width), 1, exact, 1 / math.sqrt(depth))
            x = d.matmul(x, w)
        if d.choice(True, False):
            x = d.each("Relu", x, lambda v: numpy.maximum(v, 0), 1, 0)
        x, scale = d.quantised(x, exact)[1:]
    if not exact and d.choice(True, False):
        x = d.softmax(x)
    finish_quantised(d, x, exact)


def quantised_moved(d, exact):
    """What moves elements stands between DequantizeLinear and a product or a sum, and nothing is rounded there."""
    x, scale = d.quantised(image(d, 12), exact)[1:]
    for _ in range(d.number(1, 3)):
        step, spatial = d.number(0, 4), tuple(range(2, len(x.shape)))
        if step < 2:
            x = d.pool(x, largest=True)
        elif step == 2:
            x = d.transpose(x, [int(one) for one in d.draw.permutation(len(x.shape))])
        elif step == 3:
            x = d.slice(x, d.number(0, len(x.shape) - 1))
        else:
            x = d.moved("GlobalMaxPool", [x], lambda a: a.max(axis=spatial, keepdims=True))
    if d.choice(True, False, False):
        other = d.quantised(d.input(d.draw.uniform(-1, 1, x.shape).astype(numpy.float32)), exact)[1]
        x = d.two("Add", x, other)
    else:
        x = d.flatten(x)
        width, depth = d.number(1, 16), x.shape[1]
        w, weight_scale = d.quantised_weights((width, depth), 0, exact, 1 / math.sqrt(depth))
        bias = d.quantised_bias(width, scale * weight_scale)
        array, deviation = d.summed(lambda a, b: a @ b.T, x, w, depth, bias)
        x = d.node("Gemm", [x, w, bias], array, deviation, transB=1)
    if d.choice(True, False):
        x = d.each("Relu", x, lambda v: numpy.maximum(v, 0), 1, 0)
    finish_quantised(d, x, exact)


def qlinear(d, exact):
    """QLinearConv or QLinearMatMul between QuantizeLinear and DequantizeLinear."""
    kind = d.choice("uint8", "int8")
    convolution = d.choice("QLinearConv", "QLinearMatMul") == "QLinearConv"
    x = image(d, 12) if convolution else d.input(d.draw.uniform(-1, 1, (d.number(1, 6), d.number(2, 24))).astype(numpy.float32))
    scale, zero = d.scale_of(x.array, kind, exact)
    levels = numpy.clip(numpy.round(x.array / float(scale)) + zero, *LIMITS[kind])
    x_operands = [d.constant(scale), d.constant(numpy.array(zero, kind))]
    integers = d.node("QuantizeLinear", [x, *x_operands], levels.astype(kind))
    real = Tensor("", (levels - zero) * float(scale))
    if convolution:
        attributes, shape = d.conv_drawn(x)
    else:
        attributes, shape = {}, (x.shape[1], d.number(1, 12))
    by_channel = convolution and d.choice(True, False)
    weights = d.draw.randint(-64, 64, shape).astype(numpy.int8)
    weight_scale = numpy.float32(2.0) ** -d.draw.randint(6, 9, shape[0] if by_channel else ())
    weight_scale = (weight_scale if exact else weight_scale * d.draw.uniform(0.7, 1.3, weight_scale.shape)).astype(numpy.float32)
    w_operands = [d.constant(weights), d.constant(numpy.asarray(weight_scale)), d.constant(numpy.zeros(weight_scale.shape, numpy.int8))]
    spread = numpy.asarray(weight_scale, numpy.float64).reshape(-1, *[1] * (len(shape) - 1)) if by_channel else float(weight_scale)
    product = convolved(real.array, weights * spread, attributes) if convolution else real.array @ (weights * spread)
    more = []
    if convolution and d.choice(True, False):
        more.append(d.constant(d.draw.randint(-2000, 2000, shape[0]).astype(numpy.int32)))
        by = float(scale) * numpy.asarray(weight_scale, numpy.float64)
        product = product + (more[0].array * by).reshape(-1, *[1] * (len(shape) - 2))
    out_scale, out_zero = d.scale_of(product, kind, exact)
    result = numpy.clip(numpy.round(product / float(out_scale)) + out_zero, *LIMITS[kind]).astype(kind)
    y_operands = [d.constant(out_scale), d.constant(numpy.array(out_zero, kind))]
    y = d.node("QLinearConv" if convolution else "QLinearMatMul", [integers, *x_operands, *w_operands, *y_operands, *more], result, **attributes)
    d.output(y, "exact" if exact else 1)
    d.output(d.node("DequantizeLinear", [y, *y_operands], (result.astype(numpy.float64) - out_zero) * float(out_scale)),
             "exact" if exact else float(out_scale))


KINDS = {
    "float_windows": floats_of_windows, "float_rows": floats_of_rows, "integers": integers,
    "quantised_windows": lambda d: quantised_windows(d, False), "exact_windows": lambda d: quantised_windows(d, True),
    "quantised_rows": lambda d: quantised_rows(d, False), "exact_rows": lambda d: quantised_rows(d, True),
    "quantised_moved": lambda d: quantised_moved(d, False), "exact_moved": lambda d: quantised_moved(d, True),
    "qlinear": lambda d: qlinear(d, False), "exact_qlinear": lambda d: qlinear(d, True),
}


def value_info(name, array):
    kind = TYPES["float32" if array.dtype == numpy.float64 else str(array.dtype)]
    return helper.make_tensor_value_info(name, kind, array.shape)


def model_of(d, name):
    used, nodes = {tensor.name for tensor, _ in d.outputs}, []
    for node in reversed(d.nodes):  # what no output needs is left out
        if node.output[0] in used:
            nodes.insert(0, node)
            used.update(node.input)
    graph = helper.make_graph(nodes, name, [value_info(*one) for one in d.inputs if one[0] in used],
                              [value_info(tensor.name, tensor.array) for tensor, _ in d.outputs], [one for one in d.constants if one.name in used])
    made = helper.make_model(graph, producer_name="quantised_networks.py", opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    onnx.checker.check_model(made, full_check=True)
    return made


def drawn(kind, draw, without):
    """A network of a kind, without some operators and of a size that compiles soon."""
    while True:
        d = Drawing(draw)
        KINDS[kind](d)
        outputs = [tensor.array for tensor, _ in d.outputs]
        if any(one.op_type in without for one in d.nodes) or any(one.size == 0 or not numpy.isfinite(one).all() for one in outputs):
            continue
        return d


def main():
    arguments = sys.argv[1:]
    without = set()
    if "--without" in arguments:
        at = arguments.index("--without")
        arguments, without = arguments[:at], set(arguments[at + 1:])
    if len(arguments) != 3:
        print(__doc__)
        return 2
    count, seed, folder = int(arguments[0]), int(arguments[1]), pathlib.Path(arguments[2])
    kinds = [one for one in KINDS if not (one.endswith("qlinear") and {"QLinearConv", "QLinearMatMul"} <= without)]
    operators = {}
    for at in range(count):
        kind = kinds[at % len(kinds)]
        d = drawn(kind, numpy.random.RandomState([seed, at]), without)
        name = f"{at:03}_{kind}"
        model = model_of(d, name)
        own = folder / name
        own.mkdir(parents=True, exist_ok=True)
        for old in own.iterdir():
            old.unlink()
        (own / "model.onnx").write_bytes(model.SerializeToString())
        kept = {one.name for one in model.graph.input}
        for number, (_, array) in enumerate(one for one in d.inputs if one[0] in kept):
            (own / f"input_{number}.bin").write_bytes(array.tobytes())
        lines = []
        for number, (tensor, rule) in enumerate(d.outputs):
            lines.append(" ".join([rule if isinstance(rule, str) else f"step {rule!r}", *map(str, tensor.shape)]))
            if rule == "float":
                (own / f"bound_{number}.bin").write_bytes((4 * tensor.deviation).astype(numpy.float64).tobytes())
        (own / "expected").write_text("\n".join(lines) + "\n")
        for node in model.graph.node:
            operators[node.op_type] = operators.get(node.op_type, 0) + 1
    print(f"{count} networks: " + ", ".join(f"{one} {operators[one]}" for one in sorted(operators)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
