#!/usr/bin/env python3
"""Checks the reference of TensorFlow Lite's int8 against values worked out by hand: one claim each, with the arithmetic beside it."""
import math
import sys

import numpy

import tflite_reference as r

wrong, checked = [], 0


def same(claim, found, wanted):
    global checked
    checked += 1
    found, wanted = numpy.asarray(found), numpy.asarray(wanted)
    if found.shape != wanted.shape or not numpy.array_equal(found, wanted):
        wrong.append(f"{claim}: {found.tolist()} instead of {wanted.tolist()}")


def fails(claim, words, call):
    global checked
    checked += 1
    try:
        call()
        wrong.append(f"{claim}: nothing failed")
    except (ValueError, OverflowError) as error:
        if words not in str(error):
            wrong.append(f"{claim}: {error!r} without {words!r}")


def int8(values):
    return numpy.array(values, numpy.int8)


def tensor(shape, scale=1.0, zero_point=0, elements=None, scales=None, type_="int8"):
    scales = (scale,) if scales is None else scales
    elements = None if elements is None else numpy.array(elements, type_).reshape(shape)
    return r.Tensor("t", tuple(shape), type_, tuple(scales), (zero_point,) * len(scales), 0, elements)


def one(operation, options, given, constants, output):
    """Runs one node: `given` is (tensor, elements) of its first inputs, the constants follow."""
    tensors = [each for each, _ in given] + constants + [output]
    model = r.Model(tensors, [r.Node(operation, list(range(len(tensors) - 1)), [len(tensors) - 1], options)],
                    list(range(len(given))), [len(tensors) - 1])
    return r.run(model, [int8(elements).reshape(each.shape) for each, elements in given])[0]


def numbers():
    # 0.3 = 0.6 * 2^-1, and 0.6 * 2^31 = 1288490188.8.
    same("a multiplier is a fraction in [1/2, 1) and a shift", r.quantize_multiplier(0.3), (1288490189, -1))
    same("a fraction that rounds to 1 is a half, one shift further", r.quantize_multiplier(1 - 2.0**-40), (2**30, 1))
    same("the smallest multiplier", r.quantize_multiplier(2.0**-32), (2**30, -31))
    same("below it there is 0", r.quantize_multiplier(2.0**-33), (0, 0))
    # By 2^30 is by a half: 1.5, -1.5, 2.5 and -2.5 before rounding.
    same("the high product rounds halves up", r.doubling_high_mul([3, -3, 5, -5], 2**30), [2, -1, 3, -2])
    same("the high product saturates", r.doubling_high_mul(-2**31, -2**31), 2**31 - 1)
    same("the shift rounds halves away from zero", r.rounding_divide_by_pot([3, -3, 5, -5, 1, -1], 1), [2, -2, 3, -3, 1, -1])
    same("the shift rounds others to the nearest", r.rounding_divide_by_pot([5, 6, 7, -5, -6, -7], 2), [1, 2, 2, -1, -2, -2])
    same("a shift by 0 does nothing", r.rounding_divide_by_pot([7, -7], 0), [7, -7])
    # 1 / 4 of 1: 1 by 2^30 is 0.5, rounded to 1; half of it is 0.5, rounded to 1. One rounding would give 0.
    same("a product is rounded twice", r.multiply_by_quantized_multiplier(1, 2**30, -1), 1)
    same("a shift to the left comes first", r.multiply_by_quantized_multiplier(3, 2**30, 3), 12)
    fails("a shift that leaves int32 is an error", "int32", lambda: r.multiply_by_quantized_multiplier(2**30, 2**30, 1))
    same("RELU6 at scale 1/16 and zero point -20", r.activation_bounds("RELU6", 1 / 16, -20), (-20, 76))
    same("RELU6 ends at 127 at the latest", r.activation_bounds("RELU6", 1 / 32, -20), (-20, 127))
    same("RELU from -1 to 1", r.activation_bounds("RELU_N1_TO_1", 1 / 16, 3), (-13, 19))
    same("SAME at stride 2 of 5 by 3", r.window_place(5, 3, 2, 1, "SAME"), (3, 1))
    same("SAME at stride 2 of 4 by 3 has its row behind", r.window_place(4, 3, 2, 1, "SAME"), (2, 0))
    same("VALID with dilation 2", r.window_place(7, 3, 2, 2, "VALID"), (2, 0))


def products():
    image = tensor((1, 2, 2, 1), 0.5, 1)
    given = [(image, [3, 5, 7, 9])]  # 2 4 6 8 without the zero point
    conv = {"padding": "SAME", "stride_w": 1, "stride_h": 1}
    weights = tensor((2, 2, 2, 1), scales=(0.5, 0.25), elements=[1, 1, 1, 1, 1, 2, 3, -4])
    bias = tensor((2,), elements=[10, -1], type_="int32")
    # Channel 0, factor 1/4: 2+4+6+8+10, 4+8+10, 6+8+10, 8+10 = 30 22 24 18: 7.5 5.5 6 4.5. By 2^29 at shift 0 would be one rounding; the
    # multiplier is 2^30 at shift -1: 15 11 12 9 and then 8 6 6 5.
    # Channel 1, factor 1/8: 2+8+18-32-1, 4+24-1, 6+16-1, 8-1 = -5 27 21 7. By 2^30: -2.5 13.5 10.5 3.5, up: -2 14 11 4; by 1/4: -0.5 3.5
    # 2.75 1, away from zero: -1 4 3 1. The zero point of the output is -3.
    wanted = [[[[5, -4], [3, 1]], [[3, 0], [2, -2]]]]
    same("CONV_2D with a scale for each channel, outside is the zero point",
         one("CONV_2D", conv, given, [weights, bias], tensor((1, 2, 2, 2), 1.0, -3)), wanted)
    same("CONV_2D with RELU ends at the zero point",
         one("CONV_2D", {**conv, "fused_activation_function": "RELU"}, given, [weights, bias], tensor((1, 2, 2, 2), 1.0, -3)),
         numpy.maximum(wanted, -3))
    # Two groups: the first channel times 2, the second times 3. Scales 1 and 1 over 1.
    same("CONV_2D in groups", one("CONV_2D", conv, [(tensor((1, 1, 1, 2)), [5, -7])], [tensor((2, 1, 1, 1), elements=[2, 3])], tensor((1, 1, 1, 2))),
         [[[[10, -21]]]])
    # Dilation 2 of a filter of 1 by 2: the pixel and the one two further.
    same("CONV_2D with dilation", one("CONV_2D", {"padding": "VALID", "stride_w": 1, "stride_h": 1, "dilation_w_factor": 2},
                                      [(tensor((1, 1, 4, 1)), [1, 2, 3, 4])], [tensor((1, 1, 2, 1), elements=[1, 10])], tensor((1, 1, 2, 1))),
         [[[[31], [42]]]])
    # Sums at stride 2 from 3 by 3 in a filter of 2 by 2, padding one row behind: [1 2; 4 5], [3; 6], [7 8], [9].
    same("CONV_2D at stride 2", one("CONV_2D", {"padding": "SAME", "stride_w": 2, "stride_h": 2}, [(tensor((1, 3, 3, 1)), range(1, 10))],
                                    [tensor((1, 2, 2, 1), elements=[1, 1, 1, 1])], tensor((1, 2, 2, 1))), [[[[12], [9]], [[15], [9]]]])
    # Channels 5 and -7, two outputs each, weights 1 2 3 4.
    same("DEPTHWISE_CONV_2D with two outputs for each channel",
         one("DEPTHWISE_CONV_2D", {**conv, "depth_multiplier": 2}, [(tensor((1, 1, 1, 2)), [5, -7])],
             [tensor((1, 1, 1, 4), elements=[1, 2, 3, 4]), tensor((4,), elements=[0, 0, 0, 1], type_="int32")], tensor((1, 1, 1, 4))),
         [[[[5, 10, -21, -27]]]])
    # x - zero point: 1 2 3. 1*1+2*2+3*3+2 = 16, and -1-2-3 = -6; by 1/4: 4, and -6 by 2^30 = -3, halved = -1.5: -2.
    same("FULLY_CONNECTED", one("FULLY_CONNECTED", {}, [(tensor((1, 3), 0.5, -1), [0, 1, 2])],
                                [tensor((2, 3), 0.5, elements=[1, 2, 3, -1, -1, -1]), tensor((2,), elements=[2, 0], type_="int32")],
                                tensor((1, 2), 1.0, 10)), [[14, 8]])
    # Less their zero points: [1 2; 3 4] by [1 0 2; 0 1 1] is [1 2 4; 3 4 10]; by 0.5 * 0.5 / 0.125 = 2, and the zero point of the result.
    left, right = (tensor((2, 2), 0.5, 1), [2, 3, 4, 5]), (tensor((2, 3), 0.5, -1), [0, -1, 1, -1, 0, 0])
    product = tensor((2, 3), 0.125, -3)
    same("BATCH_MATMUL", one("BATCH_MATMUL", {}, [left, right], [], product), [[-1, 1, 5], [3, 5, 17]])
    turned = [(tensor((2, 2), 0.5, 1), [2, 4, 3, 5]), (tensor((3, 2), 0.5, -1), [0, -1, -1, 0, 1, 0])]
    same("BATCH_MATMUL of turned matrices", one("BATCH_MATMUL", {"adj_x": True, "adj_y": True}, turned, [], product), [[-1, 1, 5], [3, 5, 17]])
    same("BATCH_MATMUL takes one matrix for all", one("BATCH_MATMUL", {}, [(tensor((2, 1, 1)), [2, 3]), (tensor((1, 2)), [5, 7])], [], tensor((2, 1, 2))),
         [[[10, 14]], [[15, 21]]])
    same("FULLY_CONNECTED saturates", one("FULLY_CONNECTED", {}, [(tensor((1, 1)), [100])], [tensor((2, 1), elements=[2, -2])], tensor((1, 2))),
         [[127, -128]])
    fails("weights have zero point 0", "zero point 0",
          lambda: one("FULLY_CONNECTED", {}, [(tensor((1, 1)), [1])], [tensor((1, 1), 1.0, 3, elements=[2])], tensor((1, 1))))


    # Pixels 1 and 2 of zero point 3 are -2 and -1. At stride 2 by 3 4 5: -6 -8 -10-3 -4 -5 = -6 -8 -13 -4 -5, and the bias of 1.
    # SAME of 4 has 1 row of padding, which is behind: -6 -8 -13 -4. SAME of 3: 2 rows of 1 pixel more than fit, one in front: -8 -13 -4.
    row = lambda padding, extent, bias=(): one(
        "TRANSPOSE_CONV", {"padding": padding, "stride_w": 2, "stride_h": 1}, [],
        [tensor((4,), elements=[1, 1, extent, 1], type_="int32"), tensor((1, 1, 3, 1), elements=[3, 4, 5]),
             tensor((1, 1, 2, 1), 1.0, 3, elements=[1, 2]), *bias], tensor((1, 1, extent, 1)))[0, 0, :, 0]
    same("TRANSPOSE_CONV scatters each pixel", row("VALID", 5), [-6, -8, -13, -4, -5])
    same("TRANSPOSE_CONV adds the bias", row("VALID", 5, bias=[tensor((1,), elements=[1], type_="int32")]), [-5, -7, -12, -3, -4])
    same("TRANSPOSE_CONV with SAME leaves out the row behind", row("SAME", 4), [-6, -8, -13, -4])
    same("TRANSPOSE_CONV with SAME of an odd extent leaves out one on each side", row("SAME", 3), [-8, -13, -4])


def pairs():
    x, y = tensor((4,), 0.5, 1), tensor((4,), 0.25, -2)
    given = [(x, [3, 5, -7, 127]), (y, [2, -2, 10, 127])]
    # Reals: 1 2 -4 63 and 1 0 3 32.25. At scale 0.5: sums 4 4 -2 190.5, differences 0 4 -14 61.5: exact until the last step, halves up at
    # the high product. The zero point is -1.
    same("ADD", one("ADD", {}, given, [], tensor((4,), 0.5, -1)), [3, 3, -3, 127])
    same("SUB", one("SUB", {}, given, [], tensor((4,), 0.5, -1)), [-1, 3, -15, 61])
    same("ADD with RELU6 ends at 6", one("ADD", {"fused_activation_function": "RELU6"}, given, [], tensor((4,), 0.5, -1)), [3, 3, -1, 11])
    # Reals by reals: 1 0 -12 2031.75, at scale 1/2: 2 0 -24.
    same("MUL", one("MUL", {}, given, [], tensor((4,), 0.5, -1)), [1, -1, -25, 127])
    # 127 by 0.001 is 12.7 steps of 0.01, beside an operand whose steps are 1.
    same("ADD keeps small steps", one("ADD", {}, [(tensor((1,)), [0]), (tensor((1,), 0.001), [127])], [], tensor((1,), 0.01)), [13])
    same("operands of one element are spread", one("ADD", {}, [(tensor((3,)), [1, 2, 3]), (tensor((1,)), [10])], [], tensor((3,))), [11, 12, 13])


def pools():
    pool = {"padding": "SAME", "stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2}
    given = [(tensor((1, 3, 3, 1), 0.5, 7), [1, 2, 3, 4, 3, 6, -7, -8, -9])]
    # 10 / 4 = 2.5, 9 / 2 = 4.5, -15 / 2 = -7.5, -9: halves away from zero.
    same("AVERAGE_POOL_2D counts what is inside", one("AVERAGE_POOL_2D", pool, given, [], tensor((1, 2, 2, 1), 0.5, 7)), [[[[3], [5]], [[-8], [-9]]]])
    same("MAX_POOL_2D", one("MAX_POOL_2D", pool, given, [], tensor((1, 2, 2, 1), 0.5, 7)), [[[[4], [6]], [[-7], [-9]]]])
    same("MAX_POOL_2D with RELU", one("MAX_POOL_2D", {**pool, "fused_activation_function": "RELU"}, given, [], tensor((1, 2, 2, 1), 0.5, 7)),
         [[[[7], [7]], [[7], [7]]]])
    fails("pools do not rescale", "rescales nothing", lambda: one("MAX_POOL_2D", pool, given, [], tensor((1, 2, 2, 1), 0.25, 7)))
    # Rows 1 2 3 and -4 -5 -7 at zero point 1: sums 3 and -19 over 3 elements, by 2: 2 and -12.67. Zero point 4.
    axes = tensor((1,), elements=[-1], type_="int32")
    same("MEAN", one("MEAN", {}, [(tensor((2, 3), 1.0, 1), [1, 2, 3, -4, -5, -7])], [axes], tensor((2,), 0.5, 4)), [6, -9])
    # 63.5, half away from zero; a multiplier that loses the bits of 40000 gives less than the half.
    same("MEAN of many", one("MEAN", {}, [(tensor((40000,)), [127] * 40000)], [tensor((1,), elements=[0], type_="int32")], tensor((), 2.0)), 64)
    same("MEAN keeps dimensions", one("MEAN", {"keep_dims": True}, [(tensor((2, 3), 1.0, 1), [1, 2, 3, -4, -5, -7])], [axes], tensor((2, 1), 0.5, 4)),
         [[6], [-9]])


def curves():
    # exp(0) : exp(-ln 2)... by real numbers: equal values share 256 steps.
    same("SOFTMAX of equal values", one("SOFTMAX", {"beta": 1.0}, [(tensor((2, 4)), [5] * 4 + [-9] * 4)], [], tensor((2, 4), 1 / 256, -128)),
         [[-64] * 4] * 2)
    same("SOFTMAX of one far above is 255/256 and 0",
         one("SOFTMAX", {"beta": 1.0}, [(tensor((3,)), [100, -100, 50])], [], tensor((3,), 1 / 256, -128)), [127, -128, -128])
    # exp(0, -1, -2, -3) / 1.553 = .6439 .2369 .0871 .0321 by 256: 164.8 60.6 22.3 8.2.
    same("SOFTMAX of 4 steps of 1", one("SOFTMAX", {"beta": 0.5}, [(tensor((4,), 2.0), [3, 2, 1, 0])], [], tensor((4,), 1 / 256, -128)),
         [165 - 128, 61 - 128, 22 - 128, 8 - 128])
    x = -numpy.arange(0, 16 * 2**26, 999_983)
    global checked
    checked += 2
    if numpy.abs(r.exp_of_negative(x) / 2**31 - numpy.exp(x / 2**26)).max() > 1e-6:
        wrong.append("an exponential in fixed point is further than 1e-6 from the real one")
    x = numpy.arange(0, 2**31, 9_999_991)
    if numpy.abs(r.one_over_one_plus(x) / 2**31 - 1 / (1 + x / 2**31)).max() > 1e-8:
        wrong.append("a reciprocal in fixed point is further than 1e-8 from the real one")
    # 1 / (1 + exp(-x)) for 0, 1, -1, 8: 0.5, 0.73106, 0.26894, 0.99966 by 256: 128, 187.15, 68.85, 255.9.
    same("LOGISTIC", one("LOGISTIC", {}, [(tensor((4,), 1.0, 3), [3, 4, 2, 11])], [], tensor((4,), 1 / 256, -128)), [0, 59, -59, 127])
    # tanh of 0, 0.5, -0.5, 4: 0, 0.46212, -0.46212, 0.99933 by 128: 59.15, 127.9.
    same("TANH", one("TANH", {}, [(tensor((4,), 0.5), [0, 1, -1, 8])], [], tensor((4,), 1 / 128)), [0, 59, -59, 127])
    # Reals -2 0 3 20 at scale 1/4 and zero point -100: 0, 0, 12, 80 steps; 6 is 24 steps.
    rectified = lambda operation: one(operation, {}, [(tensor((4,)), [-2, 0, 3, 20])], [], tensor((4,), 0.25, -100))
    same("RELU rescales", rectified("RELU"), [-100, -100, -88, -20])
    same("RELU6 ends at 6", rectified("RELU6"), [-100, -100, -88, -76])
    # -1 by a half is -0.5: at a multiplier of 2^30, shift 0, halves go up: 0; 3 gives 2.
    same("QUANTIZE", one("QUANTIZE", {}, [(tensor((2,), 0.5, 1), [0, 4])], [], tensor((2,), 1.0, 5)), [5, 7])


    # Reals -2 0 3 at scale 1/2 and zero point 4: -4 0 6 steps; of -2, a quarter: -1 step.
    same("LEAKY_RELU", one("LEAKY_RELU", {"alpha": 0.25}, [(tensor((3,), 1.0), [-2, 0, 3])], [], tensor((3,), 0.5, 4)), [3, 4, 10])
    # Factors 3 and -1 at scale 1/2: -2 by 3/2 is -3, 6 steps; -2 by -1/2 is 1, 2 steps. 3 has no factor.
    same("PRELU", one("PRELU", {}, [(tensor((3,), 1.0), [-2, -2, 3])], [tensor((3,), 0.5, 1, elements=[4, 0, 9])], tensor((3,), 0.5, 4)),
         [-2, 6, 10])
    # 0.75 and -0.75 of steps of 1/2 are 1.5 and -1.5: halves away from zero. 100 saturates.
    floats = r.Model([r.Tensor("x", (3,), "float32"), tensor((3,), 0.5, 3)], [r.Node("QUANTIZE", [0], [1])], [0], [1])
    same("QUANTIZE of floats", r.run(floats, [numpy.float32([0.75, -0.75, 100])])[0], [5, 1, 127])
    reals = r.Model([tensor((2,), 0.5, 3), r.Tensor("y", (2,), "float32")], [r.Node("DEQUANTIZE", [0], [1])], [0], [1])
    same("DEQUANTIZE", r.run(reals, [int8([3, -1])])[0], [0.0, -2.0])


def images():
    extents = lambda *of: tensor((2,), elements=of, type_="int32")
    sized = lambda operation, values, to, **options: one(
        operation, options, [(tensor((1, 1, len(values), 1)), values)], [extents(1, to)], tensor((1, 1, to, 1)))[0, 0, :, 0]
    nearest, bilinear = (lambda *given, name=name, **options: sized(name, *given, **options)
                         for name in ("RESIZE_NEAREST_NEIGHBOR", "RESIZE_BILINEAR"))
    # 3 to 5, steps of 0.6: 0 0.6 1.2 1.8 2.4; from centers 0.3 0.9 1.5 2.1 2.7. Corners, steps of 0.5: 0 0.5 1 1.5 2, halves up.
    same("nearest", nearest([1, 2, 3], 5), [1, 1, 2, 2, 3])
    same("nearest by centers", nearest([1, 2, 3], 5, half_pixel_centers=True), [1, 1, 2, 3, 3])
    same("nearest by corners", nearest([1, 2, 3], 5, align_corners=True), [1, 2, 2, 3, 3])
    # 2 to 4, steps of 0.5: 0 0.5 1 1, of 10 and 21: 10 15.5 21 21, half away from zero. By centers -0.25 0.25 0.75 1.25: 10 12.75 18.25 21.
    same("bilinear", bilinear([10, 21], 4), [10, 16, 21, 21])
    same("bilinear below zero", bilinear([-10, -21], 4), [-10, -16, -21, -21])
    same("bilinear by centers", bilinear([10, 21], 4, half_pixel_centers=True), [10, 13, 18, 21])
    # 2 to 3 by corners: 0 0.5 1.
    same("bilinear by corners", bilinear([10, 20], 3, align_corners=True), [10, 15, 20])
    # 2 by 2 to 4 by 4: the middle of 0 10 20 31 is 15.25.
    made = one("RESIZE_BILINEAR", {}, [(tensor((1, 2, 2, 1)), [0, 10, 20, 31])], [extents(4, 4)], tensor((1, 4, 4, 1)))
    same("bilinear in two dimensions", made[0, :, :, 0], [[0, 5, 10, 10], [10, 15, 21, 21], [20, 26, 31, 31], [20, 26, 31, 31]])


def moves():
    rows = [(tensor((2, 3)), [1, 2, 3, 4, 5, 6])]
    ints = lambda *values: tensor(numpy.shape(values), elements=values, type_="int32")
    same("RESHAPE by a tensor", one("RESHAPE", {}, rows, [ints(3, -1)], tensor((3, 2))), [[1, 2], [3, 4], [5, 6]])
    same("RESHAPE by its option", one("RESHAPE", {"new_shape": [6]}, rows, [], tensor((6,))), [1, 2, 3, 4, 5, 6])
    same("TRANSPOSE", one("TRANSPOSE", {}, rows, [ints(1, 0)], tensor((3, 2))), [[1, 4], [2, 5], [3, 6]])
    same("PAD adds the zero point", one("PAD", {}, [(tensor((1, 2), 1.0, 9), [1, 2])], [ints((0, 1), (2, 0))], tensor((2, 4), 1.0, 9)),
         [[9, 9, 1, 2], [9, 9, 9, 9]])
    same("SLICE", one("SLICE", {}, rows, [ints(0, 1), ints(-1, 2)], tensor((2, 2))), [[2, 3], [5, 6]])
    strided = lambda options, begin, end, stride, shape: one("STRIDED_SLICE", options, rows, [ints(*begin), ints(*end), ints(*stride)], tensor(shape))
    same("STRIDED_SLICE backwards", strided({"end_mask": 2}, (1, -1), (2, 0), (1, -1), (1, 3)), [[6, 5, 4]])
    same("STRIDED_SLICE drops a dimension", strided({"shrink_axis_mask": 1}, (-1, 0), (0, 3), (1, 2), (2,)), [4, 6])
    same("STRIDED_SLICE from the start", strided({"begin_mask": 3}, (1, 1), (1, 2), (1, 1), (1, 2)), [[1, 2]])
    same("CONCATENATION", one("CONCATENATION", {"axis": -1}, [*rows, (tensor((2, 1)), [7, 8])], [], tensor((2, 4))), [[1, 2, 3, 7], [4, 5, 6, 8]])
    given = [(tensor((1, 2), 1.0, 9), [1, 2])]
    same("PADV2 adds what it is given",
         one("PADV2", {}, given, [ints((0, 0), (1, 0)), tensor((1,), 1.0, 9, elements=[-4])], tensor((1, 3), 1.0, 9)), [[-4, 1, 2]])
    same("EXPAND_DIMS", one("EXPAND_DIMS", {}, rows, [ints(-1)], tensor((2, 3, 1))), [[[1], [2], [3]], [[4], [5], [6]]])
    same("SQUEEZE", one("SQUEEZE", {"squeeze_dims": [-1]}, [(tensor((1, 2, 1)), [1, 2])], [], tensor((1, 2))), [[1, 2]])
    same("SQUEEZE of all", one("SQUEEZE", {"squeeze_dims": []}, [(tensor((1, 2, 1)), [1, 2])], [], tensor((2,))), [1, 2])
    same("GATHER", one("GATHER", {"axis": 1}, rows, [ints(2, 0, 2)], tensor((2, 3))), [[3, 1, 3], [6, 4, 6]])
    same("PACK", one("PACK", {"axis": 1}, [*rows, *rows], [], tensor((2, 2, 3))), [[[1, 2, 3], [1, 2, 3]], [[4, 5, 6], [4, 5, 6]]])
    columns = r.Model([tensor((2, 2)), tensor((2,)), tensor((2,))], [r.Node("UNPACK", [0], [1, 2], {"num": 2, "axis": 1})], [0], [1, 2])
    same("UNPACK", r.run(columns, [int8([[1, 2], [3, 4]])]), [[1, 3], [2, 4]])
    halves = r.Model([ints(1), tensor((1, 4)), tensor((1, 2)), tensor((1, 2))], [r.Node("SPLIT", [0, 1], [2, 3], {"num_splits": 2})], [1], [2, 3])
    same("SPLIT", r.run(halves, [int8([[1, 2, 3, 4]])]), [[[1, 2]], [[3, 4]]])


def floats():
    def real(operation, options, *given):
        arrays = [one if one is None else numpy.array(one) if numpy.asarray(one).dtype == int else numpy.float32(one) for one in given]
        return r.operator_for(r.Node(operation, [], []), [r.Tensor("y", (), "float32")])(options, [None] * len(arrays), [None], arrays)[0]

    conv = {"padding": "VALID", "stride_w": 1, "stride_h": 1}
    image = numpy.array([1.5, 2.0, 4.0]).reshape(1, 1, 3, 1)
    weights = numpy.array([2.0, -1.0])
    same("CONV_2D of floats", real("CONV_2D", conv, image, weights.reshape(1, 1, 2, 1), numpy.array([0.5]))[0, 0, :, 0], [1.5, 0.5])
    same("DEPTHWISE_CONV_2D of floats", real("DEPTHWISE_CONV_2D", conv, image, weights.reshape(1, 1, 1, 2), None)[0, 0],
         [[3, -1.5], [4, -2], [8, -4]])
    same("FULLY_CONNECTED of floats with RELU", real(
        "FULLY_CONNECTED", {"fused_activation_function": "RELU"}, [[1.0, 2.0]], [[3.0, 0.5], [-1.0, 0.0]], [0.25, 0.0]), [[4.25, 0]])
    same("BATCH_MATMUL of floats", real("BATCH_MATMUL", {"adj_y": True}, [[[1.0, 2.0]]], [[0.5, 1.0], [-1.0, 0.25]]), [[[2.5, -0.5]]])
    pool = {**conv, "filter_height": 1, "filter_width": 2}
    same("AVERAGE_POOL_2D of floats", real("AVERAGE_POOL_2D", pool, image)[0, 0, :, 0], [1.75, 3])
    same("MAX_POOL_2D of floats", real("MAX_POOL_2D", pool, -image)[0, 0, :, 0], [-1.5, -2])
    same("MEAN of floats", real("MEAN", {}, [[1.0, 2.0], [3.0, 5.0]], [1]), [1.5, 4])
    same("SOFTMAX of floats", real("SOFTMAX", {"beta": 1.0}, [[2.0, 2.0]]), [[0.5, 0.5]])


def files():
    import tflite_writer as w
    tensors = [w.tensor("x", "int8", [1, 3], 0, w.quantisation([0.5], [-1])), w.tensor("w", "int8", [2, 3], 1, w.quantisation([0.5], [0])),
               w.tensor("b", "int32", [2], 2), w.tensor("y", "int8", [1, 2], 0, w.quantisation([1.0], [10]))]
    node = w.node(0, [0, 1, 2], [3], 8, w.Table(w.i8(0, 1)))
    buffers = [w.buffer(), w.buffer(int8([1, 2, 3, -1, -1, -1]).tobytes()), w.buffer(numpy.array([2, 0], "<i4").tobytes())]
    model = r.read(w.model([w.code(9, 9)], [w.subgraph(tensors, [0], [3], [node])], buffers))
    same("a file is read as its node", (model.nodes[0].operation, model.nodes[0].options["fused_activation_function"]), ("FULLY_CONNECTED", "RELU"))
    same("a file is run as its node", r.run(model, [int8([[0, 1, 2]])])[0], [[14, 10]])


def functions():
    x = tensor((4,), 0.5, 10)
    given = int8([10, 12, 6, -128])
    same("ABS adds the zero point of the result", r.magnitude({}, [x], [tensor((4,), 0.5, -100)], [given])[0], [-100, -98, -96, 38])
    # Twice as many steps: 138 * 2 - 100 is beyond int8.
    same("ABS to another scale", r.magnitude({}, [x], [tensor((4,), 0.25, -100)], [given])[0], [-100, -96, -92, 127])
    # e^0 = 1, e^1 = 2.718, e^-2 = 0.135: in steps of 1/16, 16, 43.49 and 2.17.
    table = r.own_table_of(r.power_of_e)
    same("EXP by a table", table({}, [tensor((3,), 0.125, 10)], [tensor((3,), 0.0625, -50)], [int8([10, 18, -6])])[0], [-34, -7, -48])
    fails("EXP beyond int32", "leaves int32", lambda: table({}, [tensor((1,), 1.0)], [tensor((1,))], [int8([0])]))
    logarithm = r.OPERATORS["LOG"]
    same("LOG of what is not above 0 is the lowest", logarithm({}, [x], [tensor((3,), 0.0625)], [int8([10, 12, 6])])[0], [-128, 0, -128])
    # (4 * 0.5 - 2 * 0.25)^2 = 2.25, which is 9 steps of 0.25.
    same("SQUARED_DIFFERENCE of two scales", r.squared_difference({}, [tensor((1,), 0.5), tensor((1,), 0.25)], [tensor((1,), 0.25, 1)],
                                                                   [int8([4]), int8([2])])[0], [10])
    # 3 * 0.5 and 6 * 0.25 are equal; 5 * 0.25 is less.
    operands = [tensor((2,), 0.5), tensor((2,), 0.25)], [tensor((2,))], [int8([3, 3]), int8([6, 5])]
    for operation, wanted in (("EQUAL", [True, False]), ("LESS", [False, False]), ("GREATER", [False, True]), ("GREATER_EQUAL", [True, True])):
        same(f"{operation} of two scales", r.OPERATORS[operation]({}, *operands)[0], wanted)
    truths, rows = numpy.array([True, False]), [int8([[1, 2], [3, 4]]), int8([[5, 6], [7, 8]])]
    same("SELECT by rows", r.select({}, [], [], [truths, *rows])[0], [[1, 2], [7, 8]])
    same("SELECT_V2 by columns", r.select_v2({}, [], [], [truths, *rows])[0], [[1, 6], [3, 8]])


def main():
    for each in (numbers, products, pairs, pools, curves, functions, images, moves, floats, files):
        each()
    print(f"{checked} claims")
    for each in wrong:
        print(each)
    print(f"wrong: {len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
