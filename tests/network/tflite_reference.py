#!/usr/bin/env python3
"""What a network of int8 of TensorFlow Lite computes, to the bit, in NumPy. It shares nothing with the reader or with what is generated.

The rules are those of TensorFlow Lite's reference kernels with two roundings per multiplication (TFLITE_SINGLE_ROUNDING off). Where kernels of
TensorFlow Lite differ among themselves, these are meant:

- SOFTMAX in fixed point: exponentials with 5 integer bits, their sum with 12, a reciprocal by three steps of Newton. The kernels for x86 and
  Arm take exponentials of float32 from a table instead and can differ by 1.
- LOGISTIC and TANH by a table of 256 values of float32. Exponentials come from float64 and are rounded, so a table can differ by 1 from one
  made with another library's `expf` where a value lies on the middle between two integers.
- MEAN in integers, with the number of elements as part of the multiplier.
- UNIDIRECTIONAL_SEQUENCE_LSTM as the kernels of TensorFlow Lite for Microcontrollers: curves of int16 are lines between values of a table.
- Multipliers as the kernels of TensorFlow Lite compute them, in float32 where they do so (FULLY_CONNECTED with one scale, MUL, RELU), not as
  those of TensorFlow Lite for Microcontrollers.

Sums are int64 and are checked to fit int32, where the kernels would wrap.

    tflite_reference.py MODEL.tflite OUTPUT.bin... < INPUTS    the bytes of all inputs in, the bytes of each output out
"""
import dataclasses
import math
import pathlib
import sys

import numpy

LOWEST, HIGHEST = -128, 127
INT32 = numpy.iinfo(numpy.int32)


@dataclasses.dataclass
class Tensor:
    """A tensor. One scale is for all elements; more scales stand along the dimension `axis`. Constants have `elements`."""
    name: str
    shape: tuple
    type: str = "int8"
    scales: tuple = ()
    zero_points: tuple = ()
    axis: int = 0
    elements: numpy.ndarray = None
    variable: bool = False

    @property
    def scale(self):
        """The scale of all elements, as the float32 that a file has."""
        if len(self.scales) != 1:
            raise ValueError(f"tensor `{self.name}` has {len(self.scales)} scales instead of 1")
        return numpy.float32(self.scales[0])

    @property
    def zero_point(self):
        return int(self.zero_points[0]) if len(self.zero_points) else 0


@dataclasses.dataclass
class Node:
    """An operator with positions of tensors, -1 for one that is left out, and the options of its table by the names of the schema."""
    operation: str
    inputs: list
    outputs: list
    options: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Model:
    tensors: list
    nodes: list
    inputs: list
    outputs: list
    kept: dict = dataclasses.field(default_factory=dict)  # the arrays of variables, by position


# Numbers

def round_half_away(value):
    """std::round: halves go away from zero."""
    return math.floor(value + 0.5) if value >= 0 else math.ceil(value - 0.5)


def quantize_multiplier(real):
    """(multiplier, shift): real = multiplier / 2^31 * 2^shift, where the multiplier is 0 or in [2^30, 2^31)."""
    if real == 0:
        return 0, 0
    fraction, shift = math.frexp(float(real))
    multiplier = round_half_away(fraction * 2**31)
    if multiplier == 2**31:
        multiplier, shift = 2**30, shift + 1
    if shift < -31:
        return 0, 0
    return multiplier, shift


def fits_int32(values, what):
    values = numpy.asarray(values, numpy.int64)
    if values.size and (values.min() < INT32.min or values.max() > INT32.max):
        raise OverflowError(f"{what} leaves int32: {values.min()} to {values.max()}")
    return values


def saturated(values, type_):
    info = numpy.iinfo(type_)
    return numpy.clip(values, info.min, info.max)


def truncating_divide(numerator, denominator):
    """Division as C has it: towards zero. The denominator is positive."""
    numerator = numpy.asarray(numerator, numpy.int64)
    return numpy.sign(numerator) * (numpy.abs(numerator) // denominator)


def doubling_high_mul(a, b):
    """SaturatingRoundingDoublingHighMul: (2 a b) / 2^32 rounded; halves go up, and -2^31 by -2^31 is 2^31 - 1."""
    product = numpy.asarray(a, numpy.int64) * numpy.asarray(b, numpy.int64)
    nudge = numpy.where(product >= 0, 1 << 30, 1 - (1 << 30))
    high = truncating_divide(product + nudge, 1 << 31)
    return numpy.minimum(high, INT32.max)


def rounding_divide_by_pot(x, exponent):
    """RoundingDivideByPOT: x / 2^exponent rounded, where halves go away from zero."""
    x, exponent = numpy.asarray(x, numpy.int64), numpy.asarray(exponent, numpy.int64)
    mask = (numpy.int64(1) << exponent) - 1
    threshold = (mask >> 1) + (x < 0)
    return (x >> exponent) + ((x & mask) > threshold)


def multiply_by_quantized_multiplier(x, multiplier, shift):
    """x by multiplier / 2^31 * 2^shift, rounded twice. Multiplier and shift are numbers, or arrays along the last dimension."""
    shift = numpy.asarray(shift, numpy.int64)
    shifted = fits_int32(numpy.asarray(x, numpy.int64) << numpy.maximum(shift, 0), "a value shifted to the left")
    return rounding_divide_by_pot(doubling_high_mul(shifted, multiplier), numpy.maximum(-shift, 0))


def activation_bounds(word, scale, zero_point):
    """The smallest and the largest int8 that a fused activation lets through."""
    quantised = lambda value: zero_point + round_half_away(float(numpy.float32(value) / numpy.float32(scale)))
    if word == "NONE":
        return LOWEST, HIGHEST
    if word == "RELU":
        return max(LOWEST, quantised(0)), HIGHEST
    if word == "RELU6":
        return max(LOWEST, quantised(0)), min(HIGHEST, quantised(6))
    if word == "RELU_N1_TO_1":
        return max(LOWEST, quantised(-1)), min(HIGHEST, quantised(1))
    raise ValueError(f"{word} is no fused activation of int8")


def finish(values, output, options):
    """Adds the output's zero point and applies the fused activation."""
    low, high = activation_bounds(options.get("fused_activation_function", "NONE"), output.scale, output.zero_point)
    return numpy.clip(values + output.zero_point, low, high).astype(numpy.int8)


# Windows

def window_place(extent, filter_extent, stride, dilation, padding):
    """(extent of the output, rows in front) along one dimension."""
    reach = (filter_extent - 1) * dilation + 1
    if padding == "VALID":
        return (extent - reach + stride) // stride, 0
    if padding != "SAME":
        raise ValueError(f"{padding} is no padding")
    result = (extent + stride - 1) // stride
    return result, max(0, (result - 1) * stride + reach - extent) // 2


def windows(image, filter_height, filter_width, options, fill):
    """[batch, rows, columns, filter_height, filter_width, channels]: what lies under the filter at each place; `fill` lies outside."""
    batch, height, width, channels = image.shape
    stride_h, stride_w = options["stride_h"], options["stride_w"]
    dilation_h, dilation_w = options.get("dilation_h_factor", 1), options.get("dilation_w_factor", 1)
    rows, top = window_place(height, filter_height, stride_h, dilation_h, options["padding"])
    columns, left = window_place(width, filter_width, stride_w, dilation_w, options["padding"])
    y = numpy.arange(rows)[:, None] * stride_h - top + numpy.arange(filter_height)[None, :] * dilation_h
    x = numpy.arange(columns)[:, None] * stride_w - left + numpy.arange(filter_width)[None, :] * dilation_w
    inside = ((y >= 0) & (y < height))[:, None, :, None] & ((x >= 0) & (x < width))[None, :, None, :]
    taken = image[:, numpy.clip(y, 0, height - 1)[:, None, :, None], numpy.clip(x, 0, width - 1)[None, :, None, :], :]
    return numpy.where(inside[None, ..., None], taken, fill), inside


# Operators: each takes its node's options, its tensors' descriptions, the arrays of the inputs, and gives the arrays of the outputs.

def channel_multipliers(x, weights, output, channels):
    """Multiplier and shift for each channel of the output: the scales as float64."""
    scales = weights.scales if len(weights.scales) > 1 else [weights.scales[0]] * channels
    if len(scales) != channels:
        raise ValueError(f"tensor `{weights.name}` has {len(scales)} scales for {channels} channels")
    pairs = [quantize_multiplier(float(x.scale) * float(numpy.float32(one)) / float(output.scale)) for one in scales]
    return numpy.array([one[0] for one in pairs]), numpy.array([one[1] for one in pairs])


def symmetric(weights):
    if any(int(one) != 0 for one in weights.zero_points):
        raise ValueError(f"tensor `{weights.name}`: weights of int8 have zero point 0")


def of_sums(operator, sums, options, inputs, outputs, arrays):
    """What a convolution makes of its sums [n, h, w, channels]: the bias is added, then each channel is scaled by its own multiplier."""
    if arrays[2] is not None:
        sums = sums + arrays[2]
    fits_int32(sums, f"a sum of {operator}")
    multipliers = channel_multipliers(inputs[0], inputs[1], outputs[0], sums.shape[3])
    return finish(multiply_by_quantized_multiplier(sums, *multipliers), outputs[0], options)


def conv_2d(options, inputs, outputs, arrays):
    """[n, h, w, i] by [o, fh, fw, i / groups] and [o] to [n, h', w', o]."""
    symmetric(inputs[1])
    image, weights = arrays[0].astype(numpy.int64) - inputs[0].zero_point, arrays[1].astype(numpy.int64)
    channels, filter_height, filter_width, depth = weights.shape
    groups = image.shape[3] // depth
    taken, _ = windows(image, filter_height, filter_width, options, 0)
    taken = taken.reshape(*taken.shape[:5], groups, depth)
    weights = weights.reshape(groups, channels // groups, filter_height, filter_width, depth)
    batch, rows, columns = taken.shape[:3]
    sums = numpy.empty((batch, rows, columns, groups, channels // groups), numpy.int64)
    for group in range(groups):
        left = taken[..., group, :].reshape(batch * rows * columns, -1)
        sums[..., group, :] = (left @ weights[group].reshape(channels // groups, -1).T).reshape(batch, rows, columns, -1)
    sums = sums.reshape(batch, rows, columns, channels)
    return [of_sums("CONV_2D", sums, options, inputs, outputs, arrays)]


def depthwise_conv_2d(options, inputs, outputs, arrays):
    """[n, h, w, i] by [1, fh, fw, i * m] and [i * m] to [n, h', w', i * m]: channel c of the output has channel c / m of the input."""
    symmetric(inputs[1])
    image, weights = arrays[0].astype(numpy.int64) - inputs[0].zero_point, arrays[1].astype(numpy.int64)[0]
    channels = weights.shape[2]
    taken, _ = windows(image, *weights.shape[:2], options, 0)
    sums = (numpy.repeat(taken, channels // image.shape[3], axis=5) * weights).sum(axis=(3, 4))
    return [of_sums("DEPTHWISE_CONV_2D", sums, options, inputs, outputs, arrays)]


def fully_connected(options, inputs, outputs, arrays):
    """[..., i] by [o, i] and [o] to [rows, o], or [..., o] with keep_num_dims. With one scale the product of scales is a float32."""
    symmetric(inputs[1])
    weights = arrays[1].astype(numpy.int64)
    channels, depth = weights.shape
    sums = (arrays[0].astype(numpy.int64).reshape(-1, depth) - inputs[0].zero_point) @ weights.T
    if arrays[2] is not None:
        sums = sums + arrays[2]
    fits_int32(sums, "a sum of FULLY_CONNECTED")
    if len(inputs[1].scales) == 1:
        multipliers = quantize_multiplier(float(inputs[0].scale * inputs[1].scale) / float(outputs[0].scale))
    else:
        multipliers = channel_multipliers(inputs[0], inputs[1], outputs[0], channels)
    result = finish(multiply_by_quantized_multiplier(sums, *multipliers), outputs[0], options)
    return [result.reshape(*arrays[0].shape[:-1], channels) if options.get("keep_num_dims") else result]


def turned(options, arrays):
    """Matrices of BATCH_MATMUL, rows before columns."""
    return [one.swapaxes(-1, -2) if options.get(name) else one for name, one in zip(("adj_x", "adj_y"), arrays)]


def batch_matmul(options, inputs, outputs, arrays):
    """[..., m, k] by [..., k, n]. The product of scales is a float32."""
    a, b = turned(options, [one.astype(numpy.int64) - of.zero_point for one, of in zip(arrays, inputs)])
    sums = a @ b
    fits_int32(sums, "a sum of BATCH_MATMUL")
    multiplier = quantize_multiplier(float(inputs[0].scale * inputs[1].scale) / float(outputs[0].scale))
    return [finish(multiply_by_quantized_multiplier(sums, *multiplier), outputs[0], {})]


def scattered(image, weights, shape, options):
    """[n, h, w, i] by [o, fh, fw, i] to the shape [n, h', w', o]: each pixel adds to as many places as the filter has, from its own place
    times the stride on, less the rows in front. What falls outside is left out."""
    filter_height, filter_width = weights.shape[1:3]
    _, top = window_place(shape[1], filter_height, options["stride_h"], 1, options["padding"])
    _, left = window_place(shape[2], filter_width, options["stride_w"], 1, options["padding"])
    sums = numpy.zeros(shape, image.dtype)
    for row in range(image.shape[1]):
        for column in range(image.shape[2]):
            for r in range(filter_height):
                for c in range(filter_width):
                    y, x = row * options["stride_h"] - top + r, column * options["stride_w"] - left + c
                    if 0 <= y < shape[1] and 0 <= x < shape[2]:
                        sums[:, y, x] += image[:, row, column] @ weights[:, r, c].T
    return sums


def transpose_conv(options, inputs, outputs, arrays):
    """The inputs are the shape of the result, weights, image and bias. Pixels have no zero point before they are scattered."""
    symmetric(inputs[1])
    image = arrays[2].astype(numpy.int64) - inputs[2].zero_point
    sums = scattered(image, arrays[1].astype(numpy.int64), tuple(map(int, arrays[0])), options)
    bias = arrays[3] if len(arrays) > 3 else None
    return [of_sums("TRANSPOSE_CONV", sums, options, [inputs[2], inputs[1]], outputs, [None, None, bias])]


def sum_or_difference(sign):
    def compute(options, inputs, outputs, arrays):
        """Both operands are shifted by 20 bits, brought to twice the larger scale, and the sum is brought to the output's scale."""
        left_shift = 20
        twice = 2 * float(max(inputs[0].scale, inputs[1].scale))
        scaled = []
        for tensor, array in zip(inputs, arrays):
            shifted = (array.astype(numpy.int64) - tensor.zero_point) << left_shift
            scaled.append(multiply_by_quantized_multiplier(shifted, *quantize_multiplier(float(tensor.scale) / twice)))
        total = fits_int32(scaled[0] + sign * scaled[1], "a sum of ADD or SUB")
        factor = quantize_multiplier(twice / (2**left_shift * float(outputs[0].scale)))
        return [finish(multiply_by_quantized_multiplier(total, *factor), outputs[0], options)]
    return compute


def mul(options, inputs, outputs, arrays):
    """The factor is computed in float32, from left to right."""
    product = (arrays[0].astype(numpy.int64) - inputs[0].zero_point) * (arrays[1].astype(numpy.int64) - inputs[1].zero_point)
    factor = quantize_multiplier(float(inputs[0].scale * inputs[1].scale / outputs[0].scale))
    return [finish(multiply_by_quantized_multiplier(product, *factor), outputs[0], options)]


def same_quantisation(operation, tensors):
    first = tensors[0]
    for one in tensors[1:]:
        if one.scale != first.scale or one.zero_point != first.zero_point:
            raise ValueError(f"{operation} rescales nothing, and `{one.name}` has another scale or zero point than `{first.name}`")


def pool_bounds(options, output):
    return activation_bounds(options.get("fused_activation_function", "NONE"), output.scale, output.zero_point)


def extreme(function):
    def compute(options, inputs, outputs, arrays):
        return [function(*arrays)]
    return compute


def reduced(function):
    def compute(options, inputs, outputs, arrays):
        axes = tuple(sorted({int(one) % arrays[0].ndim for one in numpy.ravel(arrays[1])}))
        return [function(arrays[0], axis=axes, keepdims=bool(options.get("keep_dims")))]
    return compute


def arg_max(options, inputs, outputs, arrays):
    return [numpy.argmax(arrays[0], axis=int(numpy.ravel(arrays[1])[0])).astype(outputs[0].type)]


def hard_swish(options, inputs, outputs, arrays):
    """x by a ramp from 0 at -3 to 1 at 3: integers of 16 bits, of which 15 are behind the point. Shifts to the left saturate."""
    int16 = lambda x: numpy.clip(x, -32768, 32767)
    high = lambda a, b: int16(truncating_divide(a * b + numpy.where(a * b >= 0, 1 << 14, 1 - (1 << 14)), 1 << 15))

    def narrow(real):
        multiplier, shift = quantize_multiplier(float(real))
        return min((multiplier + (1 << 15)) >> 16, 32767), shift
    fine = numpy.float32(1 / 128) * inputs[0].scale
    output, shift = narrow(fine / outputs[0].scale)
    ramp, ramp_shift = narrow(fine / (numpy.float32(3) / numpy.float32(32768)))
    if shift > 0:
        raise OverflowError("HARD_SWISH to a finer scale")
    x = (arrays[0].astype(numpy.int64) - inputs[0].zero_point) * 128
    part = int16(x << max(ramp_shift - 1, 0))
    part = high(part, ramp)
    part = int16(part * 2) if ramp_shift > 0 else rounding_divide_by_pot(part, -ramp_shift)
    made = truncating_divide(((part + (1 << 15)) >> 1) * high(x, output), 1 << 15)
    return [saturated(rounding_divide_by_pot(made, -shift) + outputs[0].zero_point, numpy.int8).astype(numpy.int8)]


def space_to_depth(options, inputs, outputs, arrays):
    (n, h, w, c), b = arrays[0].shape, options["block_size"]
    return [arrays[0].reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // b, w // b, b * b * c)]


def depth_to_space(options, inputs, outputs, arrays):
    (n, h, w, c), b = arrays[0].shape, options["block_size"]
    return [arrays[0].reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5).reshape(n, h * b, w * b, c // (b * b))]


def average_pool_2d(options, inputs, outputs, arrays):
    """The mean of the elements inside the image, zero points included; halves go away from zero."""
    same_quantisation("AVERAGE_POOL_2D", [inputs[0], outputs[0]])
    taken, inside = windows(arrays[0].astype(numpy.int64), options["filter_height"], options["filter_width"], options, 0)
    sums, count = taken.sum(axis=(3, 4)), inside.sum(axis=(2, 3))[None, ..., None]
    mean = truncating_divide(numpy.where(sums > 0, sums + count // 2, sums - count // 2), count)
    return [numpy.clip(mean, *pool_bounds(options, outputs[0])).astype(numpy.int8)]


def max_pool_2d(options, inputs, outputs, arrays):
    same_quantisation("MAX_POOL_2D", [inputs[0], outputs[0]])
    taken, _ = windows(arrays[0].astype(numpy.int64), options["filter_height"], options["filter_width"], options, LOWEST)
    return [numpy.clip(taken.max(axis=(3, 4)), *pool_bounds(options, outputs[0])).astype(numpy.int8)]


def mean(options, inputs, outputs, arrays):
    """The multiplier is divided by the number of elements, after as many shifts to the left as keep its precision."""
    axes = tuple(sorted({int(one) % arrays[0].ndim for one in numpy.ravel(arrays[1])}))
    count = math.prod(arrays[0].shape[axis] for axis in axes)
    multiplier, shift = quantize_multiplier(float(inputs[0].scale) / float(outputs[0].scale))
    added = min(count.bit_length() - 1, 32, 31 + shift)
    multiplier, shift = (multiplier << added) // count, shift - added
    sums = arrays[0].astype(numpy.int64).sum(axis=axes, keepdims=bool(options.get("keep_dims"))) - inputs[0].zero_point * count
    result = multiply_by_quantized_multiplier(fits_int32(sums, "a sum of MEAN"), multiplier, shift) + outputs[0].zero_point
    return [numpy.clip(result, LOWEST, HIGHEST).astype(numpy.int8)]


# Softmax in fixed point: an integer with i integer bits has 31 - i bits behind the point.

def shift_saturating(x, exponent):
    """x by 2^exponent: saturated to int32 where it grows, rounded where it shrinks."""
    if exponent < 0:
        return rounding_divide_by_pot(x, -exponent)
    return numpy.clip(numpy.asarray(x, numpy.int64) << exponent, INT32.min, INT32.max)


def exp_of_negative(x):
    """exp(x) with 0 integer bits, for x <= 0 with 5 integer bits: a polynomial of degree 4 around -1/8 for what is left modulo 1/4, and a
    factor for each bit of the quarters."""
    x = numpy.asarray(x, numpy.int64)
    quarter = 1 << 24
    rest = (x & (quarter - 1)) - quarter
    near = shift_saturating(rest, 5) + (1 << 28)
    near2 = doubling_high_mul(near, near)
    near3 = doubling_high_mul(near2, near)
    near4 = doubling_high_mul(near2, near2)
    one_third, exp_minus_eighth = 715827883, 1895147668
    tail = shift_saturating(doubling_high_mul(shift_saturating(near4, -2) + near3, one_third) + near2, -1)
    result = exp_minus_eighth + doubling_high_mul(exp_minus_eighth, near + tail)
    quarters = rest - x
    # exp(-1/4), exp(-1/2), exp(-1), ... exp(-16), with 0 integer bits.
    for bit, factor in enumerate((1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)):
        result = numpy.where(quarters & (1 << (24 + bit)), doubling_high_mul(result, factor), result)
    return numpy.where(x == 0, INT32.max, result)


def one_over_one_plus(x):
    """1 / (1 + x) with 0 integer bits, for x in [0, 1) with 0 integer bits."""
    x = numpy.asarray(x, numpy.int64)
    half = truncating_divide(x + INT32.max + 1, 2)
    estimate = 1515870810 + doubling_high_mul(half, -1010580540)  # 48/17 - 32/17 d with 2 integer bits
    for _ in range(3):
        error = (1 << 29) - doubling_high_mul(half, estimate)
        estimate = estimate + shift_saturating(doubling_high_mul(estimate, error), 2)
    return shift_saturating(estimate, 1)


def softmax_row(row, multiplier, shift, smallest, bits):
    """One row of int64 to integers of so many bits: the lowest is 0, and all of them are almost 1. Differences below `smallest` count as
    nothing."""
    differences = row - row.max()
    counted = differences >= smallest
    exponentials = exp_of_negative(doubling_high_mul(numpy.where(counted, differences, 0) << shift, multiplier))
    total = int(numpy.where(counted, rounding_divide_by_pot(exponentials, 12), 0).sum())
    fits_int32(total, "a sum of SOFTMAX")
    headroom = 32 - total.bit_length()
    reciprocal = one_over_one_plus(((total << headroom) & 0xFFFFFFFF) - (1 << 31))
    scaled = rounding_divide_by_pot(doubling_high_mul(reciprocal, exponentials), 12 - headroom + 31 - bits)
    lowest = -(1 << (bits - 1))
    return numpy.where(counted, numpy.clip(scaled + lowest, lowest, -lowest - 1), lowest)


def softmax(options, inputs, outputs, arrays):
    """Along the last dimension. An output of int8 has scale 1/256 and zero point -128, one of int16 has 1/65536 and -32768."""
    bits = 16 if outputs[0].type == "int16" else 8
    if outputs[0].scale != numpy.float32(1 / 2**bits) or outputs[0].zero_point != -(2 ** (bits - 1)):
        raise ValueError(f"tensor `{outputs[0].name}`: SOFTMAX gives scale 1/{2**bits} and zero point {-(2 ** (bits - 1))}")
    factor = float(numpy.float32(options["beta"])) * float(inputs[0].scale) * 2**26
    multiplier, shift = quantize_multiplier(min(factor, 2.0**31 - 1))
    if shift < 0:
        raise ValueError(f"tensor `{inputs[0].name}`: SOFTMAX needs beta * scale of at least 2^-27")
    smallest = -math.floor(31 * 2**26 / 2**shift)
    rows = arrays[0].astype(numpy.int64).reshape(-1, arrays[0].shape[-1])
    made = numpy.array([softmax_row(one, multiplier, shift, smallest, bits) for one in rows])
    return [made.reshape(arrays[0].shape).astype(outputs[0].type)]


def table_of(function, scale, zero_point):
    def compute(options, inputs, outputs, arrays):
        """256 values, computed in float32."""
        if outputs[0].scale != numpy.float32(scale) or outputs[0].zero_point != zero_point:
            raise ValueError(f"tensor `{outputs[0].name}`: this operator gives scale {scale} and zero point {zero_point}")
        values = inputs[0].scale * (numpy.arange(LOWEST, HIGHEST + 1) - inputs[0].zero_point).astype(numpy.float32)
        scaled = function(values).astype(numpy.float32) * numpy.float32(1 / scale)
        table = numpy.array([round_half_away(float(one)) for one in scaled]) + zero_point
        return [numpy.clip(table, LOWEST, HIGHEST).astype(numpy.int8)[arrays[0].astype(numpy.int64) - LOWEST]]
    return compute


def logistic_of(values):
    with numpy.errstate(over="ignore"):  # infinity is meant: its reciprocal is 0
        exponentials = numpy.exp(-values.astype(numpy.float64)).astype(numpy.float32)
    return numpy.float32(1) / (numpy.float32(1) + exponentials)


def tanh_of(values):
    return numpy.tanh(values.astype(numpy.float64))


def own_table_of(function):
    def compute(options, inputs, outputs, arrays):
        """256 values, computed in float32, of any scale."""
        values = inputs[0].scale * (numpy.arange(LOWEST, HIGHEST + 1) - inputs[0].zero_point).astype(numpy.float32)
        lowest = numpy.float32(LOWEST - outputs[0].zero_point) * outputs[0].scale
        made = [float(numpy.float32(function(float(one), float(lowest))) * (numpy.float32(1) / outputs[0].scale)) for one in values]
        fits_int32([math.trunc(min(max(one, -1e18), 1e18)) for one in made], "an element of a table")
        table = numpy.array([round_half_away(one) for one in made]) + outputs[0].zero_point
        return [numpy.clip(table, LOWEST, HIGHEST).astype(numpy.int8)[arrays[0].astype(numpy.int64) - LOWEST]]
    return compute


def power_of_e(x, lowest):
    return math.exp(x) if x < 88 else 1e30  # beyond int32 in any scale


def magnitude(options, inputs, outputs, arrays):
    """ABS: rescaled by the quotient of the scales, a float32, where they differ."""
    values = numpy.abs(arrays[0].astype(numpy.int64) - inputs[0].zero_point)
    if inputs[0].scale != outputs[0].scale:
        values = multiply_by_quantized_multiplier(values, *quantize_multiplier(float(inputs[0].scale / outputs[0].scale)))
    return [finish(values, outputs[0], {})]


def below_1(real):
    if real >= 1:
        raise OverflowError(f"a factor of {real}")
    return quantize_multiplier(real)


def squared_difference(options, inputs, outputs, arrays):
    """Both operands are shifted by 7 bits and brought to twice the larger scale."""
    twice = 2 * float(max(one.scale for one in inputs))
    brought = [multiply_by_quantized_multiplier((array.astype(numpy.int64) - tensor.zero_point) << 7,
                                                *quantize_multiplier(float(tensor.scale) / twice)) for tensor, array in zip(inputs, arrays)]
    factor = below_1(twice**2 / (2**14 * float(outputs[0].scale)))
    return [finish(multiply_by_quantized_multiplier((brought[0] - brought[1])**2, *factor), outputs[0], {})]


def compared(function):
    def compute(options, inputs, outputs, arrays):
        """Integers times 256 and their scale."""
        if inputs[0].type == "int8":
            arrays = [multiply_by_quantized_multiplier((array.astype(numpy.int64) - tensor.zero_point) << 8, *below_1(float(tensor.scale)))
                      for tensor, array in zip(inputs, arrays)]
        return [function(*arrays)]
    return compute


def select(options, inputs, outputs, arrays):
    """A list of truths is one of rows."""
    truths = arrays[0]
    if truths.ndim == 1 and truths.shape != arrays[1].shape and truths.size > 1:
        truths = truths.reshape(-1, *[1] * (arrays[1].ndim - 1))
    return [numpy.where(truths.reshape(()) if truths.size == 1 else truths, arrays[1], arrays[2])]


def select_v2(options, inputs, outputs, arrays):
    return [numpy.where(*arrays)]


def truths(function):
    return lambda options, inputs, outputs, arrays: [function(*arrays)]


def not_of_integers(options, inputs, outputs, arrays):
    raise ValueError("this operator is of floats alone")


def relu(activation):
    def compute(options, inputs, outputs, arrays):
        """Rescaled by the quotient of the scales, a float32, and bounded."""
        low, high = activation_bounds(activation, outputs[0].scale, outputs[0].zero_point)
        factor = quantize_multiplier(float(inputs[0].scale / outputs[0].scale))
        values = multiply_by_quantized_multiplier(arrays[0].astype(numpy.int64) - inputs[0].zero_point, *factor) + outputs[0].zero_point
        return [numpy.clip(values, low, high).astype(numpy.int8)]
    return compute


def leaky_relu(options, inputs, outputs, arrays):
    """One multiplier for what is not below 0, another one for what is: products and quotients of float32."""
    scale, result, alpha = inputs[0].scale, outputs[0].scale, numpy.float32(options["alpha"])
    real = arrays[0].astype(numpy.int64) - inputs[0].zero_point
    above = multiply_by_quantized_multiplier(real, *quantize_multiplier(float(scale / result)))
    below = multiply_by_quantized_multiplier(real, *quantize_multiplier(float(scale * alpha / result)))
    return [finish(numpy.where(real >= 0, above, below), outputs[0], {})]


def prelu(options, inputs, outputs, arrays):
    """The same with factors of int8, which are spread."""
    scale, factor, result = inputs[0].scale, inputs[1].scale, outputs[0].scale
    real = arrays[0].astype(numpy.int64) - inputs[0].zero_point
    product = real * (arrays[1].astype(numpy.int64) - inputs[1].zero_point)
    above = multiply_by_quantized_multiplier(real, *quantize_multiplier(float(scale / result)))
    below = multiply_by_quantized_multiplier(product, *quantize_multiplier(float(scale * factor / result)))
    return [finish(numpy.where(real >= 0, above, below), outputs[0], {})]


def quantize(options, inputs, outputs, arrays):
    """Between integers of other scales and zero points, or from float32: the quotient rounded, halves away from zero."""
    if inputs[0].type == "float32":
        quotients = (arrays[0] / outputs[0].scale).astype(numpy.float64)
        rounded = numpy.where(quotients < 0, numpy.ceil(quotients - 0.5), numpy.floor(quotients + 0.5))
        return [numpy.clip(rounded + outputs[0].zero_point, LOWEST, HIGHEST).astype(numpy.int8)]
    factor = quantize_multiplier(float(inputs[0].scale) / float(outputs[0].scale))
    scaled = multiply_by_quantized_multiplier(arrays[0].astype(numpy.int64) - inputs[0].zero_point, *factor)
    return [saturated(scaled + outputs[0].zero_point, outputs[0].type).astype(outputs[0].type)]


def dequantize(options, inputs, outputs, arrays):
    """From int8 to float32."""
    return [(arrays[0].astype(numpy.float32) - numpy.float32(inputs[0].zero_point)) * inputs[0].scale]


# Images of another size: [n, h, w, c]; the second input is [h', w'].

def nearest_places(extent, result, options):
    corners, half = options.get("align_corners"), numpy.float32(0.5 if options.get("half_pixel_centers") else 0)
    if corners and result > 1:
        scale = numpy.float32(extent - 1) / numpy.float32(result - 1)
    else:
        scale = numpy.float32(extent) / numpy.float32(result)
    places = [(numpy.float32(one) + half) * scale for one in range(result)]
    return [min(max(round_half_away(float(one)) if corners else math.floor(one), 0), extent - 1) for one in places]


def resize_nearest_neighbor(options, inputs, outputs, arrays):
    rows, columns = (nearest_places(extent, int(result), options) for extent, result in zip(arrays[0].shape[1:3], arrays[1]))
    return [arrays[0][:, rows][:, :, columns]]


def bilinear_places(extent, result, options):
    """For each place (index below, index above, how far from the one below), in parts of 1024."""
    if options.get("align_corners") and result > 1:
        scale = (1024 * (extent - 1) + (result - 1) // 2) // (result - 1)
    else:
        scale = (1024 * extent + result // 2) // result
    found = []
    for one in range(result):
        place = one * scale + (scale // 2 - 512 if options.get("half_pixel_centers") else 0)
        below = max(int(place / 1024), 0)
        found.append((below, min(int((place + 1023) / 1024), extent - 1), place - 1024 * below))
    return found


def resize_bilinear(options, inputs, outputs, arrays):
    """Four neighbours by weights of 10 bits along each dimension, rounded once; halves go away from zero."""
    image = arrays[0].astype(numpy.int64)
    rows, columns = (bilinear_places(extent, int(result), options) for extent, result in zip(image.shape[1:3], arrays[1]))
    made = numpy.empty((image.shape[0], len(rows), len(columns), image.shape[3]), numpy.int8)
    for y, (top, bottom, down) in enumerate(rows):
        for x, (left, right, along) in enumerate(columns):
            total = (image[:, top, left] * (1024 - down) * (1024 - along) + image[:, bottom, left] * down * (1024 - along) +
                     image[:, top, right] * (1024 - down) * along + image[:, bottom, right] * down * along)
            made[:, y, x] = truncating_divide(total + numpy.where(total > 0, 1 << 19, -(1 << 19)), 1 << 20)
    return [made]


# Operators that move elements

def reshape(options, inputs, outputs, arrays):
    given = len(arrays) > 1 and arrays[1] is not None
    return [arrays[0].reshape([int(one) for one in (numpy.ravel(arrays[1]) if given else options["new_shape"])])]


def pad(options, inputs, outputs, arrays):
    """The second input has [in front, behind] for each dimension. What is added is the zero point: 0."""
    return [numpy.pad(arrays[0], [tuple(map(int, one)) for one in arrays[1]], constant_values=outputs[0].zero_point)]


def padv2(options, inputs, outputs, arrays):
    """The third input is what is added."""
    return [numpy.pad(arrays[0], [tuple(map(int, one)) for one in arrays[1]], constant_values=numpy.ravel(arrays[2])[0])]


def expand_dims(options, inputs, outputs, arrays):
    return [numpy.expand_dims(arrays[0], int(numpy.ravel(arrays[1])[0]))]


def squeeze(options, inputs, outputs, arrays):
    return [numpy.squeeze(arrays[0], tuple(options["squeeze_dims"]) or None)]


def gather(options, inputs, outputs, arrays):
    if options.get("batch_dims"):
        raise ValueError("GATHER with batches is not in this reference")
    return [numpy.take(arrays[0], arrays[1].astype(numpy.int64), axis=options["axis"])]


def pack(options, inputs, outputs, arrays):
    of_one_scale("PACK", [outputs[0], *inputs])
    return [numpy.stack(arrays, axis=options["axis"])]


def unpack(options, inputs, outputs, arrays):
    return [numpy.squeeze(one, options["axis"]) for one in numpy.split(arrays[0], options["num"], axis=options["axis"])]


def concatenation(options, inputs, outputs, arrays):
    of_one_scale("CONCATENATION", [outputs[0], *inputs])
    if options.get("fused_activation_function", "NONE") != "NONE":
        raise ValueError("CONCATENATION has no activation here")
    return [numpy.concatenate(arrays, axis=options["axis"])]


def transpose(options, inputs, outputs, arrays):
    return [numpy.transpose(arrays[0], [int(one) for one in arrays[1]])]


def slice_(options, inputs, outputs, arrays):
    """From `begin`, `size` elements along each dimension; -1 is all that follow."""
    places = [slice(int(begin), None if size == -1 else int(begin) + int(size)) for begin, size in zip(arrays[1], arrays[2])]
    return [arrays[0][tuple(places)]]


def strided_slice(options, inputs, outputs, arrays):
    """NumPy's slices, with masks: a bit for each dimension. Ellipses and new dimensions are not there."""
    if options.get("ellipsis_mask") or options.get("new_axis_mask"):
        raise ValueError("STRIDED_SLICE with an ellipsis or a new dimension is not in this reference")
    places = []
    for at, (begin, end, stride) in enumerate(zip(*([int(one) for one in array] for array in arrays[1:4]))):
        masked = lambda word: options.get(word, 0) >> at & 1
        if masked("shrink_axis_mask"):
            places.append(0 if masked("begin_mask") else begin)
            continue
        if options.get("offset") and not masked("end_mask"):
            end += begin
        extent = arrays[0].shape[at]
        first, last = (0, extent) if stride > 0 else (extent - 1, -1)
        bound = lambda value, low, high: min(max(value + extent if value < 0 else value, low), high)
        begin = first if masked("begin_mask") else bound(begin, 0 if stride > 0 else -1, extent if stride > 0 else extent - 1)
        end = last if masked("end_mask") else bound(end, 0 if stride > 0 else -1, extent if stride > 0 else extent - 1)
        places.append(numpy.arange(begin, end, stride))
    result = arrays[0]
    for at in reversed(range(len(places))):
        result = numpy.take(result, places[at], axis=at)
    return [result]


def split(options, inputs, outputs, arrays):
    """The first input is the dimension, the second what is split into equal parts."""
    return numpy.split(arrays[1], options["num_splits"], axis=int(numpy.ravel(arrays[0])[0]))


# Operators with variables, which they change in place.

def float32_product(*scales):
    """Scales by each other, and by 1 / the last one, from left to right in float32."""
    product = numpy.float32(scales[0])
    for one in scales[1:-1]:
        product = product * numpy.float32(one)
    return float(product / numpy.float32(scales[-1]))


def svdf(options, inputs, outputs, arrays):
    """x [b, i] by features [f, i] gives the newest of the numbers of each filter, [b, f * memory]; by weights over time [f, memory]."""
    x, features, over_time, bias, state = arrays
    filters, memory = over_time.shape
    rank, batches = options["rank"], x.shape[0]
    kept = state.reshape(batches, filters, memory)
    kept[:, :, :-1] = kept[:, :, 1:].copy()
    if x.dtype == numpy.float32:
        kept[:, :, -1] = x.astype(numpy.float64) @ features.astype(numpy.float64).T
        sums = (kept.astype(numpy.float64) * over_time).reshape(batches, filters // rank, -1).sum(axis=2) + (0 if bias is None else bias)
        return [float_activated(sums, options)]
    symmetric(inputs[1])
    zero_point = inputs[4].zero_point
    sums = fits_int32((x.astype(numpy.int64) - inputs[0].zero_point) @ features.astype(numpy.int64).T, "a sum of SVDF")
    factor = quantize_multiplier(float32_product(inputs[0].scale, inputs[1].scale, inputs[4].scale))
    newest = saturated(multiply_by_quantized_multiplier(sums, *factor), state.dtype)
    kept[:, :, -1] = (zero_point + newest).astype(state.dtype)  # wraps
    sums = ((kept.astype(numpy.int64) - zero_point) * over_time).reshape(batches, filters // rank, -1).sum(axis=2)
    factor = quantize_multiplier(float32_product(inputs[4].scale, inputs[2].scale, outputs[0].scale))
    total = fits_int32(sums + (0 if bias is None else bias), "a sum of SVDF")
    result = multiply_by_quantized_multiplier(total, *factor) + outputs[0].zero_point
    return [saturated(result, numpy.int8).astype(numpy.int8)]


def sigmoid_table():
    """65536 / (1 + exp(-i / 24)), raised by half of what lies between the curve and the line to the next value, in its middle."""
    curve = lambda at: 65536 / (1 + numpy.exp(-at / 24))
    i = numpy.arange(256.0)
    table = numpy.floor(curve(i) + (curve(i + 0.5) - (curve(i) + curve(i + 1)) / 2) / 2 + 0.5).astype(numpy.int64)
    table[255] = 65535
    return table


SIGMOID = sigmoid_table()


def on_lines(magnitude, bits):
    place = numpy.minimum(magnitude >> bits, 254)
    line = (SIGMOID[place] << bits) + (magnitude & ((1 << bits) - 1)) * (SIGMOID[place + 1] - SIGMOID[place])
    return numpy.where(magnitude >> bits >= 255, (0x7FFF << 10) if bits == 9 else 0xFFFF << 8, line)


def sigmoid_of_int16(x):
    scaled = 3 * numpy.asarray(x, numpy.int64)
    line = on_lines(numpy.abs(scaled), 9)
    return numpy.where(scaled >= 0, line + (1 << 9), (1 << 25) - line + (1 << 9) - 1) >> 10


def tanh_of_int16(x, power):
    shift, x = power + 12, numpy.asarray(x, numpy.int64)
    scaled = (3 << shift) * x if shift >= 0 else (3 * x + (1 << (-shift - 1))) >> -shift
    line = on_lines(numpy.abs(scaled), 8)
    return numpy.where(scaled >= 0, line - (1 << 23) + (1 << 7), -line + (1 << 23) + (1 << 7) - 1) >> 8


def lstm(options, inputs, outputs, arrays):
    """x [b, t, i], or [t, b, i], to results [b, t, n]; the last result and the cell are variables [b, n]. Gates: of input, forgetting, cell
    and output."""
    x = arrays[0] if options.get("time_major") else arrays[0].transpose(1, 0, 2)
    if any(one is not None for one in [*arrays[9:12], *arrays[16:18], *arrays[20:]]) or options["fused_activation_function"] != "TANH":
        raise ValueError("a variant of UNIDIRECTIONAL_SEQUENCE_LSTM that is not in this reference")
    step = float_lstm_step if x.dtype == numpy.float32 else lstm_step
    units = arrays[5].shape[0]
    last, cell = (one.reshape(-1, units) for one in arrays[18:20])
    made = []
    for row in x:
        last[...], cell[...] = step(options, inputs, arrays, row, last, cell)
        made.append(last.copy())
    whole = numpy.stack(made)
    return [whole if options.get("time_major") else whole.transpose(1, 0, 2)]


def lstm_step(options, inputs, arrays, row, last, cell):
    def gate(at):
        parts = []
        for tensor, array, first in ((inputs[0], row, 1), (inputs[18], last, 5)):
            symmetric(inputs[first + at])
            sums = (array.astype(numpy.int64) - tensor.zero_point) @ arrays[first + at].astype(numpy.int64).T
            if first == 1 and arrays[12 + at] is not None:
                sums = sums + arrays[12 + at]
            factor = quantize_multiplier(float(tensor.scale * inputs[first + at].scale) / 2.0**-12)
            parts.append(saturated(multiply_by_quantized_multiplier(fits_int32(sums, "a sum of a gate"), *factor), numpy.int16))
        return saturated(parts[0] + parts[1], numpy.int16)

    def product(a, b, scale, zero_point=0, type_=numpy.int16):
        return saturated(multiply_by_quantized_multiplier(a * b, *quantize_multiplier(scale)) + zero_point, type_)
    scale = float(inputs[19].scale)
    kept = product(sigmoid_of_int16(gate(1)), cell.astype(numpy.int64), 2.0**-15 * scale / scale)
    cell = saturated(kept + product(sigmoid_of_int16(gate(0)), tanh_of_int16(gate(2), -12), 2.0**-30 / scale), numpy.int16)
    if options.get("cell_clip", 0) > 0:
        most = int(min(max(float(numpy.float32(options["cell_clip"])) / scale, -32768.0), 32767.0))
        cell = numpy.clip(cell, -most, most)
    result = product(tanh_of_int16(cell, round(math.log2(scale))), sigmoid_of_int16(gate(3)), 2.0**-30 / float(inputs[18].scale),
                     inputs[18].zero_point, numpy.int8)
    return result.astype(numpy.int8), cell.astype(numpy.int16)


def float_lstm_step(options, inputs, arrays, row, last, cell):
    gates = [row.astype(numpy.float64) @ arrays[1 + at].T + last @ arrays[5 + at].T + (0 if arrays[12 + at] is None else arrays[12 + at])
             for at in range(4)]
    sigmoid = lambda x: 1 / (1 + numpy.exp(-x))
    cell = sigmoid(gates[1]) * cell + sigmoid(gates[0]) * numpy.tanh(gates[2])
    if options.get("cell_clip", 0) > 0:
        cell = numpy.clip(cell, -options["cell_clip"], options["cell_clip"])
    return numpy.tanh(cell) * sigmoid(gates[3]), cell


# Floats: sums in float64, so that they can be compared with sums in any order.

def float_activated(values, options):
    low, high = {"NONE": (-numpy.inf, numpy.inf), "RELU": (0, numpy.inf), "RELU6": (0, 6),
                 "RELU_N1_TO_1": (-1, 1)}[options.get("fused_activation_function", "NONE")]
    return numpy.clip(values, low, high).astype(numpy.float32)


def of_floats(compute):
    """An operator of float64: it takes options and arrays."""
    def whole(options, inputs, outputs, arrays):
        wide = [one if one is None or one.dtype != numpy.float32 else one.astype(numpy.float64) for one in arrays]
        with numpy.errstate(divide="ignore", invalid="ignore"):  # shapes are found with zeros
            return [float_activated(compute(options, *wide), options)]
    return whole


def float_conv(options, image, weights, bias):
    taken, _ = windows(image, *weights.shape[1:3], options, 0.0)
    groups = image.shape[3] // weights.shape[3]
    taken = taken.reshape(*taken.shape[:5], groups, weights.shape[3])
    weights = weights.reshape(groups, -1, *weights.shape[1:])
    sums = numpy.einsum("nyxrcgi,gorci->nyxgo", taken, weights)
    return sums.reshape(*sums.shape[:3], -1) + (0 if bias is None else bias)


def float_depthwise(options, image, weights, bias):
    taken, _ = windows(image, *weights.shape[1:3], options, 0.0)
    sums = (numpy.repeat(taken, weights.shape[3] // image.shape[3], axis=5) * weights[0]).sum(axis=(3, 4))
    return sums + (0 if bias is None else bias)


def float_dense(options, x, weights, bias):
    sums = x.reshape(-1, weights.shape[1]) @ weights.T + (0 if bias is None else bias)
    return sums.reshape(*x.shape[:-1], -1) if options.get("keep_num_dims") else sums


def float_pool(average):
    def compute(options, image):
        taken, inside = windows(image, options["filter_height"], options["filter_width"], options, 0.0 if average else -numpy.inf)
        return taken.sum(axis=(3, 4)) / inside.sum(axis=(2, 3))[None, ..., None] if average else taken.max(axis=(3, 4))
    return of_floats(compute)


def float_softmax(options, x):
    powers = numpy.exp((x - x.max(axis=-1, keepdims=True)) * options["beta"])
    return powers / powers.sum(axis=-1, keepdims=True)


FLOAT_OPERATORS = {
    "ADD": of_floats(lambda options, x, y: x + y), "SUB": of_floats(lambda options, x, y: x - y),
    "MUL": of_floats(lambda options, x, y: x * y),
    "CONV_2D": of_floats(float_conv), "DEPTHWISE_CONV_2D": of_floats(float_depthwise), "FULLY_CONNECTED": of_floats(float_dense),
    "BATCH_MATMUL": of_floats(lambda options, *arrays: numpy.matmul(*turned(options, arrays))),
    "TRANSPOSE_CONV": of_floats(lambda options, shape, weights, image, bias=0.0:
                                scattered(image, weights, tuple(map(int, shape)), options) + bias),
    "AVERAGE_POOL_2D": float_pool(True), "MAX_POOL_2D": float_pool(False),
    "MEAN": of_floats(lambda options, x, axes: x.mean(axis=tuple({int(one) % x.ndim for one in numpy.ravel(axes)}),
                                                      keepdims=bool(options.get("keep_dims")))),
    "SOFTMAX": of_floats(float_softmax), "LOGISTIC": of_floats(lambda options, x: 1 / (1 + numpy.exp(-x))),
    "TANH": of_floats(lambda options, x: numpy.tanh(x)),
    "RELU": of_floats(lambda options, x: numpy.maximum(x, 0)), "RELU6": of_floats(lambda options, x: numpy.clip(x, 0, 6)),
    "HARD_SWISH": of_floats(lambda options, x: x * numpy.clip(x + 3, 0, 6) / 6),
    "LEAKY_RELU": of_floats(lambda options, x: numpy.where(x < 0, x * options["alpha"], x)),
    "PRELU": of_floats(lambda options, x, factors: numpy.where(x < 0, x * factors, x)),
    "RELU_N1_TO_1": of_floats(lambda options, x: numpy.clip(x, -1, 1)), "DIV": of_floats(lambda options, x, y: x / y),
    "POW": of_floats(lambda options, x, y: x**y), "SQUARED_DIFFERENCE": of_floats(lambda options, x, y: (x - y)**2),
    "FLOOR_DIV": of_floats(lambda options, x, y: numpy.floor((x / y).astype(numpy.float32))),
    "RSQRT": of_floats(lambda options, x: 1 / numpy.sqrt(x)), "ELU": of_floats(lambda options, x: numpy.where(x < 0, numpy.expm1(numpy.minimum(x, 0)), x)),
    **{name: of_floats(lambda options, x, function=function: function(x)) for name, function in (
        ("ABS", numpy.abs), ("NEG", numpy.negative), ("SQRT", numpy.sqrt), ("EXP", numpy.exp), ("LOG", numpy.log), ("SIN", numpy.sin),
        ("COS", numpy.cos), ("FLOOR", numpy.floor), ("CEIL", numpy.ceil), ("ROUND", numpy.rint), ("SQUARE", numpy.square))},
}
OF_FLOATS_ALONE = ("DIV", "POW", "FLOOR_DIV", "RSQRT", "ELU", "NEG", "SQRT", "SIN", "COS", "FLOOR", "CEIL", "ROUND", "SQUARE")

OPERATORS = {
    "ADD": sum_or_difference(1), "SUB": sum_or_difference(-1), "MUL": mul, "CONV_2D": conv_2d, "DEPTHWISE_CONV_2D": depthwise_conv_2d,
    "FULLY_CONNECTED": fully_connected, "AVERAGE_POOL_2D": average_pool_2d, "MAX_POOL_2D": max_pool_2d, "MEAN": mean, "SOFTMAX": softmax,
    "LOGISTIC": table_of(logistic_of, 1 / 256, -128), "TANH": table_of(tanh_of, 1 / 128, 0), "RELU": relu("RELU"), "RELU6": relu("RELU6"),
    "QUANTIZE": quantize, "RESHAPE": reshape, "PAD": pad, "CONCATENATION": concatenation, "TRANSPOSE": transpose, "SLICE": slice_,
    "STRIDED_SLICE": strided_slice, "SPLIT": split, "TRANSPOSE_CONV": transpose_conv, "LEAKY_RELU": leaky_relu, "PRELU": prelu,
    "DEQUANTIZE": dequantize, "RESIZE_NEAREST_NEIGHBOR": resize_nearest_neighbor, "RESIZE_BILINEAR": resize_bilinear, "PADV2": padv2,
    "EXPAND_DIMS": expand_dims, "SQUEEZE": squeeze, "GATHER": gather, "PACK": pack, "UNPACK": unpack, "SVDF": svdf,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm, "MAXIMUM": extreme(numpy.maximum), "MINIMUM": extreme(numpy.minimum), "ARG_MAX": arg_max,
    "REDUCE_MAX": reduced(numpy.max), "REDUCE_MIN": reduced(numpy.min), "HARD_SWISH": hard_swish, "SPACE_TO_DEPTH": space_to_depth,
    "DEPTH_TO_SPACE": depth_to_space, "BATCH_MATMUL": batch_matmul, "RELU_N1_TO_1": relu("RELU_N1_TO_1"), "ABS": magnitude,
    "EXP": own_table_of(power_of_e), "LOG": own_table_of(lambda x, lowest: math.log(x) if x > 0 else lowest),
    "SQUARED_DIFFERENCE": squared_difference, "EQUAL": compared(numpy.equal), "NOT_EQUAL": compared(numpy.not_equal),
    "LESS": compared(numpy.less), "LESS_EQUAL": compared(numpy.less_equal), "GREATER": compared(numpy.greater),
    "GREATER_EQUAL": compared(numpy.greater_equal), "SELECT": select, "SELECT_V2": select_v2, "LOGICAL_AND": truths(numpy.logical_and),
    "LOGICAL_OR": truths(numpy.logical_or), "LOGICAL_NOT": truths(numpy.logical_not), **{name: not_of_integers for name in OF_FLOATS_ALONE},
}
WITH_BIAS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")  # the last input may be left out
# These have the same scale and zero point on both sides.
MOVES = {"RESHAPE", "PAD", "PADV2", "TRANSPOSE", "SLICE", "STRIDED_SLICE", "EXPAND_DIMS", "SQUEEZE", "GATHER", "UNPACK",
         "RESIZE_NEAREST_NEIGHBOR", "RESIZE_BILINEAR", "DEPTH_TO_SPACE", "SPACE_TO_DEPTH", "REDUCE_MAX", "REDUCE_MIN"}


def operator_for(node, outputs):
    """What computes a node: another function where the result is of floats and the operator does not only move elements."""
    floats = all(one.type == "float32" for one in outputs)
    return FLOAT_OPERATORS.get(node.operation, OPERATORS[node.operation]) if floats else OPERATORS[node.operation]


def of_one_scale(operation, tensors):
    """Floats and other elements without a scale have nothing to compare."""
    if any(one.scales for one in tensors):
        same_quantisation(operation, tensors)


def run_all(model, inputs):
    """Runs a model and gives the array of every tensor; inputs are arrays in the order of model.inputs."""
    values = [one.elements for one in model.tensors]
    for position, array in zip(model.inputs, inputs, strict=True):
        tensor = model.tensors[position]
        if array.dtype != tensor.type or array.shape != tuple(tensor.shape):
            raise ValueError(f"input `{tensor.name}`: {array.dtype}{list(array.shape)} instead of {tensor.type}{list(tensor.shape)}")
        values[position] = array
    for position, tensor in enumerate(model.tensors):
        if tensor.variable:
            values[position] = model.kept.setdefault(position, numpy.full(tensor.shape, tensor.zero_point, tensor.type))
    for at, node in enumerate(model.nodes):
        if node.operation not in OPERATORS:
            raise ValueError(f"node {at}: {node.operation} is not in this reference")
        tensors = [None if one < 0 else model.tensors[one] for one in node.inputs]
        arrays = [None if one < 0 else values[one] for one in node.inputs]
        if node.operation in WITH_BIAS and len(arrays) == 2:
            tensors, arrays = [*tensors, None], [*arrays, None]
        outputs = [model.tensors[one] for one in node.outputs]
        if node.operation in MOVES:
            of_one_scale(node.operation, [tensors[0], *outputs])
        results = operator_for(node, outputs)(node.options, tensors, outputs, arrays)
        for position, tensor, array in zip(node.outputs, outputs, results, strict=True):
            if array.shape != tuple(tensor.shape):
                raise ValueError(f"node {at} ({node.operation}): {list(array.shape)} instead of {list(tensor.shape)} of `{tensor.name}`")
            values[position] = array
    return values


def run(model, inputs):
    """Runs a model and gives the arrays of its outputs."""
    values = run_all(model, inputs)
    return [values[one] for one in model.outputs]


# Files

BUILTIN = {0: "ADD", 1: "AVERAGE_POOL_2D", 2: "CONCATENATION", 3: "CONV_2D", 4: "DEPTHWISE_CONV_2D", 5: "DEPTH_TO_SPACE", 6:
           "DEQUANTIZE", 8: "FLOOR", 9: "FULLY_CONNECTED", 14: "LOGISTIC", 17: "MAX_POOL_2D", 18: "MUL", 19: "RELU", 20:
           "RELU_N1_TO_1", 21: "RELU6", 22: "RESHAPE", 23: "RESIZE_BILINEAR", 25: "SOFTMAX", 26: "SPACE_TO_DEPTH", 27: "SVDF", 28:
           "TANH", 34: "PAD", 36: "GATHER", 39: "TRANSPOSE", 40: "MEAN", 41: "SUB", 42: "DIV", 43: "SQUEEZE", 44:
           "UNIDIRECTIONAL_SEQUENCE_LSTM", 45: "STRIDED_SLICE", 47: "EXP", 49: "SPLIT", 54: "PRELU", 55: "MAXIMUM", 56: "ARG_MAX",
           57: "MINIMUM", 58: "LESS", 59: "NEG", 60: "PADV2", 61: "GREATER", 62: "GREATER_EQUAL", 63: "LESS_EQUAL", 64: "SELECT",
           65: "SLICE", 66: "SIN", 67: "TRANSPOSE_CONV", 70: "EXPAND_DIMS", 71: "EQUAL", 72: "NOT_EQUAL", 73: "LOG", 75: "SQRT",
           76: "RSQRT", 78: "POW", 82: "REDUCE_MAX", 83: "PACK", 84: "LOGICAL_OR", 86: "LOGICAL_AND", 87: "LOGICAL_NOT", 88:
           "UNPACK", 89: "REDUCE_MIN", 90: "FLOOR_DIV", 92: "SQUARE", 97: "RESIZE_NEAREST_NEIGHBOR", 98: "LEAKY_RELU", 99:
           "SQUARED_DIFFERENCE", 101: "ABS", 104: "CEIL", 108: "COS", 111: "ELU", 114: "QUANTIZE", 116: "ROUND", 117: "HARD_SWISH",
           123: "SELECT_V2", 126: "BATCH_MATMUL"}
PADDING, ACTIVATION = ("SAME", "VALID"), ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT")
# Options by number of the field: name, type of FlatBuffers, value where nothing is written.
POOL = [("padding", "Int8", 0), ("stride_w", "Int32", 0), ("stride_h", "Int32", 0), ("filter_width", "Int32", 0),
        ("filter_height", "Int32", 0), ("fused_activation_function", "Int8", 0)]
OPTIONS = {
    "ADD": [("fused_activation_function", "Int8", 0)],
    "AVERAGE_POOL_2D": POOL,
    "ARG_MAX": [("output_type", "Int8", 0)],
    "BATCH_MATMUL": [("adj_x", "Bool", False), ("adj_y", "Bool", False)],
    "CONCATENATION": [("axis", "Int32", 0), ("fused_activation_function", "Int8", 0)],
    "CONV_2D": [("padding", "Int8", 0), ("stride_w", "Int32", 0), ("stride_h", "Int32", 0), ("fused_activation_function", "Int8", 0),
                ("dilation_w_factor", "Int32", 1), ("dilation_h_factor", "Int32", 1)],
    "DEPTHWISE_CONV_2D": [("padding", "Int8", 0), ("stride_w", "Int32", 0), ("stride_h", "Int32", 0), ("depth_multiplier", "Int32", 0),
                          ("fused_activation_function", "Int8", 0), ("dilation_w_factor", "Int32", 1), ("dilation_h_factor", "Int32", 1)],
    "DEPTH_TO_SPACE": [("block_size", "Int32", 0)],
    "DIV": [("fused_activation_function", "Int8", 0)],
    "FULLY_CONNECTED": [("fused_activation_function", "Int8", 0), ("weights_format", "Int8", 0), ("keep_num_dims", "Bool", False)],
    "GATHER": [("axis", "Int32", 0), ("batch_dims", "Int32", 0)],
    "LEAKY_RELU": [("alpha", "Float32", 0.0)],
    "MAX_POOL_2D": POOL,
    "MEAN": [("keep_dims", "Bool", False)],
    "MUL": [("fused_activation_function", "Int8", 0)],
    "PACK": [("values_count", "Int32", 0), ("axis", "Int32", 0)],
    "REDUCE_MAX": [("keep_dims", "Bool", False)],
    "REDUCE_MIN": [("keep_dims", "Bool", False)],
    "SPACE_TO_DEPTH": [("block_size", "Int32", 0)],
    "RESHAPE": [("new_shape", "Int32s", ())],
    "RESIZE_NEAREST_NEIGHBOR": [("align_corners", "Bool", False), ("half_pixel_centers", "Bool", False)],
    "SOFTMAX": [("beta", "Float32", 0.0)],
    "SPLIT": [("num_splits", "Int32", 0)],
    "SQUEEZE": [("squeeze_dims", "Int32s", ())],
    "STRIDED_SLICE": [("begin_mask", "Int32", 0), ("end_mask", "Int32", 0), ("ellipsis_mask", "Int32", 0), ("new_axis_mask", "Int32", 0),
                      ("shrink_axis_mask", "Int32", 0), ("offset", "Bool", False)],
    "SUB": [("fused_activation_function", "Int8", 0)],
    "SVDF": [("rank", "Int32", 0), ("fused_activation_function", "Int8", 0)],
    "TRANSPOSE_CONV": [("padding", "Int8", 0), ("stride_w", "Int32", 0), ("stride_h", "Int32", 0),
                       ("fused_activation_function", "Int8", 0)],
    "UNIDIRECTIONAL_SEQUENCE_LSTM": [("fused_activation_function", "Int8", 0), ("cell_clip", "Float32", 0.0), ("proj_clip", "Float32", 0.0),
                                     ("time_major", "Bool", False)],
    "UNPACK": [("num", "Int32", 0), ("axis", "Int32", 0)],
}
# Fields that are not the first of their table.
LATER = {"RESIZE_BILINEAR": [(2, ("align_corners", "Bool", False)), (3, ("half_pixel_centers", "Bool", False))]}
ELEMENTS = {0: "float32", 2: "int32", 3: "uint8", 4: "int64", 6: "bool", 7: "int16", 9: "int8"}


class Fields:
    """A table of a file: fields by number."""

    def __init__(self, data, position):
        from flatbuffers import number_types, table
        self.table, self.types = table.Table(data, position), number_types

    def scalar(self, number, type_, absent=0):
        offset = self.table.Offset(4 + 2 * number)
        return self.table.Get(getattr(self.types, f"{type_}Flags"), self.table.Pos + offset) if offset else absent

    def list(self, number, type_):
        """A NumPy array, or None where nothing is written."""
        offset = self.table.Offset(4 + 2 * number)
        return self.table.GetVectorAsNumpy(getattr(self.types, f"{type_}Flags"), offset) if offset else None

    def text(self, number):
        offset = self.table.Offset(4 + 2 * number)
        return self.table.String(self.table.Pos + offset).decode() if offset else ""

    def inner(self, number):
        offset = self.table.Offset(4 + 2 * number)
        return Fields(self.table.Bytes, self.table.Indirect(self.table.Pos + offset)) if offset else None

    def inners(self, number):
        offset = self.table.Offset(4 + 2 * number)
        if not offset:
            return []
        first = self.table.Vector(offset)
        return [Fields(self.table.Bytes, self.table.Indirect(first + 4 * one)) for one in range(self.table.VectorLen(offset))]


def fields_of(operation):
    """(number, (name, type, value where nothing is written)) of each option."""
    return LATER.get(operation) or enumerate(OPTIONS.get(operation, []))


def read_options(operation, fields):
    found = {}
    for number, (name, type_, absent) in fields_of(operation):
        if type_ == "Int32s":
            value = None if fields is None else fields.list(number, "Int32")
            found[name] = list(absent) if value is None else [int(one) for one in value]
        else:
            found[name] = absent if fields is None else fields.scalar(number, type_, absent)
    if "padding" in found:
        found["padding"] = PADDING[found["padding"]]
    if "fused_activation_function" in found:
        found["fused_activation_function"] = ACTIVATION[found["fused_activation_function"]]
    return found


def read_tensor(fields, buffers):
    shape, type_ = fields.list(0, "Int32"), fields.scalar(1, "Int8")
    tensor = Tensor(fields.text(3), tuple(int(one) for one in shape) if shape is not None else (), ELEMENTS.get(type_, f"type {type_}"))
    quantised = fields.inner(4)
    if quantised is not None:
        scales, zero_points = quantised.list(2, "Float32"), quantised.list(3, "Int64")
        tensor.scales = () if scales is None else tuple(map(float, scales))
        tensor.zero_points = () if zero_points is None else tuple(map(int, zero_points))
        tensor.axis = quantised.scalar(6, "Int32")
    tensor.variable = bool(fields.scalar(5, "Bool"))
    data = buffers[fields.scalar(2, "Uint32")].list(0, "Uint8")
    if data is not None and len(data):
        tensor.elements = numpy.frombuffer(data.tobytes(), numpy.dtype(tensor.type)).reshape(tensor.shape)
    return tensor


def read(data):
    """The first graph of a .tflite file, from its bytes. A file that is no model fails somewhere."""
    from flatbuffers import encode, packer
    if data[4:8] != b"TFL3":
        raise ValueError("not a model of TensorFlow Lite")
    root = Fields(bytearray(data), encode.Get(packer.uoffset, data, 0))
    codes, graph, buffers = root.inners(1), root.inners(2)[0], root.inners(4)
    numbers = [max(one.scalar(0, "Int8"), one.scalar(3, "Int32")) for one in codes]
    nodes = []
    for one in graph.inners(3):
        number = numbers[one.scalar(0, "Uint32")]
        operation = BUILTIN.get(number, f"operator {number}")
        nodes.append(Node(operation, one.list(1, "Int32").tolist(), one.list(2, "Int32").tolist(), read_options(operation, one.inner(4))))
    return Model([read_tensor(one, buffers) for one in graph.inners(0)], nodes, graph.list(1, "Int32").tolist(), graph.list(2, "Int32").tolist())


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    model = read(pathlib.Path(sys.argv[1]).read_bytes())
    given, inputs = sys.stdin.buffer.read(), []
    for position in model.inputs:
        tensor = model.tensors[position]
        size = math.prod(tensor.shape) * numpy.dtype(tensor.type).itemsize
        inputs.append(numpy.frombuffer(given[:size], tensor.type).reshape(tensor.shape))
        given = given[size:]
    for file, array in zip(sys.argv[2:], run(model, inputs), strict=True):
        pathlib.Path(file).write_bytes(numpy.ascontiguousarray(array).tobytes())
    return 0


if __name__ == "__main__":
    sys.exit(main())
