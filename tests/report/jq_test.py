"""The commands of jq in docs/reference/reports.md print what the page shows."""
import pathlib
import re
import subprocess
import sys
import tempfile

from documents import printed_by

page, programs = pathlib.Path(sys.argv[1]).read_text("utf-8"), sys.argv[2:]
examples = re.findall(r"```sh\n(jq .*?)```\n+```\n(.*?)```", page, re.DOTALL)
assert len(examples) >= 5, "the page has fewer commands"
assert len(examples) == len(re.findall(r"^jq ", page, re.MULTILINE)), "a command without what it prints"
with tempfile.TemporaryDirectory() as folder:
    for _, file, text, _ in printed_by(programs):
        if file:
            with open(pathlib.Path(folder, file), "a", encoding="utf-8") as kept:
                kept.write(text + "\n")
    for command, shown in examples:
        done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}{done.stderr}"
        assert done.stdout == shown, f"{command}prints\n{done.stdout}where the page shows\n{shown}"
print(len(examples))
