#!/usr/bin/env python3
"""Compares what the reader makes of every model of libonnx-testdata with what ONNX's own Python makes of it: tensors, elements, nodes,
attributes. A model is refused exactly where it has something that graphs do not hold, and for that reason.

    onnx_testdata.py --dump PROGRAM [--folder FOLDER]
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

import numpy
import onnx
from onnx import AttributeProto, TensorProto, numpy_helper

TYPES = {"FLOAT": "float32", "DOUBLE": "float64", "INT8": "int8", "INT16": "int16", "INT32": "int32", "INT64": "int64", "UINT8": "uint8",
         "UINT16": "uint16", "UINT32": "uint32", "UINT64": "uint64", "BOOL": "bool", "FLOAT16": "float16", "BFLOAT16": "bfloat16"}
# What libonnx-testdata 1.12.0 has.
MODELS, READ = 1072, 1043
REFUSED = {"not_a_tensor": 23, "subgraph": 5, "attribute": 1}


def type_name(number):
    """How graphs call a type: one that they have no elements of keeps ONNX's word."""
    word = TensorProto.DataType.Name(number)
    return TYPES.get(word, word)


def reasons(model):
    """Why a graph does not hold this model."""
    graph, found = model.graph, set()
    for value in [*graph.input, *graph.output, *graph.value_info]:
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            found.add("not_a_tensor")
    branches = [one.g for node in graph.node if node.op_type == "If" for one in node.attribute]
    for node in [*graph.node, *(one for branch in branches for one in branch.node)]:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.TYPE_PROTO:
                found.add("attribute")
            if node.op_type != "If" and attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
                found.add("subgraph")
    return found


def elements(array):
    return numpy.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes().hex()


def constant(tensor):
    name = type_name(tensor.data_type)
    known = elements(numpy_helper.to_array(tensor)) if name in TYPES.values() else ""
    return {"type": name, "shape": list(tensor.dims), "elements": known}


def constant_of_node(node):
    (attribute,) = node.attribute
    value = onnx.helper.get_attribute_value(attribute)
    if attribute.name == "value":
        return constant(value)
    if "string" in attribute.name:
        return {"type": "STRING", "shape": [len(value)] if "strings" in attribute.name else [], "elements": ""}
    array = numpy.array(value, numpy.float32 if "float" in attribute.name else numpy.int64)
    return {"type": str(array.dtype), "shape": list(array.shape), "elements": elements(array)}


def attribute_value(attribute):
    value = onnx.helper.get_attribute_value(attribute)
    if attribute.type == AttributeProto.TENSOR:
        held = constant(value)
        return {"type": held["type"], "extents": held["shape"], "elements": held["elements"]}
    if attribute.type == AttributeProto.STRING:
        return value.decode(errors="replace")
    if attribute.type == AttributeProto.STRINGS:
        return [one.decode(errors="replace") for one in value]
    return list(value) if isinstance(value, collections.abc.Iterable) else value


def dimension(one):
    return one.dim_value if one.WhichOneof("value") == "dim_value" else one.dim_param or None


def with_branches(graph):
    """The graph with both branches of each `If` as nodes of its own, whose results are operands of it. Branches have no names of their own
    inside of other branches here."""
    nodes = []
    for node in graph.node:
        branches = [one.g for name in ("then_branch", "else_branch") for one in node.attribute if one.name == name]
        for number, branch in enumerate(branches, 1):
            inside = {name: f"inside{number}/{name}" for one in branch.node for name in one.output}
            for one in branch.node:
                nodes.append(onnx.NodeProto())
                nodes[-1].CopyFrom(one)
                for names in (nodes[-1].input, nodes[-1].output):
                    names[:] = [inside.get(name, name) for name in names]
            node.input.extend(inside.get(one.name, one.name) for one in branch.output)
        if branches:
            del node.attribute[:]
        nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)
    return graph


def expected(model):
    """The graph, tensors by name."""
    graph = with_branches(model.graph)
    versions = {one.domain: one.version for one in model.opset_import}
    constants = {one.name: constant(one) for one in graph.initializer}
    constants |= {node.output[0]: constant_of_node(node) for node in graph.node if node.op_type == "Constant"}
    nodes = [{"name": node.name, "operation": node.op_type, "domain": node.domain, "version": versions[node.domain],
              "inputs": [one or None for one in node.input], "outputs": [one or None for one in node.output],
              "attributes": {one.name: attribute_value(one) for one in node.attribute}, "attributes_known": True}
             for node in graph.node if node.op_type != "Constant"]
    declared = {}
    for value in [*graph.input, *graph.value_info, *graph.output]:
        type_ = value.type.tensor_type
        shape = [dimension(one) for one in type_.shape.dim] if type_.HasField("shape") else None
        declared[value.name] = {"type": type_name(type_.elem_type), "shape": shape}
    return {"name": graph.name, "format": "onnx", "nodes": nodes, "constants": constants, "declared": declared,
            "inputs": [one.name for one in graph.input if one.name not in constants], "outputs": [one.name for one in graph.output]}


def differences(read, wanted):
    """What is read otherwise than wanted, as texts."""
    tensors = read["tensors"]
    name = lambda position: None if position < 0 else tensors[position]["name"]
    by_name = {one["name"]: one for one in tensors}
    if len(by_name) != len(tensors):
        yield "a name stands twice"
    for key in ("name", "format"):
        if read[key] != wanted[key]:
            yield f"{key}: {read[key]}"
    for key in ("inputs", "outputs"):
        if [name(one) for one in read[key]] != wanted[key]:
            yield f"{key}: {read[key]}"
    nodes = [one | {key: [name(position) for position in one[key]] for key in ("inputs", "outputs")} for one in read["nodes"]]
    if nodes != wanted["nodes"]:
        yield f"nodes: {nodes} instead of {wanted['nodes']}"
    for one in tensors:
        found = wanted["constants"].get(one["name"])
        said = found or wanted["declared"].get(one["name"], {"type": "unknown", "shape": None})
        if (found or {}).get("elements") != one["elements"] or said["type"] != one["type"] or said["shape"] != one["shape"]:
            yield f"{one['name']}: {one} instead of {said}"
    missing = {*wanted["constants"], *wanted["declared"]} - by_name.keys()
    if missing:
        yield f"not there: {missing}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    parser.add_argument("--folder", type=pathlib.Path, default="/usr/share/libonnx-testdata/data")
    arguments = parser.parse_args()
    files = sorted(arguments.folder.rglob("*.onnx"))
    ran = subprocess.run([arguments.dump], input="".join(f"{file}\n" for file in files), capture_output=True, text=True)
    lines = ran.stdout.splitlines()
    if ran.returncode != 0 or len(lines) != len(files):
        print(f"{arguments.dump} ended with {ran.returncode} after {len(lines)} of {len(files)} models\n{ran.stderr}")
        return 1
    wrong, read, compared, refused = [], 0, 0, collections.Counter()
    for file, line in zip(files, lines):
        found, model = json.loads(line), onnx.load(str(file))
        why = reasons(model)
        if "refused" in found:
            refused[found["refused"]] += 1
            if found["refused"] not in why:
                wrong.append(f"{file}: refused for {found['refused']}, and Python sees {why or 'no reason'}: {found['what']}")
            if "\n" in found["what"] or not found["what"].startswith(f"{file}: "):
                wrong.append(f"{file}: {found['what']!r} is no line about this file")
            continue
        read += 1
        if why:
            wrong.append(f"{file}: read, though {why}")
            continue
        wanted = expected(model)
        compared += len(wanted["constants"])
        wrong += [f"{file}: {one}" for one in differences(found, wanted)]
    print(f"{len(files)} models: {read} read, {compared} constants compared")
    for reason, count in refused.most_common():
        print(f"    {count:4} refused: {reason}")
    if (len(files), read, dict(refused)) != (MODELS, READ, REFUSED):
        wrong.append(f"expected: {MODELS} models, {READ} read, {REFUSED}")
    for one in wrong[:20]:
        print(one)
    print(f"wrong: {len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
