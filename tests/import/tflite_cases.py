#!/usr/bin/env python3
"""Writes networks of TensorFlow Lite with inputs and what the reference of the arithmetic makes of them, and runs a program that runs them
as C: each operator by itself, drawn networks, the small ones of networks.py, and what must be refused.

    tflite_cases.py --run PROGRAM --folder FOLDER [--networks COUNT] [--seed SEED]    FOLDER keeps the files
"""
import argparse
import math
import pathlib
import subprocess
import sys
import warnings

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "network"))
import networks  # noqa: E402
import tflite_reference as reference  # noqa: E402
import tflite_writer as w  # noqa: E402

# The number of an operator's table of options in the format's union.
TABLES = {"ABS": 78, "ADD": 11, "ARG_MAX": 40, "AVERAGE_POOL_2D": 5, "BATCH_MATMUL": 101, "CONCATENATION": 10, "CONV_2D": 1, "COS": 84,
          "DEPTHWISE_CONV_2D": 2, "DEPTH_TO_SPACE": 94, "DEQUANTIZE": 38, "DIV": 29, "EQUAL": 53, "EXP": 33, "EXPAND_DIMS": 52,
          "FLOOR_DIV": 65, "FULLY_CONNECTED": 8, "GATHER": 23, "GREATER": 44, "GREATER_EQUAL": 45, "HARD_SWISH": 91, "LEAKY_RELU": 75,
          "LESS": 41, "LESS_EQUAL": 46, "LOGICAL_AND": 62, "LOGICAL_NOT": 63, "LOGICAL_OR": 60, "MAXIMUM": 39, "MAX_POOL_2D": 5,
          "MEAN": 27, "MINIMUM": 39, "MUL": 21, "NEG": 42, "NOT_EQUAL": 54, "PACK": 59, "PAD": 22, "PADV2": 43, "POW": 56, "QUANTIZE":
          89, "REDUCE_MAX": 27, "REDUCE_MIN": 27, "RESHAPE": 17, "RESIZE_BILINEAR": 15, "RESIZE_NEAREST_NEIGHBOR": 74, "SELECT": 47,
          "SELECT_V2": 98, "SLICE": 48, "SOFTMAX": 9, "SPACE_TO_DEPTH": 19, "SPLIT": 35, "SQUARE": 66, "SQUARED_DIFFERENCE": 76,
          "SQUEEZE": 30, "STRIDED_SLICE": 32, "SUB": 28, "SVDF": 6, "TRANSPOSE": 26, "TRANSPOSE_CONV": 49,
          "UNIDIRECTIONAL_SEQUENCE_LSTM": 71, "UNPACK": 64}
NUMBERS = {name: number for number, name in reference.BUILTIN.items()}
ACTIVATIONS = ["NONE", "RELU", "RELU6", "RELU_N1_TO_1"]
RUNS = 5


def field(number, kind, value, absent):
    if kind == "Int32s":
        return w.int32s(number, list(value))
    if isinstance(value, str):
        value = (reference.PADDING if value in reference.PADDING else reference.ACTIVATION).index(value)
    return (number, kind, value, absent)


class Net:
    """A network that is drawn node by node. Methods take and give positions of tensors."""

    def __init__(self, seed):
        self.draw = numpy.random.RandomState(seed)
        self.tensors, self.nodes, self.inputs, self.made = [], [], [], []
        self.batches = self.draw.rand() < 0.2  # the file says that run time decides the first extent

    # Drawing
    def one_of(self, *values):
        return values[self.draw.randint(len(values))]

    def between(self, low, high):
        return int(self.draw.randint(low, high + 1))

    def scale(self, low=0.002, high=0.5):
        return float(numpy.float32(math.exp(self.draw.uniform(math.log(low), math.log(high)))))

    def zero_point(self):
        return self.one_of(0, 0, -128, 127, self.between(-128, 127), self.between(-20, 20))

    # Tensors
    def keep(self, tensor):
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def tensor(self, shape, scale=None, zero_point=None, type_="int8", elements=None):
        scales = () if scale is None else (scale,)
        points = () if zero_point is None else (zero_point,)
        return self.keep(reference.Tensor(f"t{len(self.tensors)}", tuple(int(one) for one in shape), type_, scales, points, 0, elements))

    def input(self, shape, type_="int8"):
        made = self.tensor(shape, self.scale(), self.zero_point()) if type_ == "int8" else self.tensor(shape, type_=type_)
        self.inputs.append(made)
        return made

    def numbers(self, values, type_="int32"):
        array = numpy.array(values, type_)
        return self.tensor(array.shape, type_=type_, elements=array)

    def int8s(self, shape, scale=None, zero_point=None):
        values = self.draw.randint(-128, 128, shape) if self.draw.rand() < 0.7 else self.draw.choice([-128, 127], shape)
        return self.tensor(shape, self.scale() if scale is None else scale, self.zero_point() if zero_point is None else zero_point,
                           elements=values.astype(numpy.int8))

    def floats(self, shape):
        return self.tensor(shape, type_="float32", elements=self.draw.normal(0, 1, shape).astype(numpy.float32))

    def shape(self, position):
        return self.tensors[position].shape

    def is_float(self, position):
        return self.tensors[position].type == "float32"

    # Nodes
    def node(self, operation, inputs, options=None, scale=None, zero_point=None, type_=None, outputs=1):
        """Adds a node. Its results have the shapes that the reference gives, and this scale, or that of the first input."""
        options = options or {}
        first = self.tensors[inputs[0]] if operation != "SPLIT" else self.tensors[inputs[1]]
        if operation == "TRANSPOSE_CONV":
            first = self.tensors[inputs[2]]
        if operation.startswith("SELECT"):
            first = self.tensors[inputs[1]]
        type_ = type_ or first.type
        if type_ not in ("int8", "int16", "int32") or (type_ != "int8" and scale is None):
            scale, zero_point = None, None
        elif scale is None:
            scale, zero_point = first.scales[0], first.zero_points[0]
        given = [None if one < 0 else self.tensors[one] for one in inputs]
        results = [reference.Tensor("", (), type_, () if scale is None else (scale,), () if zero_point is None else (zero_point,))
                   for _ in range(outputs)]
        zeros = [None if one is None else one.elements if one.elements is not None else numpy.zeros(one.shape, one.type) for one in given]
        padded = [*given, *[None] * (len(zeros) == 2 and operation in reference.WITH_BIAS)]
        compute = reference.operator_for(reference.Node(operation, [], []), results)
        shapes = [one.shape for one in compute(options, padded, results, [*zeros, *[None] * (len(padded) - len(zeros))])]
        made = [self.tensor(shape, scale, zero_point, type_) for shape in shapes]
        self.nodes.append(reference.Node(operation, list(inputs), made, options))
        self.made += made
        return made[0] if outputs == 1 else made

    def weights(self, shape, channel_axis, x, depth, bias=True):
        """(weights, bias or -1, a scale for the result): one scale, or one for each channel."""
        channels = shape[channel_axis]
        if self.is_float(x):
            return self.floats(shape), self.floats((channels,)) if bias else -1, None
        several = self.draw.rand() < 0.7
        scales = [self.scale(0.001, 0.05) for _ in range(channels)] if several and channels > 1 else [self.scale(0.001, 0.05)]
        if self.draw.rand() < 0.15:
            scales[0] = scales[0] * 2000 if self.draw.rand() < 0.5 else scales[0] / 2000  # shifts far to the left and to the right
        scales = [float(numpy.float32(one)) for one in scales]
        values = self.draw.randint(-127, 128, shape) if self.draw.rand() < 0.7 else self.draw.choice([-127, 0, 127], shape)
        weights = self.keep(reference.Tensor(f"t{len(self.tensors)}", tuple(shape), "int8", tuple(scales), (0,) * len(scales),
                                             channel_axis if len(scales) > 1 else 0, values.astype(numpy.int8)))
        spread = 70 * 70 * math.sqrt(depth)
        bias = self.numbers(self.draw.normal(0, spread, channels).astype(numpy.int64).astype(numpy.int32)) if bias else -1
        target = math.exp(self.draw.uniform(math.log(3), math.log(300)))
        return weights, bias, float(numpy.float32(self.tensors[x].scales[0] * float(numpy.median(scales)) * spread / target))

    def windows(self, x, longest=4, dilates=True):
        """A filter and the options of a window that fits."""
        extents = self.shape(x)[1:3]
        kernel = [self.between(1, longest), self.between(1, longest)]
        stride = [self.between(1, 3), self.between(1, 3)]
        dilation = [1, 1] if not dilates or self.draw.rand() < 0.6 else [self.between(1, 3), self.between(1, 3)]
        options = {"padding": self.one_of("SAME", "SAME", "VALID"), "stride_h": stride[0], "stride_w": stride[1]}
        if dilates:
            options.update(dilation_h_factor=dilation[0], dilation_w_factor=dilation[1])
        if any((one - 1) * by + 1 > extent for one, by, extent in zip(kernel, dilation, extents)):
            options["padding"] = "SAME"
        options["fused_activation_function"] = self.one_of(*ACTIVATIONS)
        return kernel, options

    # Operators: each takes a tensor and gives another, or None where it does not fit.
    def conv(self, x):
        if len(self.shape(x)) != 4:
            return None
        kernel, options = self.windows(x)
        channels = self.shape(x)[3]
        groups = self.one_of(1, 1, 1, *[one for one in (2, 3, channels) if channels % one == 0]) if channels > 1 else 1
        made = groups * self.between(1, 4 if groups > 1 else 9)
        weights, bias, scale = self.weights((made, *kernel, channels // groups), 0, x, math.prod(kernel) * channels / groups,
                                            self.draw.rand() < 0.85)
        inputs = [x, weights, bias] if bias >= 0 or self.draw.rand() < 0.5 else [x, weights]
        return self.node("CONV_2D", inputs, options, scale, self.zero_point())

    def depthwise(self, x):
        if len(self.shape(x)) != 4:
            return None
        kernel, options = self.windows(x)
        channels, multiplier = self.shape(x)[3], self.one_of(1, 1, 2, 3)
        options["depth_multiplier"] = multiplier
        weights, bias, scale = self.weights((1, *kernel, channels * multiplier), 3, x, math.prod(kernel), self.draw.rand() < 0.85)
        return self.node("DEPTHWISE_CONV_2D", [x, weights, bias], options, scale, self.zero_point())

    def dense(self, x):
        shape = self.shape(x)
        if not shape or math.prod(shape) > 600:
            return None
        keeps = self.draw.rand() < 0.4
        depth = shape[-1] if keeps or len(shape) < 3 or self.draw.rand() < 0.3 else math.prod(shape[1:])
        made = self.between(1, 12)
        weights, bias, scale = self.weights((made, depth), 0, x, depth, self.draw.rand() < 0.85)
        options = {"fused_activation_function": self.one_of(*ACTIVATIONS), "keep_num_dims": keeps}
        return self.node("FULLY_CONNECTED", [x, weights, bias], options, scale, self.zero_point())

    def matrices(self, x):
        shape = self.shape(x)
        if len(shape) < 2 or math.prod(shape) > 600:
            return None
        options = {"adj_x": bool(self.draw.rand() < 0.4), "adj_y": bool(self.draw.rand() < 0.5)}
        rows, depth = shape[-1:-3:-1] if options["adj_x"] else shape[-2:]
        # Either of the two is repeated along a dimension where it has one matrix, or none.
        outer = [self.one_of(1, 2, 3) if extent == 1 else extent if self.draw.rand() < 0.6 else 1 for extent in shape[:-2]]
        outer = [2, *outer] if len(shape) < 4 and self.draw.rand() < 0.3 else outer[self.one_of(0, 0, 1):]
        made = self.between(1, 9)
        other = (*outer, made, depth) if options["adj_y"] else (*outer, depth, made)
        kind, type_ = self.one_of("constant", "input", "input"), self.tensors[x].type
        y = self.input(other, type_) if kind == "input" else self.floats(other) if self.is_float(x) else self.int8s(other)
        scale = None if self.is_float(x) else float(numpy.float32(
            float(self.tensors[x].scales[0]) * float(self.tensors[y].scales[0]) * 100 * math.sqrt(depth) * math.exp(self.draw.uniform(-2, 1))))
        return self.node("BATCH_MATMUL", [x, y], options, scale, self.zero_point())

    def transposed_conv(self, x):
        if len(self.shape(x)) != 4 or math.prod(self.shape(x)) > 400:
            return None
        batch, height, width, channels = self.shape(x)
        kernel = [self.between(1, 4), self.between(1, 4)]
        stride = [self.between(1, 3), self.between(1, 3)]
        padding = self.one_of("SAME", "VALID")
        whole = [extent * by if padding == "SAME" else (extent - 1) * by + reach
                 for extent, by, reach in zip((height, width), stride, kernel)]
        if padding == "SAME" and self.draw.rand() < 0.3:
            whole = [max(1, one - self.between(0, by - 1)) for one, by in zip(whole, stride)]
        options = {"padding": padding, "stride_h": stride[0], "stride_w": stride[1], "fused_activation_function": self.one_of(*ACTIVATIONS)}
        made = self.between(1, 5)
        depth = math.prod(kernel) * channels / math.prod(stride)
        weights, bias, scale = self.weights((made, *kernel, channels), 0, x, depth, self.draw.rand() < 0.5)
        inputs = [self.numbers([batch, *whole, made]), weights, x, *[bias] * (bias >= 0)]
        return self.node("TRANSPOSE_CONV", inputs, options, scale, self.zero_point())

    def pool(self, x):
        if len(self.shape(x)) != 4:
            return None
        kernel, options = self.windows(x, dilates=False)
        options.update(filter_height=kernel[0], filter_width=kernel[1])
        return self.node(self.one_of("AVERAGE_POOL_2D", "MAX_POOL_2D"), [x], options)

    def pair(self, x):
        shape = list(self.shape(x))
        if len(shape) > 4:
            return None
        others = [one for one in [*self.inputs, *self.made]
                  if self.shape(one) == self.shape(x) and self.tensors[one].type == self.tensors[x].type]
        kind = self.draw.randint(4)
        spread = [extent if self.draw.rand() < 0.6 else 1 for extent in shape]
        if kind == 0 or not others:
            y = self.floats(spread) if self.is_float(x) else self.int8s(spread)
        elif kind == 1:
            y = self.input(spread, self.tensors[x].type)
        else:
            y = self.one_of(*others)
        first, second = (x, y) if self.draw.rand() < 0.5 else (y, x)
        operation = self.one_of("ADD", "ADD", "SUB", "MUL")
        scale = None
        if not self.is_float(x):
            scales = [float(self.tensors[one].scales[0]) for one in (x, y)]
            steps = math.prod(scales) * 100 * math.exp(self.draw.uniform(-2, 1)) if operation == "MUL" else \
                max(scales) * math.exp(self.draw.uniform(-1, 1.5))
            scale = float(numpy.float32(steps))
        return self.node(operation, [first, second], {"fused_activation_function": self.one_of(*ACTIVATIONS)}, scale, self.zero_point())

    def curve(self, x):
        operation = self.one_of("LOGISTIC", "TANH", "RELU", "RELU6", "LEAKY_RELU", "PRELU", "SOFTMAX")
        if not self.shape(x):
            return None
        options, inputs = {}, [x]
        scale, zero_point = {"LOGISTIC": (1 / 256, -128), "SOFTMAX": (1 / 256, -128), "TANH": (1 / 128, 0)}.get(
            operation, (None, self.zero_point()))
        if scale is None and not self.is_float(x):
            scale = float(numpy.float32(self.tensors[x].scales[0] * math.exp(self.draw.uniform(-1.5, 1.5))))
        if operation == "SOFTMAX":
            options["beta"] = self.one_of(1.0, 1.0, 0.5, 3.0)
        if operation == "LEAKY_RELU":
            options["alpha"] = self.one_of(0.0, 0.1, 0.3, 1.5)
        if operation == "PRELU":
            spread = [1, *self.shape(x)[1:]] if self.draw.rand() < 0.5 else [1] * (len(self.shape(x)) - 1) + [self.shape(x)[-1]]
            inputs.append(self.floats(spread) if self.is_float(x) else self.int8s(spread))
        return self.node(operation, inputs, options, scale, zero_point)

    def mean(self, x):
        rank = len(self.shape(x))
        if rank == 0:
            return None
        axes = sorted({int(one) for one in self.draw.randint(0, rank, self.between(1, 3))})
        axes = [1, 2] if rank == 4 and self.draw.rand() < 0.5 else axes
        axes = [one - rank if self.draw.rand() < 0.3 else one for one in axes]
        scale = None if self.is_float(x) else float(numpy.float32(self.tensors[x].scales[0] * math.exp(self.draw.uniform(-2, 0.7))))
        return self.node("MEAN", [x, self.numbers(axes)], {"keep_dims": bool(self.draw.rand() < 0.5)}, scale, self.zero_point())

    def extreme(self, x):
        shape = list(self.shape(x))
        if not shape:
            return None
        kind = self.draw.randint(4)
        if kind == 0:
            other = [1 if self.draw.rand() < 0.4 else one for one in shape]
            y = self.floats(other) if self.is_float(x) else self.int8s(other, self.tensors[x].scales[0], self.tensors[x].zero_points[0])
            return self.node(self.one_of("MAXIMUM", "MINIMUM"), [x, y] if self.draw.rand() < 0.5 else [y, x])
        axis = self.between(-len(shape), len(shape) - 1)
        if kind == 1:
            return self.node(self.one_of("REDUCE_MAX", "REDUCE_MIN"), [x, self.numbers([axis])], {"keep_dims": bool(self.draw.rand() < 0.5)})
        if kind == 2 and self.is_float(x):
            return None  # results of int32 are compared, and nothing reads them
        scale = None if self.is_float(x) else float(numpy.float32(self.tensors[x].scales[0] * self.one_of(0.6, 1.0, 2.5, 20.0)))
        return self.node("HARD_SWISH", [x], {}, scale, self.zero_point())

    def positive(self, x):
        """Floats of at least 0.1."""
        return self.node("MAXIMUM", [self.node("ABS", [x]), self.numbers([0.1], "float32")])

    def function(self, x):
        """All functions of the first tensor of a network, or one."""
        first = x in self.inputs and not self.made
        if self.is_float(x):
            # What is cut jumps: of inputs alone, which all compute alike.
            cuts = ["FLOOR", "CEIL", "ROUND", "FLOOR_DIV"] if x in self.inputs else []
            operations, make = ["ABS", "NEG", "SQRT", "RSQRT", "EXP", "LOG", "SIN", "COS", "SQUARE", "ELU", "RELU_N1_TO_1", "DIV", "POW",
                                "SQUARED_DIFFERENCE", *cuts], self.function_of_floats
        else:
            powers = ["EXP"] if float(self.tensors[x].scales[0]) * (127 - int(self.tensors[x].zero_points[0])) < 12 else []
            operations, make = ["ABS", "LOG", "RELU_N1_TO_1", "SQUARED_DIFFERENCE", *powers], self.function_of_integers
        for operation in operations if first else [self.one_of(*operations)]:
            made = make(operation, x)
        return made

    def function_of_integers(self, operation, x):
        inputs, scale = [x], float(self.tensors[x].scales[0])
        if operation == "SQUARED_DIFFERENCE":
            inputs.append(self.int8s([extent if self.draw.rand() < 0.6 else 1 for extent in self.shape(x)]))
            scale = max(scale, float(self.tensors[inputs[1]].scales[0]))**2 * 20
        scale *= math.exp(self.draw.uniform(-1, 1.5))
        same = operation == "ABS" and self.draw.rand() < 0.4
        return self.node(operation, inputs, {}, None if same else float(numpy.float32(scale)), None if same else self.zero_point())

    def function_of_floats(self, operation, x):
        if operation in ("SQRT", "RSQRT", "LOG"):
            return self.node(operation, [self.positive(x)])
        if operation in ("SIN", "COS", "EXP"):
            return self.node(operation, [self.node("TANH", [x])])
        other = self.floats([extent if self.draw.rand() < 0.6 else 1 for extent in self.shape(x)])
        if operation == "DIV":
            return self.node("DIV", [x, self.positive(other)], {"fused_activation_function": self.one_of(*ACTIVATIONS)})
        if operation == "FLOOR_DIV":
            return self.node("FLOOR_DIV", [x, self.positive(other)])
        if operation == "POW":
            return self.node("POW", [self.positive(self.node("TANH", [x])), other])
        return self.node(operation, [x, other] if operation == "SQUARED_DIFFERENCE" else [x])

    def choice(self, x):
        """Choices by comparisons, of inputs alone: what is compared jumps. All of them for the first tensor of a network, or one."""
        shape = self.shape(x)
        if x not in self.inputs or not shape:
            return None
        first = not self.made
        other = self.floats(shape) if self.is_float(x) else self.int8s(shape, self.tensors[x].scales[0], self.tensors[x].zero_points[0])
        limits = self.floats([1]) if self.is_float(x) else self.int8s([extent if self.draw.rand() < 0.6 else 1 for extent in shape])
        comparisons = ["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"]
        for compared in comparisons if first else [self.one_of(*comparisons)]:
            truths = self.node(compared, [x, limits] if self.draw.rand() < 0.5 else [limits, x], type_="bool")
            if first or self.draw.rand() < 0.4:
                more = self.node(self.one_of("LESS", "GREATER"), [x, other], type_="bool")
                operation = {"LESS": "LOGICAL_AND", "EQUAL": "LOGICAL_OR"}.get(compared, self.one_of("LOGICAL_AND", "LOGICAL_OR"))
                truths = self.node(operation, [truths, more], type_="bool")
            if first or self.draw.rand() < 0.3:
                truths = self.node("LOGICAL_NOT", [truths], type_="bool")
            kind = comparisons.index(compared) % 3 if first else self.draw.randint(3)
            if kind == 0:
                made = self.node("SELECT", [truths, x, other])
            elif kind == 1 and len(shape) > 1:
                rows = self.tensor((shape[0],), type_="bool", elements=self.draw.rand(shape[0]) < 0.5)
                made = self.node("SELECT", [rows, x, other])
            else:
                made = self.node("SELECT_V2", [truths, x, other])
        return made

    def blocks(self, x):
        if len(self.shape(x)) != 4:
            return None
        n, h, w, c = self.shape(x)
        size = self.one_of(2, 3)
        if h % size == 0 and w % size == 0:
            return self.node("SPACE_TO_DEPTH", [x], {"block_size": size})
        return self.node("DEPTH_TO_SPACE", [x], {"block_size": size}) if c % (size * size) == 0 else None

    def convert(self, x):
        if self.is_float(x):
            return self.node("QUANTIZE", [x], {}, self.scale(), self.zero_point(), "int8")
        if self.draw.rand() < 0.3:
            return self.node("DEQUANTIZE", [x], {}, None, None, "float32")
        scale = float(numpy.float32(self.tensors[x].scales[0] * math.exp(self.draw.uniform(-1.5, 1.5))))
        return self.node("QUANTIZE", [x], {}, scale, self.zero_point())

    def reshape(self, x):
        shape = self.shape(x)
        if not shape:
            return None
        if self.draw.rand() < 0.3:
            at = self.between(0, len(shape))
            if len(shape) < 5 and self.draw.rand() < 0.5:
                return self.node("EXPAND_DIMS", [x, self.numbers([at if self.draw.rand() < 0.5 else at - len(shape) - 1])])
            ones = [at for at, extent in enumerate(shape) if extent == 1]
            given = [one for one in ones if self.draw.rand() < 0.5] if self.draw.rand() < 0.7 else []
            return self.node("SQUEEZE", [x], {"squeeze_dims": given})
        at = self.between(0, len(shape) - 1)
        to = [*shape[:at], math.prod(shape[at:])] if self.draw.rand() < 0.5 else [math.prod(shape[:at + 1]), *shape[at + 1:]]
        if self.draw.rand() < 0.3:
            to[self.draw.randint(len(to))] = -1
        return self.node("RESHAPE", [x, self.numbers(to)] if self.draw.rand() < 0.7 else [x], {"new_shape": to})

    def transpose(self, x):
        rank = len(self.shape(x))
        return self.node("TRANSPOSE", [x, self.numbers([int(one) for one in self.draw.permutation(rank)])]) if rank > 1 else None

    def slice(self, x):
        shape = self.shape(x)
        if not shape:
            return None
        begins = [self.between(0, extent - 1) for extent in shape]
        if self.draw.rand() < 0.5:
            sizes = [-1 if self.draw.rand() < 0.3 else self.between(1, extent - begin) for extent, begin in zip(shape, begins)]
            return self.node("SLICE", [x, self.numbers(begins), self.numbers(sizes)])
        ends, strides = [], []
        for at, (extent, begin) in enumerate(zip(shape, begins)):
            back = self.draw.rand() < 0.3
            strides.append(-self.between(1, 3) if back else self.between(1, 3))
            ends.append(self.between(-extent - 1, begin - extent - 1) if back else self.between(begin + 1, extent + 2))
            if self.draw.rand() < 0.3:
                begins[at] = begin - extent
        options = {one: self.between(0, 15) if self.draw.rand() < 0.3 else 0 for one in ("begin_mask", "end_mask", "shrink_axis_mask")}
        count = self.between(1, len(shape))
        return self.node("STRIDED_SLICE", [x, *[self.numbers(one[:count]) for one in (begins, ends, strides)]], options)

    def pieces(self, x):
        shape = self.shape(x)
        if not shape:
            return None
        axis = self.between(0, len(shape) - 1)
        if self.draw.rand() < 0.4 and shape[axis] <= 6:
            return self.node("UNPACK", [x], {"num": shape[axis], "axis": axis}, outputs=shape[axis]) if shape[axis] > 1 else None
        parts = self.one_of(*[one for one in range(1, 5) if shape[axis] % one == 0])
        if parts == 1:
            return None
        dimension = self.numbers(axis - len(shape) if self.draw.rand() < 0.5 else axis)
        return self.node("SPLIT", [dimension, x], {"num_splits": parts}, outputs=parts)

    def together(self, x):
        """CONCATENATION or PACK of x, a part of it, and something else of that scale."""
        shape = list(self.shape(x))
        scale, zero_point = (None, None) if self.is_float(x) else (self.tensors[x].scales[0], self.tensors[x].zero_points[0])
        if self.draw.rand() < 0.4 and len(shape) < 5:
            other = self.floats(shape) if self.is_float(x) else self.int8s(shape, scale, zero_point)
            inputs = [x, other, x][:self.between(1, 3)]
            return self.node("PACK", inputs, {"values_count": len(inputs), "axis": self.between(-len(shape) - 1, len(shape))})
        if not shape:
            return None
        axis = self.between(0, len(shape) - 1)
        parts = [x]
        for _ in range(self.between(1, 2)):
            shape[axis] = self.between(1, 4)
            parts.append(self.floats(shape) if self.is_float(x) else self.int8s(shape, scale, zero_point))
        self.draw.shuffle(parts)
        return self.node("CONCATENATION", [int(one) for one in parts], {"axis": axis - len(shape) if self.draw.rand() < 0.5 else axis})

    def pad(self, x):
        rank = len(self.shape(x))
        if rank == 0:
            return None
        pads = self.numbers([[self.between(0, 2) if self.draw.rand() < 0.5 else 0 for _ in range(2)] for _ in range(rank)])
        if self.draw.rand() < 0.5:
            return self.node("PAD", [x, pads])
        value = self.floats((1,)) if self.is_float(x) else self.int8s((1,), self.tensors[x].scales[0], self.tensors[x].zero_points[0])
        return self.node("PADV2", [x, pads, value])

    def gather(self, x):
        shape = self.shape(x)
        if not shape:
            return None
        axis = self.between(0, len(shape) - 1)
        extent = shape[axis]
        indices = self.one_of([0], list(range(extent))[::-1], [int(one) for one in self.draw.randint(0, extent, self.between(1, 6))],
                              [[int(one) for one in self.draw.randint(0, extent, 2)] for _ in range(2)])
        return self.node("GATHER", [x, self.numbers(indices)], {"axis": axis}) if len(shape) + numpy.ndim(indices) < 6 else None

    def resize(self, x):
        if len(self.shape(x)) != 4:
            return None
        to = [self.one_of(extent, 2 * extent, 3 * extent, max(1, extent // 2), self.between(1, 12)) for extent in self.shape(x)[1:3]]
        corners, half = self.one_of((False, False), (False, True), (True, False))
        operation = "RESIZE_NEAREST_NEIGHBOR" if self.is_float(x) else self.one_of("RESIZE_NEAREST_NEIGHBOR", "RESIZE_BILINEAR")
        return self.node(operation, [x, self.numbers(to)], {"align_corners": corners, "half_pixel_centers": half})

    def wide(self, floats):
        """Integers of 16 bits at the ends of a network."""
        x = self.input((self.between(1, 3), self.between(1, 12)))
        self.inputs.append(self.tensor((self.between(1, 9),), self.scale(0.0001, 0.01), self.one_of(0, self.between(-900, 900)), "int16"))
        self.node("QUANTIZE", [self.inputs[-1]], {}, self.scale(), self.zero_point(), "int8")
        shares = self.node("SOFTMAX", [x], {"beta": self.one_of(1.0, 0.5, 3.0)}, 1 / 65536, -32768, "int16")
        self.node("ARG_MAX", [x, self.numbers(self.between(-2, 1))], {"output_type": 2}, type_="int32")
        return self.node("QUANTIZE", [shares], {}, self.scale(1e-5, 1e-4), 0, "int32")

    # What is kept from run to run
    def variable(self, shape, type_, scale=None, zero_point=None):
        position = self.tensor(shape, scale, zero_point, type_)
        self.tensors[position].variable = True
        return position

    def wide_bias(self, scale, count):
        """A bias of int32, with the scale that the kernels ask for."""
        return self.tensor((count,), scale, 0, "int32", self.draw.randint(-3000, 3000, count).astype(numpy.int32))

    def svdf(self, floats):
        batches, depth, rank, units, memory = (self.between(1, 2), self.between(1, 8), self.one_of(1, 1, 2), self.between(1, 4),
                                               self.one_of(1, 2, 3, 8))
        filters, activation = rank * units, self.one_of("NONE", "RELU") if floats else "NONE"
        x, options = self.input((batches, depth), "float32" if floats else "int8"), {"rank": rank, "fused_activation_function": activation}
        if floats:
            operands = [self.floats((filters, depth)), self.floats((filters, memory)), self.floats((units,)),
                        self.variable((batches, filters * memory), "float32")]
            return self.node("SVDF", [x, *operands], options)
        type_ = self.one_of("int8", "int16", "int16")
        state, weights, over_time = self.scale(0.01, 0.2), self.scale(0.005, 0.05), self.scale(0.0005, 0.02)
        most = 128 if type_ == "int8" else 2000
        rows = self.draw.randint(-most, most, (filters, memory)).astype(type_)
        operands = [self.int8s((filters, depth), weights, 0), self.tensor((filters, memory), over_time, 0, type_, rows),
                    self.wide_bias(float(numpy.float32(state) * numpy.float32(over_time)), units),
                    self.variable((batches, filters * memory), type_, state, self.zero_point() if type_ == "int8" else 0)]
        return self.node("SVDF", [x, *operands], options, self.scale(0.05, 0.5), self.zero_point())

    def lstm(self, floats):
        batches, steps, depth, units = self.between(1, 2), self.one_of(1, 1, 2, 4), self.between(1, 6), self.between(1, 5)
        time_major = bool(self.draw.rand() < 0.4)
        x = self.input((steps, batches, depth) if time_major else (batches, steps, depth), "float32" if floats else "int8")
        options = {"fused_activation_function": "TANH", "cell_clip": self.one_of(0.0, 0.0, 0.75), "time_major": time_major}
        scale, zero_point, cell = (None, None, None) if floats else (self.one_of(1 / 128, self.scale(0.004, 0.02)), self.zero_point(),
                                                                     2.0**-self.between(9, 15))
        weights, biases = [], []
        for width in (depth, units):
            for _ in range(4):
                weights.append(self.floats((units, width)) if floats else self.int8s((units, width), self.scale(0.002, 0.03), 0))
        for at in range(4):
            input_scale = None if floats else float(self.tensors[x].scale * self.tensors[weights[at]].scale)
            biases.append(self.floats((units,)) if floats else self.wide_bias(input_scale, units))
        kept = [self.variable((batches, units), "float32" if floats else "int8", scale, zero_point),
                self.variable((batches, units), "float32" if floats else "int16", cell, None if floats else 0)]
        return self.node("UNIDIRECTIONAL_SEQUENCE_LSTM", [x, *weights, -1, -1, -1, *biases, -1, -1, *kept, -1, -1, -1, -1], options, scale,
                         zero_point)

    # Files
    def file(self, outputs):
        buffers, tensors, codes, numbers, nodes = [w.buffer()], [], [], [], []
        for one in self.tensors:
            if one.elements is not None:
                buffers.append(w.buffer(numpy.ascontiguousarray(one.elements).tobytes()))
            kept = w.quantisation(list(one.scales), list(one.zero_points), one.axis) if one.scales else None
            signature = [-1, *one.shape[1:]] if self.batches and one.shape and one.elements is None else None
            tensors.append(w.tensor(one.name, one.type, list(one.shape), len(buffers) - 1 if one.elements is not None else 0, kept, signature,
                                    one.variable))
        for node in self.nodes:
            if node.operation not in numbers:
                numbers.append(node.operation)
                number = NUMBERS[node.operation]
                codes.append(w.code(min(number, 127), number, 2))
            fields = [field(at, kind, node.options[name], absent)
                      for at, (name, kind, absent) in reference.fields_of(node.operation) if name in node.options]
            nodes.append(w.node(numbers.index(node.operation), node.inputs, node.outputs, TABLES.get(node.operation, 0),
                                w.Table(*fields) if node.operation in TABLES else None))
        return w.model(codes, [w.subgraph(tensors, self.inputs, outputs, nodes)], buffers)

    def inputs_of_run(self, run):
        made = []
        for position in self.inputs:
            tensor = self.tensors[position]
            if tensor.type == "float32":
                made.append((self.draw.normal(0, 1, tensor.shape) * 10 ** (run - 2)).astype(numpy.float32))
                continue
            drawn = {0: lambda: self.draw.randint(-128, 128, tensor.shape), 1: lambda: self.draw.choice([-128, 127], tensor.shape),
                     2: lambda: numpy.full(tensor.shape, self.one_of(-128, 127)), 3: lambda: numpy.full(tensor.shape, tensor.zero_point),
                     4: lambda: numpy.clip(self.draw.normal(0, 20, tensor.shape) + tensor.zero_point, -128, 127)}[run]()
            step = 256 if tensor.type == "int16" else 1
            made.append(numpy.asarray(drawn).astype(tensor.type) * numpy.dtype(tensor.type).type(step))
        return made


def write(folder, name, net, outputs=None):
    """The file of a network, with inputs and outputs of all runs; False where the arithmetic leaves what the format defines."""
    unread = set(net.made) - {one for node in net.nodes for one in node.inputs}
    outputs = outputs or sorted(unread | {one for one in net.made if net.draw.rand() < 0.15})
    data = net.file(outputs)
    model = reference.read(data)
    given, wanted = b"", b""
    try:
        for run in range(RUNS):
            inputs = net.inputs_of_run(run)
            given += b"".join(numpy.ascontiguousarray(one).tobytes() for one in inputs)
            wanted += b"".join(numpy.ascontiguousarray(one).tobytes() for one in reference.run(model, inputs))
    except OverflowError:
        return False
    (folder / f"{name}.tflite").write_bytes(data)
    (folder / f"{name}.in").write_bytes(given)
    (folder / f"{name}.out").write_bytes(wanted)
    return True


SINGLE = {
    "conv": Net.conv, "depthwise": Net.depthwise, "dense": Net.dense, "transposed_conv": Net.transposed_conv, "pool": Net.pool,
    "pair": Net.pair, "curve": Net.curve, "mean": Net.mean, "convert": Net.convert, "reshape": Net.reshape, "transpose": Net.transpose,
    "slice": Net.slice, "pieces": Net.pieces, "together": Net.together, "pad": Net.pad, "gather": Net.gather, "resize": Net.resize,
    "extreme": Net.extreme, "function": Net.function, "choice": Net.choice, "blocks": Net.blocks, "matrices": Net.matrices,
}


def image(net, type_="int8"):
    return net.input((net.one_of(1, 1, 1, 2), net.between(1, 9), net.between(1, 9), net.between(1, 6)), type_)


def single_operators(folder, times, seed):
    """Each operator by itself, several times, on inputs of its own."""
    left_out = 0
    for name, make in SINGLE.items():
        for at in range(times):
            for attempt in range(20):
                net = Net([seed, at, attempt, sum(name.encode())])
                x = image(net, "float32" if at % 4 == 3 else "int8")
                for _ in range(3):  # several nodes in one file
                    make(net, x)
                if net.made and write(folder, f"one_{name}_{at}", net):
                    break
            else:
                left_out += 1
    return left_out


def on_inputs_of_their_own(folder, times, seed):
    """Operators that keep something from run to run, where all runs of a file are one after the other; and those of other types."""
    left_out = 0
    for name, make in {"svdf": Net.svdf, "lstm": Net.lstm, "wide": Net.wide}.items():
        for at in range(times if name == "wide" else 2 * times):
            for attempt in range(20):
                net = Net([seed, at, attempt, sum(name.encode())])
                made = make(net, at % 4 == 3)
                if at % 3 == 2 and name != "wide":
                    net.curve(made)
                if write(folder, f"own_{name}_{at}", net):
                    break
            else:
                left_out += 1
    return left_out


def drawn_networks(folder, count, seed):
    """Several operators, each on something that was made before."""
    left_out = 0
    for at in range(count):
        for attempt in range(20):
            net = Net([seed, at, attempt])
            image(net, "float32" if at % 10 == 9 else "int8")
            makes = [*SINGLE.values(), Net.conv, Net.depthwise, Net.pair, Net.pool]
            for _ in range(net.between(3, 8)):
                x = net.one_of(*net.inputs, *(one for one in [*net.made, *net.made[-2:]] if net.tensors[one].type != "bool"))
                if math.prod(net.shape(x)) <= 2000:
                    makes[net.draw.randint(len(makes))](net, x)
            if net.made and write(folder, f"drawn_{at}", net):
                break
        else:
            left_out += 1
    return left_out


def ties(folder):
    """Bounds of an activation halfway between two integers: -1 is -2.5 steps of 0.4, 1 is 0.5 steps of 2. Products halfway."""
    for at, scale in enumerate((0.4, 2.0)):
        net = Net([at])
        x = net.tensor((1, 4, 4, 1), float(numpy.float32(scale)), 3)
        net.inputs.append(x)
        pool = {"padding": "VALID", "stride_w": 1, "stride_h": 1, "filter_width": 2, "filter_height": 2,
                "fused_activation_function": "RELU_N1_TO_1"}
        net.node("MAX_POOL_2D", [x], pool)
        net.node("AVERAGE_POOL_2D", [x], pool)
        write(folder, f"ties_{at}", net)
    # A product of scales that is a half of the result's scale as float32, and less than that as float64: what is halfway goes another way.
    net = Net([2])
    below = lambda x, y: float(x) * float(y) < float(x * y)
    left, right = next((x, y) for x, y in (numpy.float32(net.draw.uniform(0.1, 1, 2)) for _ in range(1000)) if below(x, y))
    x, y = net.tensor((1, 8), float(left), 0), net.tensor((1, 8), float(right), 0)
    net.inputs += [x, y]
    weights = net.tensor((4, 8), float(right), 0, elements=net.draw.randint(-1, 2, (4, 8)).astype(numpy.int8))
    for operation, inputs in (("FULLY_CONNECTED", [x, weights]), ("MUL", [x, y])):
        net.node(operation, inputs, {"fused_activation_function": "NONE"}, float(2 * (left * right)), 0)
    write(folder, "ties_of_products", net)


def whole_networks(folder):
    """The small networks of networks.py, on two images."""
    for name, make in networks.SMALL.items():
        data = networks.to_tflite(make())
        model = reference.read(data)
        draw = numpy.random.RandomState(1)
        inputs = [[draw.randint(-128, 128, model.tensors[one].shape).astype(numpy.int8) for one in model.inputs],
                  [draw.choice([-128, 127], model.tensors[one].shape).astype(numpy.int8) for one in model.inputs]]
        (folder / f"whole_{name}.tflite").write_bytes(data)
        (folder / f"whole_{name}.in").write_bytes(b"".join(one.tobytes() for each in inputs for one in each))
        (folder / f"whole_{name}.out").write_bytes(b"".join(one.tobytes() for each in inputs for one in reference.run(model, each)))


def refusals(folder):
    """What is not imported is refused by node and reason."""
    def refuses(name, net, *reasons, results=1):
        (folder / f"refused_{name}.tflite").write_bytes(net.file(net.made[-results:]))
        (folder / f"refused_{name}.refused").write_text("".join(f"{one}\n" for one in reasons))

    def net_of(shape=(1, 4, 4, 2), scale=0.5, zero_point=3):
        net = Net([7])
        return net, net.inputs.append(net.tensor(shape, scale, zero_point)) or net.inputs[0]

    def with_result(operation, inputs_of, options, result, **more):
        """A node whose result is said to be `result`."""
        net, x = net_of(**more)
        made = net.keep(result)
        net.nodes.append(reference.Node(operation, inputs_of(net, x), [made], options))
        net.made.append(made)
        return net

    def of(shape, scale=0.5, zero_point=3, type_="int8"):
        return reference.Tensor("y", shape, type_, *[() if scale is None else (one,) for one in (scale, zero_point)])

    pool = {"padding": "VALID", "stride_w": 1, "stride_h": 1, "filter_width": 2, "filter_height": 2}
    refuses("shape", with_result("MAX_POOL_2D", lambda net, x: [x], pool, of((1, 3, 4, 2))),
            "node 0 (`MAX_POOL_2D`): makes 1x3x3x2, and the model says 1x3x4x2")
    refuses("type", with_result("RELU", lambda net, x: [x], {}, of((1, 4, 4, 2), None, 0, "int32")), "node 0 (`RELU`): from int8 to int32")
    refuses("rescaling_pool", with_result("MAX_POOL_2D", lambda net, x: [x], pool, of((1, 3, 3, 2), 0.25)),
            "node 0 (`MAX_POOL_2D`): of tensors of different scales")
    refuses("no_scale", with_result("RELU", lambda net, x: [x], {}, of((1, 4, 4, 2), None)), "node 0 (`RELU`): tensor `y` has no scale")
    refuses("integers_of_functions", with_result("SQRT", lambda net, x: [x], {}, of((1, 4, 4, 2))),
            "node 0 (`SQRT`): of elements of int8, for which only kernels of floats are known")
    refuses("large_powers", with_result("EXP", lambda net, x: [x], {}, of((1, 4, 4, 2))),
            "node 0 (`EXP`): a result that int32 does not hold in steps of its scale")
    refuses("large_scales", with_result("LESS", lambda net, x: [x, x], {}, of((1, 4, 4, 2), None, None, "bool"), scale=1.5),
            "node 0 (`LESS`): a scale of 1.500000, which has to be below 1")
    refuses("truths", with_result("LOGICAL_NOT", lambda net, x: [x], {}, of((1, 4, 4, 2), None, None, "bool")),
            "node 0 (`LOGICAL_NOT`): a truth of int8")
    refuses("rows", with_result("SELECT", lambda net, x: [net.tensor((3,), type_="bool", elements=numpy.zeros(3, bool)), x, x], {}, of((1, 4, 4, 2))),
            "node 0 (`SELECT`): truths of 3 for 1x4x4x2")
    refuses("softmax_scale", with_result("SOFTMAX", lambda net, x: [x], {"beta": 1.0}, of((1, 4, 4, 2))),
            "node 0 (`SOFTMAX`): a result whose scale is not 1/256")
    refuses("axes", with_result("MEAN", lambda net, x: [x, x], {}, of((1, 2))), "node 0 (`MEAN`): operand 1, `t0`, has to be a constant")
    refuses("elements", with_result("RESHAPE", lambda net, x: [x, net.numbers([3, 11])], {}, of((3, 11))),
            "node 0 (`RESHAPE`): to a shape that has another number")
    refuses("mask", with_result("STRIDED_SLICE", lambda net, x: [x, *[net.numbers([1])] * 3], {"new_axis_mask": 1}, of((1, 4, 4, 2))),
            "node 0 (`STRIDED_SLICE`): ellipses and new dimensions")

    def weights(net, shape, scales, points, values):
        return net.keep(reference.Tensor("w", shape, "int8", scales, points, 0, numpy.full(shape, values, numpy.int8)))
    dense = lambda scales, points, bias: with_result(
        "FULLY_CONNECTED", lambda net, x: [x, weights(net, (2, 32), scales, points, 100), net.numbers(bias)], {}, of((1, 2)),
        zero_point=-128)
    hybrid = Net([7])
    hybrid.inputs.append(hybrid.tensor((1, 32), type_="float32"))
    made = hybrid.tensor((1, 2), type_="float32")
    hybrid.nodes.append(reference.Node("FULLY_CONNECTED", [0, weights(hybrid, (2, 32), (0.5,), (0,), 1)], [made], {}))
    hybrid.made.append(made)
    refuses("hybrid", hybrid, "node 0 (`FULLY_CONNECTED`): weights of int8 for floats (dynamic-range quantisation)")
    peephole = Net([7])
    peephole.lstm(True)
    peephole.nodes[0].inputs[9] = peephole.nodes[0].inputs[12]
    refuses("peephole", peephole, "node 0 (`UNIDIRECTIONAL_SEQUENCE_LSTM`): weights of the cell in gates: operand 9")
    no_state = Net([7])
    no_state.svdf(True)
    state = no_state.tensors[no_state.nodes[0].inputs[4]]
    state.variable, state.elements = False, numpy.zeros(state.shape, numpy.float32)
    refuses("svdf_constant", no_state, "node 0 (`SVDF`): operand 4 has to be a variable that no other node writes")
    refuses("weights_zero_point", dense((0.5,), (4,), [0, 0]), "node 0 (`FULLY_CONNECTED`): weights whose zero point is 4")
    # 32 elements of up to 127 + 128 by 100 are 816,000 more than the bias of channel 1; those of channel 0 are the most that fit.
    refuses("sums", dense((0.5,), (0,), [2**31 - 1 - 816000, 2**31 - 816000]),
            "node 0 (`FULLY_CONNECTED`): sums of channel 1 can leave int32: 2146667648 to 2147483648")
    refuses("bias", dense((0.5,), (0,), [0]), "node 0 (`FULLY_CONNECTED`): a bias of 1 for 2 channels")
    refuses("activation", with_result("ADD", lambda net, x: [x, x], {"fused_activation_function": "TANH"}, of((1, 4, 4, 2))),
            "node 0 (`ADD`): activation TANH")

    # All at once; what only lacks the result of a refused node is not listed.
    net = with_result("MAX_POOL_2D", lambda net, x: [x], pool, of((1, 3, 4, 2)))
    net.made = [net.tensor((1, 4, 4, 2), 0.5, 3) for _ in range(2)]
    net.nodes.append(reference.Node("RELU", net.nodes[0].outputs, [net.made[0]]))
    net.nodes.append(reference.Node("SOFTMAX", [0], [net.made[1]], {"beta": 1.0}))
    refuses("several", net, "node 0 (`MAX_POOL_2D`): makes 1x3x3x2", "node 2 (`SOFTMAX`): a result whose scale", results=2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--networks", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("tflite", "in", "out", "refused"):
        for old in folder.glob(f"*.{kind}"):
            old.unlink()
    left_out = single_operators(folder, 4, arguments.seed) + on_inputs_of_their_own(folder, 4, arguments.seed) + drawn_networks(folder, arguments.networks, arguments.seed)
    ties(folder)
    whole_networks(folder)
    refusals(folder)
    if left_out > 0:
        print(f"{left_out} networks could not be drawn")
        return 1
    return subprocess.run([arguments.run, folder]).returncode


if __name__ == "__main__":
    sys.exit(main())
