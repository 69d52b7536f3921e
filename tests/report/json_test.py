"""Reads what report_json prints with Python's own JSON reader and compares it with values worked out by hand."""
import json
import subprocess
import sys


def refuse_twice(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"a member twice: {names}"
    return dict(pairs)


def find(parts, name):
    (found,) = [part for part in parts if part["name"] == name]
    return found


def lines(program):
    for line in program:
        yield line
        yield from lines(line["inside"])


output = subprocess.run([sys.argv[1]], capture_output=True, check=True).stdout
documents = [json.loads(line, object_pairs_hook=refuse_twice) for line in output.decode("utf-8").splitlines()]
matmul, npu, refused, blur, dots, odd, two_blocks, dsp, across = documents

assert matmul["machine"] == "npu" and matmul["refusal"] is None
assert (matmul["cycles"], matmul["serial_cycles"], matmul["bound"]) == (921600, 921600, 524288)
assert matmul["engines"] == [
    {"name": "loader", "busy": 262144, "channels": 1}, {"name": "storer", "busy": 65536, "channels": 1}, {"name": "array", "busy": 524288, "channels": 1}, {"name": "host", "busy": 0, "channels": 1}]
assert matmul["memories"] == [
    {"name": "spad", "bank": 0, "base": "0x50000000", "capacity": 262144, "peak": 8192, "slack": 253952, "buffers": 8192},
    {"name": "acc", "bank": 0, "base": "0x51000000", "capacity": 65536, "peak": 16384, "slack": 49152, "buffers": 16384},
]
assert [b["name"] for b in matmul["buffers"]] == ["A", "B", "C", "A.spad", "B.spad", "C.acc"]
assert find(matmul["buffers"], "B.spad") == {
    "name": "B.spad", "tensor": "B", "kind": "staged", "memory": "spad", "type": "int8", "extents": [64, 64], "bytes": 4096,
    "offset": 4096, "address": "0x50001000", "versions": 1, "version_addresses": ["0x50001000"],
    "first_line": 5, "last_line": 9, "loop": "ko", "blocks": 1, "layout": None, "in_place_of": []}
assert find(matmul["buffers"], "C") == {
    "name": "C", "tensor": "C", "kind": "argument", "memory": "dram", "type": "int32", "extents": [512, 512], "bytes": 1048576,
    "offset": None, "address": None, "versions": 1, "version_addresses": [], "first_line": None, "last_line": None, "loop": None,
    "blocks": 1, "layout": None, "in_place_of": []}
assert find(matmul["traffic"], "mvin") == {"kind": "transfer", "name": "mvin", "on": "loader", "calls": 1024, "bytes": 4194304, "cycles": 327680}
assert find(matmul["traffic"], "mul16")["calls"] == 1024
assert sum(part["cycles"] for part in matmul["traffic"]) == 921600
program = list(lines(matmul["program"]))
assert [line["number"] for line in program] == list(range(1, 11))
assert [line["name"] for line in program] == ["mo", "no", "ko", "mvin", "mvin", "mi", "ni", "ki", "mac16", "mvout"]
assert [line["kind"] for line in matmul["program"][0]["inside"][0]["inside"]] == ["loop", "transfer"]
assert program[2]["extent"] == 8 and program[3]["times"] == 512 and program[3]["bytes"] == 4096 and program[3]["cycles"] == 320

assert [m["name"] for m in npu["memories"]] == ["dram", "spad", "acc"]
assert npu["memories"][0]["base"] is None and npu["memories"][1]["host_visible"] is False
assert find(npu["transfers"], "mvin")["costs"] == {"latency": 64, "setup": 0, "bytes_per_cycle": 16}
assert find(npu["intrinsics"], "mac16")["operands"][2] == {
    "tensor": "c", "memory_name": "acc", "is": "updates", "alignment": 1, "stride_multiple": 1, "longest_stride": 0, "in_place": False}
assert npu["cores"] == [] and len(npu["semantics"]) == 11 + 11  # i, j, l; c, a, b; two casts, the product, the sum, the store

assert refused["refusal"]["verdict"] == "invalid_number"
assert refused["refusal"]["sentence"].startswith("`m`: factor is 0, but must be at least 1")
assert refused["buffers"] == refused["program"] == refused["traffic"] == refused["memories"] == []

assert find(blur["memories"], "l1") == {"name": "l1", "bank": 0, "base": "0x10000000", "capacity": 32768, "peak": 3536, "slack": 29232, "buffers": 6608}
assert find(blur["buffers"], "blur_y.l1")["loop"] is None
compute = next(line for line in lines(blur["program"]) if line["kind"] == "code")
assert compute["value"].startswith("blur_x.l2[hy, hx] = (picture.l1[hy, hx] + ")

step = next(line for line in lines(dots["program"]) if line["kind"] == "intrinsic")
assert (step["cycles"], step["first_cycles"], step["times"]) == (4, 3, 120)

assert odd["name"] == 'a "quoted" \\ name'
assert odd["memories"][0]["name"] == "tab\t, bell\a"
assert odd["engines"][0]["name"] == "\u00e4\u20ac\U0001f600"
assert odd["engines"][1]["name"] == "\ufffd \ufffd\ufffd \ufffd\ufffd\ufffd \ufffd\ufffd"
assert odd["engines"][2]["name"] == "01234567890123456789012~"

# 16 steps of 2 x 8,192 + 40 cycles of the loader and 16,384 of the vector unit; the last of 4 stores.
assert two_blocks["engines"] == [
    {"name": "dma_in", "busy": 32 * 8212, "channels": 1}, {"name": "dma_out", "busy": 4 * 8212, "channels": 1}, {"name": "vector_unit", "busy": 262144, "channels": 1}, {"name": "host", "busy": 0, "channels": 1}]
assert two_blocks["bound"] == 32 * 8212 and two_blocks["serial_cycles"] == 262144 + 36 * 8412
assert two_blocks["bound"] < two_blocks["cycles"] < 0.6 * two_blocks["serial_cycles"]
assert [(m["name"], m["bank"], m["base"], m["peak"]) for m in two_blocks["memories"]] == [
    ("vtcm", 0, "0xd8000000", 32768), ("vtcm", 1, "0xda000000", 32768), ("acc", 0, "0xd0000000", 32768)]
assert find(two_blocks["buffers"], "B.vtcm")["versions"] == 2
assert find(two_blocks["buffers"], "B.vtcm")["version_addresses"] == ["0xd8004000", "0xda004000"]
assert find(two_blocks["buffers"], "C.acc")["version_addresses"] == ["0xd0000000", "0xd0004000"]
half = find(across["buffers"], "A.vtcm")
assert (half["versions"], half["blocks"], half["extents"], half["bytes"]) == (1, 2, [2, 64, 64], 32768)
assert half["version_addresses"] == ["0xd8000000", "0xda000000"]
assert half["layout"] == "(i, j) at [j / 64][i, j % 64]"
waits = [line for line in lines(two_blocks["program"]) if line["kind"] == "wait"]
assert [line["name"] for line in waits] == ["C", "A", "B", "C"] and waits[0]["times"] == 2

vtcm = find(dsp["memories"], "vtcm")
assert (vtcm["banks"], vtcm["ports"], vtcm["bank_bases"]) == (2, 1, ["0xd8000000", "0xda000000"])
assert find(dsp["memories"], "acc")["bank_bases"] == []
assert find(dsp["engines"], "dma_in") == {
    "name": "dma_in", "depth": 16, "channels": 1, "completes": "by_transfer", "interlocked": False, "per_agent": False, "per_core": False,
    "wait_call": {"symbol": "", "arguments": []}}
assert find(dsp["transfers"], "load")["is_asynchronous"] is True
assert find(dsp["transfers"], "load")["is_multicast"] is False
