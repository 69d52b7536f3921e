"""What a network of ONNX with float32, or with int8 between QuantizeLinear and DequantizeLinear, computes, in NumPy with float64: the
operators that networks.py writes. Windows are taken by `pads`, in another way than networks.py does it."""
import math

import numpy
from onnx import helper, numpy_helper


def windows(image, kernel, strides, pads, fill):
    """[n, c, rows, columns, kernel...] of an image [n, c, h, w]; `fill` lies outside."""
    padded = numpy.pad(image, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=fill)
    return numpy.lib.stride_tricks.sliding_window_view(padded, kernel, axis=(2, 3))[:, :, ::strides[0], ::strides[1]]


def conv(x, weights, bias, kernel_shape, strides, pads, group, dilations):
    assert dilations == [1, 1]
    taken = windows(x, kernel_shape, strides, pads, 0)
    if group == 1:
        result = numpy.tensordot(taken, weights, axes=((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)
    else:
        assert group == x.shape[1] == weights.shape[0]
        result = numpy.einsum("ncyxab,cab->ncyx", taken, weights[:, 0])
    return result + bias[:, None, None]


def softmax(x, axis):
    powers = numpy.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def along(array, axis, rank):
    """One number, or one for each index along an axis of so many dimensions."""
    return array if array.ndim == 0 else array.reshape([-1 if at == axis % rank else 1 for at in range(rank)])


def quantise(x, scale, zero, axis=1):
    """To uint8."""
    return numpy.clip(numpy.round(x / along(scale, axis, x.ndim)) + along(zero, axis, x.ndim), 0, 255)


OPERATORS = {
    "Conv": conv,
    "Gemm": lambda x, weights, bias, transB: x @ (weights.T if transB else weights) + bias,
    "MatMul": lambda x, y: x @ y, "Add": lambda x, y: x + y, "Sub": lambda x, y: x - y, "Mul": lambda x, y: x * y, "Div": lambda x, y: x / y,
    "Pow": lambda x, y: x ** y, "Sqrt": numpy.sqrt, "Erf": lambda x: numpy.vectorize(math.erf)(x),
    "Relu": lambda x: numpy.maximum(x, 0), "Clip": lambda x, low, high: numpy.clip(x, low, high),
    "MaxPool": lambda x, kernel_shape, strides, pads: windows(x, kernel_shape, strides, pads, -math.inf).max(axis=(4, 5)),
    "GlobalAveragePool": lambda x: x.mean(axis=(2, 3), keepdims=True),
    "Flatten": lambda x, axis: x.reshape(math.prod(x.shape[:axis]), -1),
    "Reshape": lambda x, shape: x.reshape(shape.astype(int)),
    "Transpose": lambda x, perm: x.transpose(perm),
    "ReduceMean": lambda x, axes, keepdims: x.mean(axis=tuple(axes), keepdims=bool(keepdims)),
    "Softmax": softmax,
    "QuantizeLinear": quantise,
    "DequantizeLinear": lambda x, scale, zero, axis=1: (x - along(zero, axis, x.ndim)) * along(scale, axis, x.ndim),
}


def run(model, inputs):
    """Runs a model and gives the arrays of all tensors by name; inputs are arrays by name."""
    values = {one.name: numpy_helper.to_array(one).astype(numpy.float64) for one in model.graph.initializer}
    values.update({name: one.astype(numpy.float64) for name, one in inputs.items()})
    for node in model.graph.node:
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        values[node.output[0]] = OPERATORS[node.op_type](*(values[one] for one in node.input), **attributes)
    return values
