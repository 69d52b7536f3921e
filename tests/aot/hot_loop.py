"""The hot loop of a kernel: hot_loop.py OBJDUMP OBJECT MULTIPLY_ADDS

The innermost loops of the object that multiply and add whole vectors are looked for in its disassembly. One of them has so many of these
instructions, one for each register of the tile; and neither this one nor a smaller one touches the stack: a tile that does not fit its
registers would be there. A loop with more is the last rows of the last columns, whose steps over the depth are all written out.
"""

import re
import subprocess
import sys


def instructions(objdump, path):
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        found = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line)
        if found:
            yield int(found[1], 16), found[2], found[3]


def innermost_loops(code):
    """From the target of each backward jump to the jump, where there is no other one between."""
    jumps = []
    for at, (address, name, operands) in enumerate(code):
        target = re.match(r"([0-9a-f]+)", operands) if name.startswith("j") else None
        if target and int(target[1], 16) <= address:
            first = next((i for i in range(at, -1, -1) if code[i][0] == int(target[1], 16)), None)
            if first is not None:
                jumps.append((first, at))
    return [code[first : last + 1] for first, last in jumps if not any(first <= f and l < last for f, l in jumps)]


def main(objdump, path, wanted):
    count = lambda loop: sum("vfmadd" in name and re.search("[yz]mm", operands) is not None for _, name, operands in loop)
    loops = [loop for loop in innermost_loops(list(instructions(objdump, path))) if count(loop) > 0]
    counts = [count(loop) for loop in loops]
    on_stack = [f"{address:x}: {name} {operands}" for loop in loops if count(loop) <= wanted for address, name, operands in loop
                if re.search(r"\((%rsp|%rbp)", operands)]
    if wanted not in counts:
        return f"{path}: no loop with {wanted} multiply-adds of whole vectors; there are loops with {counts}"
    if on_stack:
        return f"{path}: a hot loop touches the stack:\n" + "\n".join(on_stack)
    print(f"{len(loops)} loops, of {counts} multiply-adds; those of at most {wanted} without the stack")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
