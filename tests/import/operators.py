#!/usr/bin/env python3
"""Networks of one operator each, by itself several times, with settings, shapes and operands that are drawn: operators of ONNX Runtime, and those
of ONNX that are newer than the tests of that project. The network tool compares what its kernels make with the reference of the library and
with ONNX Runtime. And what has to be refused, with the words.

    operators.py --tool NETWORK_TOOL --folder FOLDER [--onnxruntime LIBRARY] [--only OPERATOR] [--seed SEED]
"""
import argparse
import pathlib
import re
import subprocess

import numpy as np
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
KINDS = {np.dtype(name): getattr(TensorProto, kind)
         for name, kind in (("int8", "INT8"), ("uint8", "UINT8"), ("uint16", "UINT16"), ("uint32", "UINT32"), ("uint64", "UINT64"),
                            ("int16", "INT16"), ("int32", "INT32"), ("int64", "INT64"), ("float32", "FLOAT"), ("bool", "BOOL"))}
CASES, TIMES = {}, 4


class Network:
    """Nodes, each with inputs and constants of its own. Methods give names."""

    def __init__(self, seed, version=17):
        self.draw = np.random.RandomState(seed)
        self.nodes, self.inputs, self.constants, self.outputs, self.version = [], {}, {}, {}, version

    def one_of(self, *values):
        return values[self.draw.randint(len(values))]

    def between(self, low, high):
        return int(self.draw.randint(low, high + 1))

    def shape(self, least=1, most=4):
        return [self.between(1, 6) for _ in range(self.between(least, most))]

    def broadcasting(self, shape):
        """A shape that is repeated to this one."""
        some = [self.one_of(one, one, 1) for one in shape]
        return some[self.between(0, len(some)):] if self.draw.rand() < 0.3 else some

    def input(self, kind, shape):
        name = f"in{len(self.inputs)}"
        self.inputs[name] = helper.make_tensor_value_info(name, KINDS[np.dtype(kind)], shape)
        return name

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants[name] = numpy_helper.from_array(np.asarray(array), name)
        return name

    def floats(self, *shape, low=-1.5, high=1.5):
        return self.constant(self.draw.uniform(low, high, shape).astype(np.float32))

    def integers(self, kind, *shape):
        limits = np.iinfo(kind)
        return self.constant(self.draw.randint(limits.min, limits.max + 1, shape).astype(kind))

    def scale(self, low=0.01, high=0.1, shape=()):
        return self.floats(*shape, low=low, high=high)

    def weights(self, kind, *shape):
        """Weights of int8 have 7 bits: processors without VNNI add pairs of products in 16 bits."""
        return self.constant(self.draw.randint(*((-64, 64) if kind == "int8" else (0, 256)), shape).astype(kind))

    def levels(self, kind, low=0.01, high=0.1):
        """A scale and a zero point: without these, ONNX Runtime ends in some operators."""
        return [self.scale(low, high), self.integers(kind)]

    def node(self, operation, operands, kind="float32", outputs=1, domain=MICROSOFT, **settings):
        """`kind` is that of the results; a count of outputs, or a truth for each of them."""
        operands = list(operands)
        while operands[-1] == "":
            operands.pop()
        wanted = [True] * outputs if isinstance(outputs, int) else outputs
        names = [f"out{len(self.outputs)}_{at}" if one else "" for at, one in enumerate(wanted)]
        self.nodes.append(helper.make_node(operation, operands, names, domain=domain, **settings))
        for name in names:
            if name:
                self.outputs[name] = helper.make_tensor_value_info(name, KINDS[np.dtype(kind)], None)
        return names[0]

    def model(self):
        graph = helper.make_graph(self.nodes, "test", list(self.inputs.values()), list(self.outputs.values()), list(self.constants.values()))
        sets = [helper.make_opsetid("", self.version), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=sets, ir_version=min(8 if self.version < 20 else 10, 10))


def case(make, version=17):
    CASES[make.__name__] = (make, version)
    return make


def of_version(version):
    """A case of ONNX's own operators, in a version of their set."""
    return lambda make: case(make, version)


# Quantised elements

def two_quantised(n, operation, scales):
    kind, shape = n.one_of("int8", "uint8"), n.shape()
    a, b = (shape, n.broadcasting(shape)) if n.draw.rand() < 0.5 else (n.broadcasting(shape), shape)
    n.node(operation, [n.input(kind, a), *n.levels(kind), n.input(kind, b), *n.levels(kind), *n.levels(kind, *scales)], kind)


@case
def QLinearAdd(n):
    two_quantised(n, "QLinearAdd", (0.05, 0.2))


@case
def QLinearMul(n):
    two_quantised(n, "QLinearMul", (0.02, 0.3))


@case
def QLinearWhere(n):
    kind, shape = n.one_of("int8", "uint8"), n.shape()
    parts = [(n.input(kind, n.broadcasting(shape)), *n.levels(kind)) for _ in range(2)]
    n.node("QLinearWhere", [n.constant(n.draw.rand(*shape) < 0.5), *parts[0], *parts[1], *n.levels(kind)], kind)


@case
def QLinearLeakyRelu(n):
    kind = n.one_of("int8", "uint8")
    settings = {"alpha": n.draw.uniform(0, 0.6)} if n.draw.rand() < 0.7 else {}
    n.node("QLinearLeakyRelu", [n.input(kind, n.shape()), *n.levels(kind), *n.levels(kind)], kind, **settings)


@case
def QLinearSigmoid(n):
    kind = n.one_of("int8", "uint8")
    n.node("QLinearSigmoid", [n.input(kind, n.shape()), *n.levels(kind), *n.levels(kind, 0.003, 0.008)], kind)


@case
def QLinearSoftmax(n):
    # In a row of one element, ONNX Runtime gives 127 for int8, whatever the scale.
    kind, shape = n.one_of("int8", "uint8"), [one + 1 for one in n.shape()]
    settings = {"axis": n.between(-len(shape), len(shape) - 1)} if n.draw.rand() < 0.8 else {}
    n.node("QLinearSoftmax", [n.input(kind, shape), *n.levels(kind), *n.levels(kind, 0.003, 0.008)], kind, opset=n.one_of(12, 13), **settings)


@case
def QLinearConcat(n):
    kind, shape = n.one_of("int8", "uint8"), n.shape()
    axis, out = n.between(0, len(shape) - 1), n.levels(kind)
    operands = list(out)
    for _ in range(n.between(1, 4)):
        part = shape[:axis] + [n.between(1, 5)] + shape[axis + 1:]
        operands += [n.input(kind, part), *n.one_of(out, [out[0], n.integers(kind)], n.levels(kind))]
    n.node("QLinearConcat", operands, kind, axis=n.one_of(axis, axis - len(shape)))


def image(n, channels_last, most=8):
    """The shape of an image of 1 to 3 dimensions, and these."""
    spatial = [n.between(2, most) for _ in range(n.between(1, 3))]
    return [n.between(1, 2), *([n.between(1, 4)] if not channels_last else []), *spatial, *([n.between(1, 4)] if channels_last else [])], spatial


@case
def QLinearGlobalAveragePool(n):
    kind, last = n.one_of("int8", "uint8"), n.between(0, 1)
    shape, _ = image(n, last)
    n.node("QLinearGlobalAveragePool", [n.input(kind, shape), *n.levels(kind), *n.levels(kind, 0.005, 0.03)], kind,
           **({"channels_last": last} if last or n.draw.rand() < 0.5 else {}))


@case
def QLinearAveragePool(n):
    kind, last = n.one_of("int8", "uint8"), n.between(0, 1)
    shape, spatial = image(n, last)
    window = [n.between(1, min(3, one)) for one in spatial]
    settings = {"kernel_shape": window, "channels_last": last, "count_include_pad": n.between(0, 1)}
    how = n.between(0, 3)
    if how == 0:
        settings["pads"] = [n.between(0, one - 1) for one in window * 2]
    elif how == 1:
        settings["auto_pad"] = n.one_of("SAME_UPPER", "SAME_LOWER", "VALID")
    if n.draw.rand() < 0.7:
        settings["strides"] = [n.between(1, 2) for _ in spatial]
    n.node("QLinearAveragePool", [n.input(kind, shape), *n.levels(kind), *n.levels(kind, 0.01, 0.05)], kind, **settings)


@case
def QuantizeLinear(n):
    kind, shape = n.one_of("int8", "uint8"), n.shape(2)
    axis = n.between(0, len(shape) - 1)
    lists = (shape[axis],) if n.draw.rand() < 0.5 else ()
    n.node("QuantizeLinear", [n.input("float32", shape), n.scale(shape=lists), n.integers(kind, *lists)], kind, axis=axis)


@case
def DequantizeLinear(n):
    kind, shape = n.one_of("int8", "uint8"), n.shape(2)
    axis = n.between(0, len(shape) - 1)
    lists = (shape[axis],) if n.draw.rand() < 0.5 else ()
    n.node("DequantizeLinear", [n.input(kind, shape), n.scale(shape=lists), n.integers(kind, *lists)], axis=axis)


# Products

def matrices(n):
    """Shapes of two stacks that are multiplied."""
    m, k, n_ = n.between(1, 6), n.between(1, 12), n.between(1, 6)
    outer = n.one_of((), (), (2,), (2, 3))
    return [*outer, m, k], [*n.one_of(outer, ()), k, n_]


def columns(n, b):
    """The shape of a list for columns, or of one element: of stacks of matrices, always one."""
    return (b[-1],) if len(b) == 2 and n.draw.rand() < 0.5 else ()


@case
def MatMulIntegerToFloat(n):
    a, b = matrices(n)
    kinds = n.one_of(("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8"))
    lists = columns(n, b)
    weights = n.weights(kinds[1], *b) if kinds[1] == "int8" or n.draw.rand() < 0.7 else n.input(kinds[1], b)
    n.node("MatMulIntegerToFloat", [n.input(kinds[0], a), weights, n.scale(), n.scale(shape=lists), n.one_of("", n.integers(kinds[0])),
                                    n.one_of("", n.weights(kinds[1], *lists)), n.one_of("", n.floats(b[-1]))])


@case
def DynamicQuantizeMatMul(n):
    a, b = matrices(n)
    kind = n.one_of("uint8", "int8")
    lists = columns(n, b)
    n.node("DynamicQuantizeMatMul", [n.input("float32", a), n.weights(kind, *b), n.scale(shape=lists), n.one_of("", n.weights(kind, *lists)),
                                     n.one_of("", n.floats(b[-1]))])


@case
def QGemm(n):
    m, k, width = n.between(1, 6), n.between(1, 12), n.between(1, 6)
    turned_a, turned_b = n.between(0, 1), n.between(0, 1)
    kinds = n.one_of(("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8"))
    lists = (width,) if n.draw.rand() < 0.5 else ()
    operands = [n.input(kinds[0], [k, m] if turned_a else [m, k]), n.scale(), n.integers(kinds[0]),
                n.weights(kinds[1], *((width, k) if turned_b else (k, width))), n.scale(shape=lists), n.weights(kinds[1], *lists)]
    bias = n.one_of("", n.constant(n.draw.randint(-3000, 3000, n.one_of((width,), (1, width), (m, width))).astype(np.int32)))
    is_float = n.draw.rand() < 0.4
    operands += [bias, *([] if is_float else n.levels(kinds[0], 1, 3))]
    n.node("QGemm", operands, "float32" if is_float else kinds[0], transA=turned_a, transB=turned_b, alpha=n.one_of(1.0, 0.5, 1.3))


@case
def FusedMatMul(n):
    a, b = matrices(n)
    if n.draw.rand() < 0.5:
        b = a[:-2] + b[-2:]
    settings = {"alpha": n.one_of(1.0, 0.125, 1.7)}
    for which, extents in (("A", a), ("B", b)):
        if n.draw.rand() < 0.5:
            settings["trans" + which] = 1
            extents[-2:] = extents[:-3:-1]
        if len(a) == len(b) > 2 and n.draw.rand() < 0.3 and settings.get("transBatchA", which == "A"):
            settings["transBatch" + which] = 1
            extents[:-1] = [extents[-2], *extents[:-2]]
    n.node("FusedMatMul", [n.input("float32", a), n.one_of(n.input, lambda _, shape: n.floats(*shape))("float32", b)], **settings)


@case
def FusedGemm(n):
    m, k, width = n.between(1, 6), n.between(1, 12), n.between(1, 6)
    turned = n.between(0, 1)
    activation = n.one_of({"activation": "Relu"}, {"activation": "Tanh"}, {"activation": "Sigmoid"},
                          {"activation": "LeakyRelu", "activation_alpha": 0.3},
                          {"activation": "HardSigmoid", "activation_alpha": 0.3, "activation_beta": 0.4})
    n.node("FusedGemm", [n.input("float32", [m, k]), n.floats(*((width, k) if turned else (k, width))), n.one_of("", n.floats(width))],
           transB=turned, alpha=n.one_of(1.0, 0.5), beta=n.one_of(1.0, 0.5), **activation)


@case
def FusedConv(n):
    spatial = [n.between(3, 7), n.between(3, 7)]
    group = n.one_of(1, 1, 2)
    channels, filters, kernel = group * n.between(1, 3), group * n.between(1, 3), [n.between(1, 3), n.between(1, 3)]
    pads = [n.between(0, one - 1) for one in kernel * 2]
    strides = [n.between(1, 2), n.between(1, 2)]
    made = [(one + pads[at] + pads[at + 2] - kernel[at]) // strides[at] + 1 for at, one in enumerate(spatial)]
    activation = n.one_of(("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 1.0]), ("HardSigmoid", [0.3, 0.4]))
    operands = [n.input("float32", [1, channels, *spatial]), n.floats(filters, channels // group, *kernel), n.one_of("", n.floats(filters))]
    if n.draw.rand() < 0.5:
        operands = [*operands[:2], n.floats(filters), n.input("float32", [1, filters, *made])]
    settings = {"activation_params": activation[1]} if activation[1] else {}
    n.node("FusedConv", operands, activation=activation[0], group=group, kernel_shape=kernel, pads=pads, strides=strides, **settings)


# Activations and normalisation

@case
def Gelu(n):
    n.node("Gelu", [n.input("float32", n.shape())])


@case
def BiasGelu(n):
    shape = n.shape()
    n.node("BiasGelu", [n.input("float32", shape), n.one_of(n.floats(shape[-1]), n.input("float32", [shape[-1]]))])


@case
def FastGelu(n):
    shape = n.shape()
    n.node("FastGelu", [n.input("float32", shape), n.one_of("", n.floats(shape[-1]))])


@case
def QuickGelu(n):
    n.node("QuickGelu", [n.input("float32", n.shape())], **n.one_of({}, {"alpha": 0.7}))


def skipped(n, operation, more):
    shape = [n.between(1, 3), n.between(1, 5), n.between(2, 8)]
    if n.draw.rand() < 0.3:
        shape = shape[1:]
    rows = [n.floats(shape[-1]) for _ in range(more)]
    skip = shape[1:] if len(shape) == 3 and n.draw.rand() < 0.3 else shape
    outputs = n.one_of([True], [True, False, False, True])
    operands = [n.input("float32", shape), n.input("float32", skip), n.floats(shape[-1]), *(one if n.draw.rand() < 0.6 else "" for one in rows)]
    n.node(operation, operands, outputs=outputs, epsilon=n.one_of(1e-12, 1e-5, 0.25))


@case
def SkipLayerNormalization(n):
    skipped(n, "SkipLayerNormalization", 2)


@case
def SkipSimplifiedLayerNormalization(n):
    skipped(n, "SkipSimplifiedLayerNormalization", 1)


@case
def SimplifiedLayerNormalization(n):
    shape = n.shape(2)
    axis = n.between(1, len(shape) - 1)
    n.node("SimplifiedLayerNormalization", [n.input("float32", shape), n.floats(*shape[axis:])], domain="", axis=axis,
           epsilon=n.one_of(1e-5, 0.25), stash_type=1)


# Operators of ONNX

@of_version(22)
def LpNormalization(n):
    shape = n.shape()
    x = n.input("float32", shape) if n.draw.rand() < 0.7 else n.constant(n.draw.randint(-1, 2, shape).astype(np.float32) * n.draw.randint(0, 2))
    n.node("LpNormalization", [x], domain="", **n.one_of({}, {"axis": n.between(-len(shape), len(shape) - 1), "p": n.one_of(1, 2)}))


def bitwise(n, operation):
    kind, shape = n.one_of("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"), n.shape(1, 3)
    n.node(operation, [n.input(kind, shape), n.input(kind, n.broadcasting(shape))], kind, domain="")


@of_version(18)
def BitwiseAnd(n):
    bitwise(n, "BitwiseAnd")


@of_version(18)
def BitwiseOr(n):
    bitwise(n, "BitwiseOr")


@of_version(18)
def BitwiseXor(n):
    bitwise(n, "BitwiseXor")


@of_version(18)
def BitwiseNot(n):
    kind = n.one_of("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    n.node("BitwiseNot", [n.input(kind, n.shape())], kind, domain="")


@of_version(23)
def RotaryEmbedding(n):
    batch, heads, rows, half = n.between(1, 2), n.between(1, 3), n.between(1, 4), n.between(1, 4)
    more = n.one_of(0, 0, 2 * n.between(1, 2))
    size, settings = 2 * half + more, {"interleaved": n.between(0, 1)}
    if more:
        settings["rotary_embedding_dim"] = 2 * half
    if more or n.draw.rand() < 0.5:
        settings["num_heads"] = heads
        x = n.input("float32", [batch, rows, heads * size] if n.draw.rand() < 0.7 else [batch, heads, rows, size])
    else:
        x = n.input("float32", [batch, heads, rows, size])
    positions = []
    table = (batch, rows, half)
    if n.draw.rand() < 0.6:
        table = (rows + n.between(0, 3), half)
        positions = [n.constant(n.draw.randint(0, table[0], (batch, rows)))]
    n.node("RotaryEmbedding", [x, n.floats(*table), n.floats(*table), *positions], domain="", **settings)


@of_version(23)
def Attention(n):
    batch, shared, group, rows, keys, size, width = (n.between(1, 2), n.between(1, 2), n.between(1, 2), n.between(1, 4), n.between(1, 5),
                                                     n.between(1, 6), n.between(1, 5))
    heads, settings = shared * group, {}
    if n.draw.rand() < 0.5:
        shapes = [batch, rows, heads * size], [batch, keys, shared * size], [batch, keys, shared * width]
        settings |= {"q_num_heads": heads, "kv_num_heads": shared}
    else:
        shapes = [batch, heads, rows, size], [batch, shared, keys, size], [batch, shared, keys, width]
    operands = [n.input("float32", one) for one in shapes]
    if n.draw.rand() < 0.4:
        settings["scale"] = n.draw.uniform(0.2, 1)
    how = n.between(0, 4)
    if how == 1:
        settings["is_causal"] = 1
    elif how == 2:
        settings["softcap"] = n.draw.uniform(0.5, 3)
    elif how > 2:
        mask = n.one_of([rows, keys], [batch, 1, rows, keys], [1, heads, rows, keys], [batch, heads, rows, keys])
        truths = n.draw.rand(*mask) < 0.6
        truths[..., 0] = True  # a row of which nothing is left has no number
        operands.append(n.constant(truths) if how == 3 else n.floats(*mask))
    outputs = n.one_of([True], [True], [True, False, False, True])
    n.node("Attention", operands, outputs=outputs, domain="", **settings)


@of_version(11)
def Resize(n):
    places, mode = n.one_of(("tf_half_pixel_for_nn", "nearest"), ("pytorch_half_pixel", "linear"), ("half_pixel", "cubic"))
    x = [1, n.between(1, 3), n.between(2, 6), n.between(2, 6)]
    nothing = n.constant(np.zeros(0, np.float32))
    to = n.constant(np.array([*x[:2], n.between(2, 9), n.between(2, 9)]))
    n.node("Resize", [n.input("float32", x), nothing, nothing, to], domain="", mode=mode, coordinate_transformation_mode=places,
           nearest_mode="floor")


@of_version(19)
def ResizeSymmetric(n):
    x = [1, n.between(1, 3), n.between(2, 6), n.between(2, 6)]
    scales = n.constant(np.array([1, 1, *n.draw.uniform(0.5, 2.5, 2)], np.float32))
    n.node("Resize", [n.input("float32", x), "", scales], domain="", mode=n.one_of("linear", "nearest"),
           coordinate_transformation_mode="half_pixel_symmetric")


@case
def ReverseSequence(n):
    x = [n.between(1, 4) for _ in range(n.between(2, 4))]
    time = n.between(0, 1)
    lengths = n.constant(np.full(x[1 - time], x[time]))
    kind = n.one_of("float32", "int64")
    n.node("ReverseSequence", [n.input(kind, x), lengths], kind, domain="", time_axis=time, batch_axis=1 - time)


@case
def QLinearMatMul(n):
    """Scales and zero points for each column of b."""
    kind, rows, inner, columns = n.one_of("int8", "uint8"), n.between(1, 4), n.between(1, 8), n.between(2, 5)
    zeros = n.one_of(n.constant(np.zeros(columns, kind)), n.integers(kind, columns))
    shape = n.one_of([rows, inner], [rows, inner], [inner])
    n.node("QLinearMatMul", [n.input(kind, shape), *n.levels(kind), n.weights(kind, inner, columns), n.scale(shape=(columns,)), zeros,
                             *n.levels(kind, 0.05, 0.2)], kind, domain="")


# What is refused

def refusals():
    def of(operation, operands, words, kind="int8", outputs=1, version=17, **settings):
        n = Network(1, version)
        n.node(operation, [one(n) if callable(one) else one for one in operands], kind, outputs, **settings)
        return n, words

    x = lambda n: n.input("int8", [1, 2, 5])
    f = lambda n: n.input("float32", [2, 3])
    scale, zero = (lambda n: n.scale()), (lambda n: n.integers("int8"))
    yield of("QLinearAdd", [x, lambda n: n.scale(shape=(2,)), zero, x, scale, zero, scale, zero], "operand 1 has 2 elements; it has to be one scale")
    yield of("QLinearAdd", [f, scale, zero, f, scale, zero, scale, zero], "quantised elements of float")
    yield of("QLinearSoftmax", [x, scale, zero, scale, zero], "no opset, which says what its axis means")
    yield of("QLinearConcat", [scale, zero, x, scale], "of 4 operands; each part has three, the result two", axis=0)
    yield of("QLinearConcat", [scale, zero, x, scale, zero], "no axis")
    yield of("QLinearAveragePool", [x, scale, lambda n: n.input("int8", []), scale, zero], "padding of elements whose zero point is no constant",
             kernel_shape=[2], pads=[1, 0])
    yield of("QLinearReduceMean", [x, scale, zero, scale, zero], "this operator is not imported")
    yield of("FusedGemm", [f, lambda n: n.floats(3, 2)], "activation `Unheard`", "float32", activation="Unheard")
    yield of("FusedGemm", [f, lambda n: n.floats(3, 2)], "activation `LeakyRelu` has 0 numbers and needs 1", "float32", activation="LeakyRelu")
    yield of("BiasGelu", [f, lambda n: n.floats(2)], "a bias of 2 for rows of 2x3", "float32")
    q = lambda n: n.input("float32", [1, 2, 3, 4])
    newer = {"kind": "float32", "domain": "", "version": 23}
    yield of("Attention", [q, q, q, "", q, q], "keys and values of earlier runs, or their lengths: operand 4", **newer)
    yield of("Attention", [q, q, q, lambda n: n.floats(3, 3)], "a mask together with softcap", **newer, softcap=1.0)
    yield of("Attention", [q, q, q, lambda n: n.floats(3, 2)], "shape 3x2 does not fit 1x2x3x3", **newer)
    yield of("LpNormalization", [f], "a power of 3", **newer, p=3)
    yield of("Attention", [q, q, q], "attribute `left_window_size` of 2 is not imported", "float32", version=25, domain="", left_window_size=2)
    yield of("QuantizeLinear", [f, scale, zero], "output_dtype is uint8, and the zero point is int8", domain="", version=23, output_dtype=2)
    yield of("LayerNormalization", [f, lambda n: n.floats(3)], "a mean computed in double, of elements of float", **newer, stash_type=11)
    yield of("ConvTranspose", [q, lambda n: n.floats(2, 1, 2, 2)], "pads that sum up to 1: ONNX contradicts itself about the longer one before opset 11",
             "float32", domain="", version=10, output_shape=[3, 5])
    yield of("BitwiseAnd", [f, f], "bits of elements of float", **newer)
    yield of("NonZero", [f], "of elements that are not known: they decide the shape of the result", "int64", domain="")
    yield of("ReverseSequence", [f, lambda n: n.constant(np.array([2, 1, 2]))], "a sequence of 1 of 2 elements", "float32", domain="")
    yield of("RotaryEmbedding", [q, lambda n: n.floats(1, 3, 3), lambda n: n.floats(1, 3, 3)], "angles of 1x3x3 for 4 elements", **newer)
    yield of("SkipLayerNormalization", [f, f, lambda n: n.floats(3)], "mean and deviation as results", "float32", 2)
    yield of("MatMulIntegerToFloat", [lambda n: n.input("int8", [2, 3]), lambda n: n.integers("int8", 3, 4), scale, lambda n: n.scale(shape=(3,))],
             "a list of 3 for 4 columns", "float32")
    yield of("MatMulIntegerToFloat", [lambda n: n.input("int8", [2, 3]), lambda n: n.integers("int8", 2, 3, 4), scale, lambda n: n.scale(shape=(4,))],
             "operand 3 has 4 elements for several matrices", "float32")


def check(tool, folder, name, seed, library):
    make, version = CASES[name]
    network = Network([seed, len(name), ord(name[0])], version)
    for _ in range(TIMES):
        make(network)
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / f"{name}.onnx"
    model.write_bytes(network.model().SerializeToString())
    for judge in ([], ["--onnxruntime", library]) if library else ([],):
        said = subprocess.run([tool, "--check", model, *judge], capture_output=True, text=True)
        text = said.stdout + said.stderr
        assert said.returncode == 0 and re.search(r", 0 are parts of other kernels, 0 not checked: no difference\n$", text), text


def refuse(tool, folder, network, words):
    model = folder / "refused.onnx"
    model.write_bytes(network.model().SerializeToString())
    said = subprocess.run([tool, "--layers", model], capture_output=True, text=True)
    assert said.returncode != 0 and words in said.stderr and said.stderr.count("\n") == 1, f"{words}: {said.stdout}{said.stderr}"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--tool", required=True, type=pathlib.Path)
    arguments.add_argument("--folder", required=True, type=pathlib.Path)
    arguments.add_argument("--onnxruntime", type=pathlib.Path)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--seed", default=1, type=int)
    given = arguments.parse_args()
    failed = 0
    for name in CASES:
        if given.only not in name:
            continue
        try:
            check(given.tool, given.folder, name, given.seed, given.onnxruntime)
        except AssertionError as error:
            failed += 1
            print(f"{name}: {error}")
    if not given.only:
        for network, words in refusals():
            refuse(given.tool, given.folder, network, words)
    print(f"{len(CASES)} operators, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
