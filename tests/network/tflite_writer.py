"""Writes .tflite files by FlatBuffers' own builder for Python, by the numbers of the fields in the format's schema. It shares nothing with
the reader. It writes wrong files as readily as right ones."""
import flatbuffers

TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "string": 5, "bool": 6, "int16": 7, "complex64": 8, "int8": 9,
         "float64": 10, "uint64": 12, "resource": 13, "uint32": 15, "uint16": 16, "int4": 17, "bfloat16": 18}


class Table:
    """A table: fields by number, each (how, value, what is not written)."""

    def __init__(self, *fields):
        self.fields = fields

    def write(self, builder):
        offsets = {}
        for number, how, value, _ in self.fields:
            if how in WRITERS and value is not None:
                offsets[number] = WRITERS[how](builder, value)
        builder.StartObject(1 + max((one[0] for one in self.fields), default=-1))
        for number, how, value, absent in self.fields:
            if number in offsets:
                builder.PrependUOffsetTRelativeSlot(number, offsets[number], 0)
            elif value is not None and how not in WRITERS:
                getattr(builder, f"Prepend{how}Slot")(number, value, absent)
        return builder.EndObject()


def numbers(builder, values, size, prepend):
    builder.StartVector(size, len(values), size)
    for one in reversed(values):
        prepend(one)
    return builder.EndVector()


def tables(builder, values):
    """The same table object is written once, and referred to as often as it stands in the list."""
    written = {}
    for one in values:
        if id(one) not in written:
            written[id(one)] = one.write(builder)
    builder.StartVector(4, len(values), 4)
    for one in reversed(values):
        builder.PrependUOffsetTRelative(written[id(one)])
    return builder.EndVector()


def octets(builder, value):
    builder.StartVector(1, len(value), 16)
    builder.head = builder.head - len(value)
    builder.Bytes[builder.head:builder.head + len(value)] = value
    return builder.EndVector()


WRITERS = {
    "table": lambda builder, value: value.write(builder),
    "tables": tables,
    "text": lambda builder, value: builder.CreateString(value.encode()),
    "int32s": lambda builder, value: numbers(builder, value, 4, builder.PrependInt32),
    "int64s": lambda builder, value: numbers(builder, value, 8, builder.PrependInt64),
    "floats": lambda builder, value: numbers(builder, value, 4, builder.PrependFloat32),
    "octets": octets,
}


def i8(number, value, absent=0):
    return (number, "Int8", value, absent)


def i32(number, value, absent=0):
    return (number, "Int32", value, absent)


def u8(number, value, absent=0):
    return (number, "Uint8", value, absent)


def u32(number, value, absent=0):
    return (number, "Uint32", value, absent)


def u64(number, value, absent=0):
    return (number, "Uint64", value, absent)


def truth(number, value, absent=False):
    return (number, "Bool", value, absent)


def f32(number, value, absent=0.0):
    return (number, "Float32", value, absent)


def text(number, value):
    return (number, "text", value, None)


def int32s(number, value):
    return (number, "int32s", value, None)


def of(number, how, value):
    return (number, how, value, None)


def quantisation(scales, zero_points, axis=0, details=None):
    fields = [of(2, "floats", scales), of(3, "int64s", zero_points), i32(6, axis)]
    if details is not None:
        fields += [u8(4, details), of(5, "table", Table())]
    return Table(*fields)


def tensor(name, type_, shape, buffer=0, quantised=None, signature=None, variable=False, sparsity=None, external_buffer=0):
    return Table(int32s(0, shape), i8(1, TYPES.get(type_, type_)), u32(2, buffer), text(3, name), of(4, "table", quantised),
                 truth(5, variable), of(6, "table", sparsity), int32s(7, signature), u32(10, external_buffer))


def buffer(data=None, offset=0, size=0):
    return Table(of(0, "octets", data), u64(1, offset), u64(2, size))


def code(deprecated=0, builtin=0, version=1, custom=None):
    return Table(i8(0, deprecated), text(1, custom), i32(2, version, 1), i32(3, builtin))


def node(opcode, inputs, outputs, options_kind=0, options=None, further_kind=0):
    return Table(u32(0, opcode), int32s(1, inputs), int32s(2, outputs), u8(3, options_kind), of(4, "table", options), u8(11, further_kind))


def subgraph(tensors, inputs, outputs, nodes, name="main"):
    return Table(of(0, "tables", tensors), int32s(1, inputs), int32s(2, outputs), of(3, "tables", nodes), text(4, name))


def model(codes, subgraphs, buffers, version=3, identifier=b"TFL3"):
    builder = flatbuffers.Builder(1024)
    root = Table(u32(0, version), of(1, "tables", codes), of(2, "tables", subgraphs), text(3, "written by a test"), of(4, "tables", buffers))
    builder.Finish(root.write(builder), file_identifier=identifier)
    return bytes(builder.Output())
