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
TABLES = {"ADD": 11, "AVERAGE_POOL_2D": 5, "CONCATENATION": 10, "CONV_2D": 1, "DEPTHWISE_CONV_2D": 2, "DEQUANTIZE": 38, "EXPAND_DIMS": 52,
          "FULLY_CONNECTED": 8, "GATHER": 23, "MAX_POOL_2D": 5, "MEAN": 27, "MUL": 21, "PACK": 59, "PAD": 22, "PADV2": 43, "QUANTIZE": 89,
          "RESHAPE": 17, "RESIZE_BILINEAR": 15, "RESIZE_NEAREST_NEIGHBOR": 74, "SLICE": 48, "SOFTMAX": 9, "SPLIT": 35, "SQUEEZE": 30,
          "STRIDED_SLICE": 32, "SUB": 28, "TRANSPOSE": 26, "TRANSPOSE_CONV": 49, "UNPACK": 64}
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
        type_ = type_ or first.type
        if type_ != "int8":
            scale, zero_point = None, None
        elif scale is None:
            scale, zero_point = first.scales[0], first.zero_points[0]
        given = [None if one < 0 else self.tensors[one] for one in inputs]
        results = [reference.Tensor("", (), type_, () if scale is None else (scale,), () if zero_point is None else (zero_point,))
                   for _ in range(outputs)]
        zeros = [None if one is None else one.elements if one.elements is not None else numpy.zeros(one.shape, one.type) for one in given]
        padded = [*given, *[None] * (len(zeros) == 2 and operation in reference.WITH_BIAS)]
        shapes = [one.shape for one in reference.OPERATORS[operation](options, padded, results, [*zeros, *[None] * (len(padded) - len(zeros))])]
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
        return self.node("CONV_2D", [x, weights, bias] if bias >= 0 or self.draw.rand() < 0.5 else [x, weights], options, scale, self.zero_point())

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
        return self.node("FULLY_CONNECTED", [x, weights, bias], {"fused_activation_function": self.one_of(*ACTIVATIONS), "keep_num_dims": keeps},
                         scale, self.zero_point())

    # Files
    def file(self, outputs):
        buffers, tensors, codes, numbers, nodes = [w.buffer()], [], [], [], []
        for one in self.tensors:
            if one.elements is not None:
                buffers.append(w.buffer(numpy.ascontiguousarray(one.elements).tobytes()))
            kept = w.quantisation(list(one.scales), list(one.zero_points), one.axis) if one.scales else None
            tensors.append(w.tensor(one.name, one.type, list(one.shape), len(buffers) - 1 if one.elements is not None else 0, kept))
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
            made.append(numpy.asarray(drawn).astype(numpy.int8))
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


SINGLE = {"conv": Net.conv, "depthwise": Net.depthwise, "dense": Net.dense}


def image(net, type_="int8"):
    return net.input((net.one_of(1, 1, 1, 2), net.between(1, 9), net.between(1, 9), net.between(1, 6)), type_)


def single_operators(folder, times, seed):
    """Each operator by itself, several times, on inputs of its own."""
    left_out = 0
    for name, make in SINGLE.items():
        for at in range(times):
            for attempt in range(20):
                net = Net([seed, at, attempt, sum(name.encode())])
                if make(net, image(net)) is not None and write(folder, f"one_{name}_{at}", net):
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
            image(net)
            for _ in range(net.between(3, 8)):
                makes = list(SINGLE.values())
                makes[net.draw.randint(len(makes))](net, net.one_of(*net.inputs, *net.made, *net.made[-2:]))
            if net.made and write(folder, f"drawn_{at}", net):
                break
        else:
            left_out += 1
    return left_out


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
    left_out = single_operators(folder, 4, arguments.seed) + drawn_networks(folder, arguments.networks, arguments.seed)
    if left_out > 0:
        print(f"{left_out} networks could not be drawn")
        return 1
    return subprocess.run([arguments.run, folder]).returncode


if __name__ == "__main__":
    sys.exit(main())
