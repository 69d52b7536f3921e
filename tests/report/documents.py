"""The documents that report_documents and report_traces print."""
import json
import subprocess


def refuse_twice(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"a member twice: {names}"
    return dict(pairs)


def printed_by(programs):
    """(schema, file, text, document) of each line."""
    for program in programs:
        for line in subprocess.run([program], capture_output=True, check=True).stdout.decode("utf-8").splitlines():
            schema, file, text = line.split("\t", 2)
            yield schema, file, text, json.loads(text, object_pairs_hook=refuse_twice)
