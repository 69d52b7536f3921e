#!/usr/bin/env python3
"""Writes .tflite files and compares what the reader makes of each with what was written, or asks that it is refused for one reason, naming
the part.

    tflite_models.py --dump PROGRAM --folder FOLDER    FOLDER keeps the files
"""
import argparse
import json
import pathlib
import struct
import subprocess
import sys

import tflite_writer as w

PADDING = {"SAME": 0, "VALID": 1}
ACTIVATION = {"NONE": 0, "RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3, "TANH": 4, "SIGN_BIT": 5}


def padding(field, word):
    return w.i8(field, PADDING[word])


def activation(field, word):
    return w.i8(field, ACTIVATION[word])


# Each operator: its number, the number of its table of options, the fields of a table with no value that is a default, and the attributes
# that they are.
OPERATORS = {
    "ADD": (0, 11, [activation(0, "RELU6"), w.truth(1, False, True)], {"fused_activation_function": "RELU6", "pot_scale_int16": 0}),
    "AVERAGE_POOL_2D": (1, 5, [padding(0, "VALID"), w.i32(1, 2), w.i32(2, 3), w.i32(3, 4), w.i32(4, 5), activation(5, "RELU")],
                        {"padding": "VALID", "stride_w": 2, "stride_h": 3, "filter_width": 4, "filter_height": 5,
                         "fused_activation_function": "RELU"}),
    "BATCH_MATMUL": (126, 101, [w.truth(0, True), w.truth(1, True), w.truth(2, True)],
                     {"adj_x": 1, "adj_y": 1, "asymmetric_quantize_inputs": 1}),
    "CONCATENATION": (2, 10, [w.i32(0, -1), activation(1, "TANH")], {"axis": -1, "fused_activation_function": "TANH"}),
    "CONV_2D": (3, 1, [padding(0, "VALID"), w.i32(1, 2), w.i32(2, 3), activation(3, "RELU_N1_TO_1"), w.i32(4, 4, 1), w.i32(5, 5, 1), w.i8(6, 4)],
                {"padding": "VALID", "stride_w": 2, "stride_h": 3, "fused_activation_function": "RELU_N1_TO_1", "dilation_w_factor": 4,
                 "dilation_h_factor": 5, "quantized_bias_type": "int64"}),
    "DEPTHWISE_CONV_2D": (4, 2, [padding(0, "VALID"), w.i32(1, 2), w.i32(2, 3), w.i32(3, 6), activation(4, "RELU6"), w.i32(5, 4, 1), w.i32(6, 5, 1)],
                          {"padding": "VALID", "stride_w": 2, "stride_h": 3, "depth_multiplier": 6, "fused_activation_function": "RELU6",
                           "dilation_w_factor": 4, "dilation_h_factor": 5}),
    "DEQUANTIZE": (6, 38, [], {}),
    "FULLY_CONNECTED": (9, 8, [activation(0, "SIGN_BIT"), w.truth(2, True), w.truth(3, True), w.i8(4, 2)],
                        {"fused_activation_function": "SIGN_BIT", "keep_num_dims": 1, "asymmetric_quantize_inputs": 1,
                         "quantized_bias_type": "int32"}),
    "LOGISTIC": (14, 0, None, {}),
    "MAX_POOL_2D": (17, 5, [w.i32(1, 1), w.i32(2, 1), w.i32(3, 2), w.i32(4, 2)],
                    {"padding": "SAME", "stride_w": 1, "stride_h": 1, "filter_width": 2, "filter_height": 2,
                     "fused_activation_function": "NONE"}),
    "MUL": (18, 21, [activation(0, "RELU")], {"fused_activation_function": "RELU"}),
    "RELU": (19, 0, None, {}),
    "RELU6": (21, 0, None, {}),
    "RESHAPE": (22, 17, [w.int32s(0, [2, -1, 7])], {"new_shape": [2, -1, 7]}),
    "RESIZE_BILINEAR": (23, 15, [w.truth(2, True), w.truth(3, True)], {"align_corners": 1, "half_pixel_centers": 1}),
    "SOFTMAX": (25, 9, [w.f32(0, 0.5)], {"beta": 0.5}),
    "DEPTH_TO_SPACE": (5, 94, [w.i32(0, 2)], {"block_size": 2}),
    "SPACE_TO_DEPTH": (26, 19, [w.i32(0, 3)], {"block_size": 3}),
    "MAXIMUM": (55, 39, [], {}),
    "ARG_MAX": (56, 40, [w.i8(0, 2)], {"output_type": "int32"}),
    "MINIMUM": (57, 39, [], {}),
    "REDUCE_MAX": (82, 27, [w.truth(0, True)], {"keep_dims": 1}),
    "REDUCE_MIN": (89, 27, [w.truth(0, True)], {"keep_dims": 1}),
    "HARD_SWISH": (117, 91, [], {}),
    "SVDF": (27, 6, [w.i32(0, 2), activation(1, "RELU"), w.truth(2, True)],
             {"rank": 2, "fused_activation_function": "RELU", "asymmetric_quantize_inputs": 1}),
    "TANH": (28, 0, None, {}),
    "PAD": (34, 22, [], {}),
    "GATHER": (36, 23, [w.i32(0, -2), w.i32(1, 1)], {"axis": -2, "batch_dims": 1}),
    "TRANSPOSE": (39, 26, [], {}),
    "MEAN": (40, 27, [w.truth(0, True)], {"keep_dims": 1}),
    "SUB": (41, 28, [activation(0, "RELU"), w.truth(1, False, True)], {"fused_activation_function": "RELU", "pot_scale_int16": 0}),
    "SQUEEZE": (43, 30, [w.int32s(0, [0, -1])], {"squeeze_dims": [0, -1]}),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (44, 71, [activation(0, "TANH"), w.f32(1, 0.5), w.f32(2, 2.0), w.truth(3, True), w.truth(4, True), w.truth(5, True)],
                                     {"fused_activation_function": "TANH", "cell_clip": 0.5, "proj_clip": 2.0, "time_major": 1,
                                      "asymmetric_quantize_inputs": 1, "diagonal_recurrent_tensors": 1}),
    "STRIDED_SLICE": (45, 32, [w.i32(0, 1), w.i32(1, 2), w.i32(2, 4), w.i32(3, 8), w.i32(4, 16), w.truth(5, True)],
                      {"begin_mask": 1, "end_mask": 2, "ellipsis_mask": 4, "new_axis_mask": 8, "shrink_axis_mask": 16, "offset": 1}),
    "SPLIT": (49, 35, [w.i32(0, 3)], {"num_splits": 3}),
    "PRELU": (54, 0, None, {}),
    "PADV2": (60, 43, [], {}),
    "SLICE": (65, 48, [], {}),
    "TRANSPOSE_CONV": (67, 49, [padding(0, "VALID"), w.i32(1, 2), w.i32(2, 3), activation(3, "RELU"), w.i8(4, 2)],
                       {"padding": "VALID", "stride_w": 2, "stride_h": 3, "fused_activation_function": "RELU", "quantized_bias_type": "int32"}),
    "EXPAND_DIMS": (70, 52, [], {}),
    "PACK": (83, 59, [w.i32(0, 3), w.i32(1, -1)], {"values_count": 3, "axis": -1}),
    "UNPACK": (88, 64, [w.i32(0, 3), w.i32(1, -1)], {"num": 3, "axis": -1}),
    "RESIZE_NEAREST_NEIGHBOR": (97, 74, [w.truth(0, True), w.truth(1, True)], {"align_corners": 1, "half_pixel_centers": 1}),
    "LEAKY_RELU": (98, 75, [w.f32(0, 0.25)], {"alpha": 0.25}),
    "QUANTIZE": (114, 89, [], {}),
}
# Attributes where nothing is written: of those without strides, which have no default that makes sense.
ABSENT = {
    "ADD": {"fused_activation_function": "NONE", "pot_scale_int16": 1},
    "BATCH_MATMUL": {"adj_x": 0, "adj_y": 0, "asymmetric_quantize_inputs": 0},
    "CONCATENATION": {"axis": 0, "fused_activation_function": "NONE"},
    "FULLY_CONNECTED": {"fused_activation_function": "NONE", "keep_num_dims": 0, "asymmetric_quantize_inputs": 0},
    "MUL": {"fused_activation_function": "NONE"},
    "RESHAPE": {"new_shape": []},
    "RESIZE_BILINEAR": {"align_corners": 0, "half_pixel_centers": 0},
    "SOFTMAX": {"beta": 0.0},
    "MEAN": {"keep_dims": 0},
    "SUB": {"fused_activation_function": "NONE", "pot_scale_int16": 1},
    "UNIDIRECTIONAL_SEQUENCE_LSTM": {"fused_activation_function": "NONE", "cell_clip": 0.0, "proj_clip": 0.0, "time_major": 0,
                                     "asymmetric_quantize_inputs": 0, "diagonal_recurrent_tensors": 0},
    "STRIDED_SLICE": {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0, "offset": 0},
    "RESIZE_NEAREST_NEIGHBOR": {"align_corners": 0, "half_pixel_centers": 0},
    "GATHER": {"axis": 0, "batch_dims": 0},
    "SQUEEZE": {"squeeze_dims": []},
    "PACK": {"values_count": 0, "axis": 0},
    "UNPACK": {"num": 0, "axis": 0},
    "LEAKY_RELU": {"alpha": 0.0},
}

read, refused = [], []


def reads(name, data, wanted):
    """The file is read as these tensors, nodes, inputs and outputs."""
    read.append((name, data, {"name": "main", "format": "tflite", **wanted}))


def refuses(name, reason, words, data):
    """The file is refused for this reason, in a line that has these words."""
    refused.append((name, data, reason, words))


def a_tensor(name, type_="float32", shape=(2,), elements=None, quantised=None, variable=False):
    return {"name": name, "type": type_, "shape": list(shape), "quantised": quantised, "elements": elements, "variable": variable}


def a_node(operation, inputs=(0,), outputs=(1,), attributes=None, version=1, domain="", known=True):
    return {"name": "", "operation": operation, "domain": domain, "version": version, "inputs": list(inputs), "outputs": list(outputs),
            "attributes": attributes or {}, "attributes_known": known}


def one_node(code, options_kind=0, options=None, tensors=None, inputs=(0,), outputs=(1,), graph_inputs=(0,), graph_outputs=(1,), buffers=(),
             further_kind=0, **model):
    """A file of one node from tensor 0 to tensor 1."""
    tensors = tensors or [w.tensor("x", "float32", [2]), w.tensor("y", "float32", [2])]
    node = w.node(0, list(inputs), list(outputs), options_kind, options, further_kind)
    return w.model([code], [w.subgraph(tensors, list(graph_inputs), list(graph_outputs), [node])], [w.buffer(), *buffers], **model)


RELU = w.code(19, 19)


def wanted_of(node, tensors=None, constants=0, inputs=(0,), outputs=(1,)):
    return {"constants": constants, "inputs": list(inputs), "outputs": list(outputs), "tensors": tensors or [a_tensor("x"), a_tensor("y")],
            "nodes": [node]}


def operators():
    for name, (number, table, fields, attributes) in OPERATORS.items():
        options = None if fields is None else w.Table(*fields)
        # As files were until there were 128 operators, as files are, and as they could be.
        for how, code in (("old", w.code(number, 0, 3)), ("both", w.code(number, number, 3)), ("new", w.code(0, number, 3))):
            reads(f"operator_{name}_{how}", one_node(code, table, options), wanted_of(a_node(name, attributes=attributes, version=3)))
        if name in ABSENT or not attributes:
            reads(f"operator_{name}_no_options", one_node(w.code(number, number)), wanted_of(a_node(name, attributes=ABSENT.get(name))))
        if name in ABSENT:
            reads(f"operator_{name}_empty", one_node(w.code(number, number), table, w.Table()), wanted_of(a_node(name, attributes=ABSENT[name])))
    unknown = lambda operation, **more: wanted_of(a_node(operation, known=False, **more))
    # 127 in the old field says: look at the new one. 150 is GELU.
    reads("operator_beyond_127", one_node(w.code(127, 150)), unknown("GELU"))
    reads("operator_unknown", one_node(w.code(127, 5000, 2)), unknown("BUILTIN_5000", version=2))
    reads("operator_with_unknown_options", one_node(w.code(100, 100), 77, w.Table(w.i8(0, 1))), unknown("MIRROR_PAD"))
    reads("operator_custom", one_node(w.code(32, 32, 1, "MyOperator")), unknown("MyOperator", domain="custom"))


def networks():
    image = [0.5, -3]
    scales = [0.25, 0.5, 1.0, 2.0]
    weights, bias = bytes(range(4 * 3 * 3 * 2)), struct.pack("<4i", 1, -2, 300, -70000)
    per_tensor = lambda scale, zero: {"scales": [scale], "zero_points": [zero], "axis": None}
    along = lambda axis, zero=(0, 0, 0, 0): {"scales": scales, "zero_points": list(zero), "axis": axis}
    depthwise = bytes(range(100, 136))
    tensors = [
        w.tensor("image", "int8", [1, 6, 6, 2], 0, w.quantisation([image[0]], [image[1]]), [-1, 6, 6, 2]),
        w.tensor("weights", "int8", [4, 3, 3, 2], 1, w.quantisation(scales, [0, 0, 0, 0], 0)),
        w.tensor("bias", "int32", [4], 2, w.quantisation(scales, [0, 0, 0, 0], 3)),  # the axis of weights, as some converters write
        w.tensor("hidden", "int8", [1, 6, 6, 4], 0, w.quantisation([0.125], [5])),
        w.tensor("depthwise", "int8", [1, 3, 3, 4], 3, w.quantisation(scales, [1, 2, 3, 4], 3)),
        w.tensor("", "int8", [1, 3, 3, 4], 0, w.quantisation([0.0625], [-128])),
        w.tensor("shape", "int32", [2], 4),
        w.tensor("flat", "int8", [1, 36], 0, w.quantisation([0.0625], [-128])),
        w.tensor("depthwise again", "int8", [1, 3, 3, 4], 3),  # shares the elements
        w.tensor("sum", "int8", [1, 3, 3, 4]),
    ]
    conv = w.Table(w.i32(1, 1), w.i32(2, 1))
    depth = w.Table(w.i32(1, 2), w.i32(2, 2), w.i32(3, 1))
    nodes = [w.node(0, [0, 1, 2], [3], 1, conv), w.node(1, [3, 4, -1], [5], 2, depth), w.node(3, [5, 8], [9], 11, w.Table()),
             w.node(2, [9, 6], [7], 17, w.Table())]
    buffers = [w.buffer(), w.buffer(weights), w.buffer(bias), w.buffer(depthwise), w.buffer(struct.pack("<2i", 1, 36))]
    codes = [w.code(3, 3, 3), w.code(4, 4, 3), w.code(22, 22), w.code(0, 0, 2)]
    wanted = {
        "constants": 4, "inputs": [0], "outputs": [7],
        "tensors": [
            a_tensor("image", "int8", [None, 6, 6, 2], None, per_tensor(*image)),
            a_tensor("weights", "int8", [4, 3, 3, 2], weights.hex(), along(0)),
            a_tensor("bias", "int32", [4], bias.hex(), along(0)),
            a_tensor("hidden", "int8", [1, 6, 6, 4], None, per_tensor(0.125, 5)),
            a_tensor("depthwise", "int8", [1, 3, 3, 4], depthwise.hex(), along(3, (1, 2, 3, 4))),
            a_tensor("", "int8", [1, 3, 3, 4], None, per_tensor(0.0625, -128)),
            a_tensor("shape", "int32", [2], struct.pack("<2i", 1, 36).hex()),
            a_tensor("flat", "int8", [1, 36], None, per_tensor(0.0625, -128)),
            a_tensor("depthwise again", "int8", [1, 3, 3, 4], depthwise.hex()),
            a_tensor("sum", "int8", [1, 3, 3, 4]),
        ],
        "nodes": [
            a_node("CONV_2D", [0, 1, 2], [3], {"padding": "SAME", "stride_w": 1, "stride_h": 1, "fused_activation_function": "NONE",
                                               "dilation_w_factor": 1, "dilation_h_factor": 1}, 3),
            a_node("DEPTHWISE_CONV_2D", [3, 4, -1], [5], {"padding": "SAME", "stride_w": 2, "stride_h": 2, "depth_multiplier": 1,
                                                          "fused_activation_function": "NONE", "dilation_w_factor": 1, "dilation_h_factor": 1}, 3),
            a_node("ADD", [5, 8], [9], {"fused_activation_function": "NONE", "pot_scale_int16": 1}, 2),
            a_node("RESHAPE", [9, 6], [7], {"new_shape": []}),
        ],
    }
    reads("network", w.model(codes, [w.subgraph(tensors, [0], [7], nodes)], buffers), wanted)
    # The same nodes from last to first: read in the order in which they can run.
    reads("network_upside_down", w.model(codes, [w.subgraph(tensors, [0], [7], nodes[::-1])], buffers), wanted)

    every = ["float32", "int32", "uint8", "int64", "bool", "int16", "int8", "float64", "uint64", "uint32", "uint16"]
    sizes = [4, 4, 1, 8, 1, 2, 1, 8, 8, 4, 2]
    data = [bytes([1, 0]) * size if size > 1 else bytes([1, 0]) for size in sizes]
    constants = [w.tensor(f"c_{one}", one, [2], at + 1) for at, one in enumerate(every)]
    reads("types", w.model([], [w.subgraph(constants, [], [0], [])], [w.buffer(), *map(w.buffer, data)]),
          {"constants": len(every), "inputs": [], "outputs": [0], "nodes": [],
           "tensors": [a_tensor(f"c_{one}", one, [2], elements.hex()) for one, elements in zip(every, data)]})

    # Elements that follow the tables, as in files of more than two gigabytes.
    scalar = w.tensor("pi", "float32", [], 1)
    follow = lambda offset: w.model([], [w.subgraph([scalar], [], [0], [])], [w.buffer(), w.buffer(None, offset, 4)])
    length = len(follow(1000))
    reads("elements_after_tables", follow(length) + struct.pack("<f", 3.25),
          {"constants": 1, "inputs": [], "outputs": [0], "nodes": [], "tensors": [a_tensor("pi", "float32", [], struct.pack("<f", 3.25).hex())]})
    refuses("elements_after_the_end", "no_such_position", "tensor `pi`", follow(length + 1) + struct.pack("<f", 3.25))
    refuses("elements_past_all_addresses", "no_such_position", "tensor `pi`", follow(2**64 - 2))
    state = [w.tensor("x", "int8", [2], variable=True), w.tensor("y", "int8", [2])]
    reads("variable", one_node(RELU, tensors=state, graph_inputs=[]),
          wanted_of(a_node("RELU"), [a_tensor("x", "int8", variable=True), a_tensor("y", "int8")], inputs=[]))
    # Two nodes write one variable, one after the other: what the first leaves is what the second finds.
    kept = [w.tensor("x", "int8", [2]), w.tensor("y", "int8", [2]), w.tensor("v", "int8", [2], variable=True), w.tensor("z", "int8", [2])]
    rank = w.Table(w.i32(0, 1))
    nodes = [w.node(0, [0, -1, -1, -1, 2], [1], 6, rank), w.node(0, [1, -1, -1, -1, 2], [3], 6, rank)]
    attributes = {"rank": 1, "fused_activation_function": "NONE", "asymmetric_quantize_inputs": 0}
    reads("written_variable", w.model([w.code(27, 27)], [w.subgraph(kept, [0], [3], nodes)], [w.buffer()]),
          {"constants": 0, "inputs": [0, 2], "outputs": [3, 5], "kept": [[2, 5]],
           "tensors": [a_tensor(one, "int8") for one in ("x", "y", "v", "z", "v_next", "v_next")],
           "nodes": [a_node("SVDF", [0, -1, -1, -1, 2], [1, 4], attributes), a_node("SVDF", [1, -1, -1, -1, 4], [3, 5], attributes)]})


def types():
    """Elements of 16 bits, and types that graphs have no elements of: these keep the format's word."""
    said = {"float16": "float16", "bfloat16": "bfloat16", 99: "type 99"} | {one: one.upper() for one in ("string", "int4", "complex64", "resource")}
    for type_, name in said.items():
        reads(f"type_{type_}", one_node(RELU, tensors=[w.tensor("x", type_, [2]), w.tensor("y", "float32", [2])]),
              wanted_of(a_node("RELU"), [a_tensor("x", name), a_tensor("y")]))


def wrong():
    x, y = w.tensor("x", "float32", [2]), w.tensor("y", "float32", [2])
    good = one_node(RELU)
    for cut in (0, 3, 7, 8, len(good) // 3, len(good) // 2, len(good) - 1):
        refuses(f"cut_after_{cut}", "not_a_model", "bytes", good[:cut])
    refuses("not_a_model", "not_a_model", "bytes", b"\x00" * 200)
    refuses("identifier", "not_a_model", "bytes", one_node(RELU, identifier=b"TFL2"))
    refuses("version", "model_version", "version 2", one_node(RELU, version=2))
    refuses("no_graph", "not_a_model", "no graph", w.model([RELU], [], [w.buffer()]))
    refuses("two_graphs", "subgraph", "2 graphs", w.model([RELU], [w.subgraph([x], [0], [0], [])] * 2, [w.buffer()]))
    refuses("sparse", "sparse", "tensor `x`", one_node(RELU, tensors=[w.tensor("x", "float32", [2], sparsity=w.Table()), y]))
    refuses("external_buffer", "external_data", "tensor `x`", one_node(RELU, tensors=[w.tensor("x", "float32", [2], external_buffer=1), y]))
    refuses("buffer", "no_such_position", "buffer 7 of 1", one_node(RELU, tensors=[w.tensor("x", "float32", [2], 7), y]))
    refuses("opcode", "no_such_position", "operator 4 of 1", w.model([RELU], [w.subgraph([x, y], [0], [1], [w.node(4, [0], [1])])], [w.buffer()]))
    refuses("negative_opcode", "no_such_position", "operator number -5", one_node(w.code(-5, -6)))
    refuses("operand", "no_such_position", "node 0 (`RELU`): the model refers to something that it does not have: tensor 2 of 2", one_node(RELU, inputs=[2]))
    refuses("negative_operand", "no_such_position", "tensor -2", one_node(RELU, inputs=[-2]))
    refuses("no_result", "no_such_position", "tensor -1", one_node(RELU, outputs=[-1]))
    refuses("network_input", "no_such_position", "the inputs", one_node(RELU, graph_inputs=[-1]))
    refuses("network_output", "no_such_position", "the outputs", one_node(RELU, graph_outputs=[5]))
    refuses("other_options", "attribute", "node 0 (`RELU`)", one_node(RELU, 1, w.Table()))
    refuses("further_options", "attribute", "node 0 (`RELU`)", one_node(RELU, further_kind=3))
    conv = lambda *fields: one_node(w.code(3, 3), 1, w.Table(*fields))
    refuses("stride", "attribute", "node 0 (`CONV_2D`): this attribute is not what its operator takes: stride_h is 0", conv(w.i32(1, 1)))
    refuses("negative_dilation", "attribute", "dilation_w_factor is -1", conv(w.i32(1, 1), w.i32(2, 1), w.i32(4, -1, 1)))
    refuses("padding", "attribute", "padding is 2", conv(w.i8(0, 2), w.i32(1, 1), w.i32(2, 1)))
    refuses("activation", "attribute", "fused_activation_function is 6", conv(w.i32(1, 1), w.i32(2, 1), w.i8(3, 6)))
    refuses("no_conv_options", "attribute", "stride_w is 0", one_node(w.code(3, 3)))
    refuses("shuffled_weights", "attribute", "weights_format is 1", one_node(w.code(9, 9), 8, w.Table(w.i8(1, 1))))
    refuses("negative_extent", "shape", "[-3]", one_node(RELU, tensors=[w.tensor("x", "float32", [-3]), y]))
    refuses("huge_shape", "shape", "63 bits", one_node(RELU, tensors=[w.tensor("x", "float32", [2**31 - 1] * 3), y]))
    refuses("signature", "contradiction", "tensor `x`", one_node(RELU, tensors=[w.tensor("x", "float32", [2], signature=[3]), y]))
    refuses("signature_rank", "contradiction", "tensor `x`", one_node(RELU, tensors=[w.tensor("x", "float32", [2], signature=[-1, -1]), y]))
    constant = lambda type_, shape, data, **more: one_node(RELU, tensors=[w.tensor("x", type_, shape, 1, **more), y], graph_inputs=[],
                                                           buffers=[w.buffer(data)])
    refuses("short_constant", "constant_size", "7 bytes for 2 elements of float32", constant("float32", [2], b"1234567"))
    refuses("long_constant", "constant_size", "9 bytes for 2 elements of float32", constant("float32", [2], b"123456789"))
    refuses("constant_without_extent", "shape", "run time", constant("float32", [2], b"12345678", signature=[-1]))
    refuses("neither_false_nor_true", "constant_value", "2 is neither false nor true", constant("bool", [2], b"\x01\x02"))
    refuses("given_and_constant", "two_sources", "tensor `x`",
            one_node(RELU, tensors=[w.tensor("x", "float32", [2], 1), y], buffers=[w.buffer(b"12345678")]))
    refuses("computed_twice", "two_sources", "tensor `y`",
            w.model([RELU], [w.subgraph([x, y], [0], [1], [w.node(0, [0], [1]), w.node(0, [0], [1])])], [w.buffer()]))
    refuses("input_computed", "two_sources", "tensor `x`", one_node(RELU, outputs=[0]))
    refuses("no_source", "no_source", "tensor `x`: nothing computes", one_node(RELU, graph_inputs=[]))
    refuses("output_without_source", "no_source", "an output", w.model([], [w.subgraph([x], [], [0], [])], [w.buffer()]))
    refuses("circle", "circle", "node 0 (`RELU`)",
            w.model([RELU], [w.subgraph([x, y], [], [1], [w.node(0, [0], [1]), w.node(0, [1], [0])])], [w.buffer()]))
    quantised = lambda how, type_="int8", shape=(4,): one_node(RELU, tensors=[w.tensor("x", type_, list(shape), 0, how), y])
    refuses("zero_points", "quantisation", "2 scales and 1 zero points", quantised(w.quantisation([1.0, 2.0], [0])))
    refuses("scale", "quantisation", "nan", quantised(w.quantisation([float("nan")], [0])))
    refuses("negative_scale", "quantisation", "-1", quantised(w.quantisation([-1.0], [0])))
    refuses("zero_point", "quantisation", "zero point of 200 in int8", quantised(w.quantisation([1.0], [200])))
    refuses("axis", "quantisation", "along dimension 2 of [4, 4]", quantised(w.quantisation([1.0] * 4, [0] * 4, 2), shape=(4, 4)))
    refuses("channels", "quantisation", "3 scales along dimension 1 of [4, 4]", quantised(w.quantisation([1.0] * 3, [0] * 3, 1), shape=(4, 4)))
    refuses("details", "quantisation", "details of kind 1", quantised(w.quantisation([1.0], [0], details=1)))
    # A line of the report stays one line, whatever a name is.
    refuses("name_with_lines", "sparse", "tensor `a?b?c`", one_node(RELU, tensors=[w.tensor("a\nb\x1bc", "float32", [2], sparsity=w.Table()), y]))
    # 200,000 tensors that are one table with a long name: 1 MB in the file, 20 GB in memory.
    many = w.tensor("n" * 100_000, "float32", [2])
    refuses("repeated_table", "too_large", "tensor", one_node(RELU, tensors=[many] * 200_000))
    data = [w.buffer(b"e" * 1_000_000)]
    shared = [w.tensor(f"t{at}", "int8", [1_000_000], at + 1) for at in range(200)]
    refuses("repeated_buffer", "too_large", "tensor `t", one_node(RELU, tensors=[*shared, x], buffers=data * 200))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    operators()
    networks()
    types()
    wrong()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for old in arguments.folder.glob("*.tflite"):
        old.unlink()
    files = []
    for name, data, *_ in [*read, *refused]:
        files.append(arguments.folder / f"{name}.tflite")
        files[-1].write_bytes(data)
    ran = subprocess.run([arguments.dump], input="".join(f"{file}\n" for file in files), capture_output=True, text=True)
    lines = ran.stdout.splitlines()
    if ran.returncode != 0 or len(lines) != len(files):
        print(f"{arguments.dump} ended with {ran.returncode} after {len(lines)} of {len(files)} models\n{ran.stderr}")
        return 1
    wrongs, names = [], [file.stem for file in files]
    if len(set(names)) != len(names):
        wrongs.append("a file was written twice")
    found = [json.loads(line) for line in lines]
    for (name, _, wanted), one in zip(read, found):
        one.pop("text", None)
        for key in {*wanted, *one}:
            if one.get(key) != wanted.get(key):
                wrongs.append(f"{name}: {key} is {one.get(key)} instead of {wanted.get(key)}")
    for (name, _, reason, words), file, one in zip(refused, files[len(read):], found[len(read):]):
        what = one.get("what", "")
        if one.get("refused") != reason or words not in what or "\n" in what or not what.startswith(f"{file}: "):
            wrongs.append(f"{name}: {one.get('refused', 'read')} {what!r} instead of {reason} with {words!r}")
    print(f"{len(read)} files to read, {len(refused)} to refuse")
    for one in wrongs[:20]:
        print(one)
    print(f"wrong: {len(wrongs)}")
    return 1 if wrongs else 0


if __name__ == "__main__":
    sys.exit(main())
