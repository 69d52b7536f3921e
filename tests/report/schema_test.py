"""The JSON that the library writes is what the schemas in docs/reference/schemas say: no more, and no less."""
import collections
import json
import pathlib
import sys

import jsonschema

from documents import printed_by

docs, programs = pathlib.Path(sys.argv[1]), sys.argv[2:]
schemas = {path.name.split(".")[0]: json.loads(path.read_text("utf-8")) for path in (docs / "reference/schemas").glob("*.schema.json")}
Validator = jsonschema.Draft202012Validator
problems = []


def nodes(schema, where="#"):
    """(path, schema) of a schema and of all in it, without what references lead to."""
    yield where, schema
    for group in ("properties", "$defs"):
        for name, inner in schema.get(group, {}).items():
            yield from nodes(inner, f"{where}/{group}/{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{where}/items")
    for at, inner in enumerate(schema.get("oneOf", [])):
        yield from nodes(inner, f"{where}/oneOf/{at}")


def meet(whole, schema, where, value, met):
    """Notes for which places of a schema, and which of their enumerators, there is a value. The value is valid."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        meet(whole, whole["$defs"][name], f"#/$defs/{name}", value, met)
    met.add(where)
    if "enum" in schema:
        met.add(f"{where} = {value}")
    for at, inner in enumerate(schema.get("oneOf", [])):
        if Validator({**inner, "$defs": whole.get("$defs", {})}).is_valid(value):
            meet(whole, inner, f"{where}/oneOf/{at}", value, met)
    if isinstance(value, dict):
        for name, inner in value.items():
            meet(whole, schema.get("properties", {}).get(name, {}), f"{where}/properties/{name}", inner, met)
    if isinstance(value, list):
        for inner in value:
            meet(whole, schema.get("items", {}), f"{where}/items", inner, met)


# The schemas are schemas. They close every object, require all its members, and describe each.
for name, schema in schemas.items():
    Validator.check_schema(schema)
    assert schema["$schema"] == Validator.META_SCHEMA["$schema"]
    for where, node in nodes(schema):
        said = f"{name}{where}"
        if node.get("type") == "object":
            assert node["additionalProperties"] is False, f"{said} takes any member"
            assert node["required"] == list(node["properties"]), f"{said} does not require its members in their order"
        if where.rpartition("/")[0].endswith(("properties", "$defs")):
            assert node.get("description"), f"{said} has no description"
    # What two schemas share is the same in both.
    for other in schemas.values():
        for shared in ("refusal", "verdict", "work", "count", "positive"):
            if shared in schema.get("$defs", {}) and shared in other.get("$defs", {}):
                assert schema["$defs"][shared] == other["$defs"][shared], f"{name} has another {shared}"
# A layer of a program has the run that a kernel by itself has.
layer = schemas["program_run"]["$defs"]
assert {name: layer["run"][name] for name in ("required", "properties")} == {name: schemas["run"][name] for name in ("required", "properties")}
for shared, kept in schemas["run"]["$defs"].items():
    assert layer[shared] == kept, f"a run of a program has another {shared}"
for shared in ("memory", "address"):
    assert schemas["run"]["$defs"][shared] == schemas["plan"]["$defs"][shared], f"a run has another {shared} than its plan"
# Every verdict has a page, and the others here are none.
others = ("README", "mistakes", "unresolved_cycles")
verdicts = sorted(page.stem for page in (docs / "diagnostics").glob("*.md") if page.stem not in others)
assert schemas["plan"]["$defs"]["verdict"]["enum"] == verdicts, "the schemas have other verdicts than docs/diagnostics"

# The documents are what their schemas say.
met = {name: set() for name in schemas}
counts = collections.Counter()
for kind, _, text, document in printed_by(programs):
    counts[kind] += 1
    # "machine/memory" is a part of a machine by itself.
    name, _, part = kind.partition("/")
    schema = {"$ref": f"#/$defs/{part}", "$defs": schemas[name]["$defs"]} if part else schemas[name]
    found = [f"{error.json_path}: {error.message[:200]}" for error in Validator(schema).iter_errors(document)]
    if found:
        problems.append(f"{kind} {text[:60]}…: {found[0]}")
    elif not part:
        meet(schema, schema, "#", document, met[name])

# The schemas promise nothing that is never written.
if not problems:
    for name, schema in schemas.items():
        for where, node in nodes(schema):
            if where not in met[name]:
                problems.append(f"{name}{where} is in no document")
            for one in node.get("enum", []) if not where.endswith("/verdict") else []:
                if f"{where} = {one}" not in met[name]:
                    problems.append(f"{name}{where} is {one} in no document")
print(dict(counts))
if problems:
    sys.exit("\n".join(problems[:20]))
