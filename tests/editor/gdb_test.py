"""gdb shows schedules as the loops that their directives make; the loops here were worked out by hand. What a page says that gdb prints is what it
prints.

    gdb_test.py GDB PRINTERS PROGRAM PAGE

The program is not run: what it shows are constants.
"""
import pathlib
import re
import subprocess
import sys

EXPECTED = {
    "tiled": """C on dsp
B in tcm (cache_read, by load)
for mo in 0..3
  for no in 0..3
    C in tcm (cache_write, by save)
    for ko in 0..4
      A in tcm (cache_read, by load), 2 versions, 1 ahead, in bank 1
      mac for mi 0..8, ni 0..16, ki 0..8""",
    "fused": """C on dsp
for f in 0..96  (parallel)
  for ni.outer in 0..3
    for ni.lanes in 0..4  (vectorized)
      C = …""",
    "computed_at": """S, C on dsp
S in tcm (store_in)
for no in 0..5
  for m in 0..24  (unrolled)
    for n in 0..40
      S = …
  for x in 0..22
    for ni in 0..8
      for r in 0..3
        C = …""",
    "shared": """C on dsp
for m.core in 0..4  (on cores dsps)
  for m in 0..6
    A in tcm (cache_read)
    for n in 0..40
      for k in 0..32
        C = …""",
    "run_time": """C on dsp
for mo in 0..rows / 8
  for mi in 0..8
    for n in 0..40
      C = …""",
}


def main():
    gdb, printers, program, page = sys.argv[1:]
    commands = [gdb, "-nx", "-batch", "-ex", "set max-value-size unlimited", "-ex", f"source {printers}"]
    for name in EXPECTED:
        commands += ["-ex", f"echo == {name}\\n", "-ex", f"output shown::{name}", "-ex", "echo \\n"]
    commands += ["-ex", "echo == label\\n", "-ex", "output shown::dsp.name", "-ex", "echo \\n", program]
    done = subprocess.run(commands, capture_output=True, text=True, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
    parts = dict(part.split("\n", 1) for part in done.stdout.split("== ")[1:])
    failed = 0
    for name, expected in {**EXPECTED, "label": '"dsp"'}.items():
        shown = parts.get(name, "").strip()
        if shown != expected:
            failed += 1
            print(f"{name}: gdb shows\n{shown}\ninstead of\n{expected}\n{done.stderr}")
    documented = re.findall(r"^```console\n\(gdb\) (.*)\n((?:.*\n)*?)```$", pathlib.Path(page).read_text(), re.MULTILINE)
    for command, expected in documented:
        done = subprocess.run([gdb, "-nx", "-batch", "-ex", "set max-value-size unlimited", "-ex", f"source {printers}", "-ex", command, program],
                              capture_output=True, text=True, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
        if done.stdout != expected:
            failed += 1
            print(f"{page}: to `{command}` gdb prints\n{done.stdout}\ninstead of\n{expected}\n{done.stderr}")
    print(f"values shown: {len(parts)}, on the page: {len(documented)}, wrong: {failed}")
    return 1 if failed or not documented else 0


if __name__ == "__main__":
    sys.exit(main())
