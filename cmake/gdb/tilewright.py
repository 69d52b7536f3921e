"""Shows Tilewright's values in gdb: `source …/tilewright.py`, once or in ~/.gdbinit; then `print my_schedule`.

A schedule is shown as its loops, as its directives make them:

    C on npu
    for mo in 0..8
      for no in 0..8
        C in acc (cache_write)
        for ko in 0..8
          A in spad (cache_read, by mvin), 2 versions
          mac16 for mi 0..64, ni 0..64, ki 0..64

What the planner refuses may be shown: nothing is checked here, and `plan<…>` says what is wrong. A loop of a stage that is computed at another
stage's loop is shown with the extent of its whole axis, since its box is the planner's work.
"""
import gdb
import gdb.printing

LOWEST = -(1 << 63)  # `whole_loop`, and the extent of an axis that is left to run time, which has its upper bound added
MOST_KEPT = 1 << 32


def text_of(label):
    """The letters of a `tilewright::ir::label`."""
    words = label["words"]["elements"]
    letters = b"".join((int(words[at]) & (1 << 64) - 1).to_bytes(8, "little") for at in range(3))
    text = letters[:23].split(b"\0")[0].decode(errors="replace")
    return text + "~" if letters[23] else text


def word(value):
    """The name of an enumerator without its scope."""
    return str(value).rsplit("::", 1)[-1]


class Loop:
    def __init__(self, name, extent):
        self.name, self.extent, self.mark = name, extent, ""
        self.inside = []  # lines in front of what it repeats

    def __str__(self):
        return f"{self.name} 0..{self.extent}"


class Stage:
    """One stage of a computation, with loops that directives change."""

    def __init__(self, output, loops):
        self.output, self.loops = output, loops
        self.outside = []      # what is staged outside of all loops
        self.instruction = ""  # what takes the place of the innermost loops
        self.covered = 0
        self.placed = None     # the name of the loop that it is computed at
        self.note = ""

    def find(self, name):
        for at, loop in enumerate(self.loops):
            if loop.name == name:
                return at
        return None

    def split(self, name, outer, inner, factor):
        at = self.find(name)
        if at is None or factor < 1:
            return
        extent = self.loops[at].extent
        if isinstance(extent, int):
            factor = min(factor, extent)
            tiles = (extent - 1) // factor + 1
        else:
            tiles = f"{extent} / {factor}"
        self.loops[at:at + 1] = [Loop(outer, tiles), Loop(inner, factor)]

    def reorder(self, names):
        places = [self.find(name) for name in names]
        if None in places:
            return
        chosen = [self.loops[at] for at in places]
        for at, loop in zip(sorted(places), chosen):
            self.loops[at] = loop

    def fuse(self, outer, inner, fused):
        at, next_to = self.find(outer), self.find(inner)
        if at is None or next_to != at + 1:
            return
        extents = [self.loops[at].extent, self.loops[next_to].extent]
        whole = extents[0] * extents[1] if all(isinstance(e, int) for e in extents) else f"{extents[0]} * {extents[1]}"
        self.loops[at:at + 2] = [Loop(fused, whole)]

    def mark(self, kind, name, factor):
        at = self.find(name)
        if at is None:
            return
        if factor not in (LOWEST, self.loops[at].extent):
            self.split(name, f"{name}.outer", f"{name}.{'lanes' if kind == 'vectorize' else 'copies'}", factor)
            at += 1
        self.loops[at].mark = {"unroll": "unrolled", "vectorize": "vectorized"}.get(kind, kind)

    def distribute(self, name, cores, count):
        at = self.find(name)
        if at is None:
            return
        extent = self.loops[at].extent
        share = (extent - 1) // count + 1 if isinstance(extent, int) else f"{extent} / {count}"
        self.loops[at:at + 1] = [Loop(f"{name}.core", count), Loop(name, share)]
        self.loops[at].mark = f"on cores {cores}"

    def lines(self, stages):
        """The loops as lines, with the stages that are computed at one of them."""
        depth, found = 0, list(self.outside)
        kept = self.loops[:len(self.loops) - self.covered]
        for loop in kept:
            found.append("  " * depth + f"for {loop.name} in 0..{loop.extent}" + (f"  ({loop.mark})" if loop.mark else ""))
            depth += 1
            found += ["  " * depth + line for line in loop.inside]
            for other in stages:
                if other.placed == loop.name and other is not self:
                    found += ["  " * depth + line for line in other.lines(stages)]
        covered = ", ".join(str(loop) for loop in self.loops[len(kept):])
        found.append("  " * depth + (f"{self.instruction} for {covered}" if self.instruction else f"{self.output} = …") + self.note)
        return found


def stages_of(view):
    """The stages of a `computation_view`, with the loops that they have before any directive: the target's, then those it sums over."""
    found, first = [], 0
    for at in range(int(view["count"])):
        node = view["nodes"][at]
        if word(node["op"]) != "store":
            continue
        target = int(node["arguments"]["elements"][0])
        order = [int(view["nodes"][target]["arguments"]["elements"][d]) for d in range(int(view["nodes"][target]["argument_count"]))]
        loops = []
        for axis in order + list(range(first, at)):
            candidate = view["nodes"][axis]
            if word(candidate["op"]) == "axis_value" and all(loop.name != text_of(candidate["name"]) for loop in loops):
                extent = int(candidate["value"])
                bound = extent - LOWEST
                loops.append(Loop(text_of(candidate["name"]), extent if bound > MOST_KEPT else text_of(candidate["name"])))
        found.append(Stage(text_of(node["name"]), loops))
        first = at + 1
    return found


def nest_of(schedule):
    stages = stages_of(schedule["computation_"])
    machine = schedule["machine_"].dereference()
    if not stages:
        return ["no computation"]
    current, staged, asked = stages[-1], None, []

    def cores_of(names):
        known = machine["cores"]["parts"]["elements"]
        counts = {text_of(known[at]["name"]): int(known[at]["count"]) for at in range(int(machine["cores"]["count"]))}
        return sum(counts.get(name, 0) for name in names)

    for at in range(min(int(schedule["directive_count_"]), 64)):
        log = schedule["directives_"]["elements"][at]
        kind = word(log["kind"])
        names = [text_of(schedule["names_"]["elements"][int(log["first_name"]) + position]) for position in range(int(log["name_count"]))]
        factors = [int(log["factors"]["elements"][position]) for position in range(2)]
        if kind == "stage":
            current = next((stage for stage in stages if stage.output == names[0]), current)
        elif kind == "split":
            current.split(*names, factors[0])
        elif kind == "tile":
            a, b, a_outer, b_outer, a_inner, b_inner = names
            current.split(a, a_outer, a_inner, factors[0])
            current.split(b, b_outer, b_inner, factors[1])
            current.reorder([a_outer, b_outer, a_inner, b_inner])
        elif kind == "fuse":
            current.fuse(*names)
        elif kind == "reorder":
            current.reorder(names)
        elif kind in ("unroll", "vectorize", "parallel"):
            current.mark(kind, names[0], factors[0])
        elif kind == "distribute":
            current.distribute(names[0], ", ".join(names[1:]), cores_of(names[1:]) if factors[0] == LOWEST else factors[0])
        elif kind == "tensorize":
            current.instruction, current.covered = names[-1], len(names) - 1
        elif kind == "compute_at":
            for stage in stages:
                if stage.output == names[0]:
                    stage.placed = names[1]
        elif kind == "on":
            current.note += f"  (on {names[0]} {factors[0]})"
        elif kind in ("cache_read", "cache_write", "store_in", "reads", "writes"):
            staged = {"is": f"{names[0]} in {' or '.join(names[1:])} ({kind}", "by": "", "more": "", "stage": current, "at": None}
            asked.append(staged)
        elif staged is not None:
            if kind == "at":
                staged["at"] = names[0]
            elif kind == "by":
                staged["by"] = f", by {names[0]}"
            elif kind == "buffers":
                staged["more"] += f", {factors[0]} versions"
            elif kind == "prefetch":
                staged["more"] += f", {factors[0]} ahead"
            elif kind == "in_bank":
                staged["more"] += f", in bank {factors[0]}"
            elif kind == "layout":
                staged["more"] += ", with a layout"
    # Loops are final now: a directive may name one that a later one changes.
    for one in asked:
        line = f"{one['is']}{one['by']}){one['more']}"
        at = one["stage"].find(one["at"]) if one["at"] else None
        (one["stage"].outside if at is None else one["stage"].loops[at].inside).append(line)

    lines = [f"{', '.join(stage.output for stage in stages)} on {text_of(machine['name'])}"]
    loops = {loop.name for stage in stages for loop in stage.loops}
    for stage in stages:
        if stage.placed not in loops:
            lines += stage.lines([other for other in stages if other is not stage])
    return lines


class SchedulePrinter:
    """The loops of a `tilewright::schedule`."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        try:
            return "\n".join(nest_of(self.value))
        except gdb.MemoryError:
            return "a schedule whose computation or machine cannot be read: they must outlive it, and the program must run"


class LabelPrinter:
    """A name: `tilewright::ir::label`."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return text_of(self.value)

    def display_hint(self):
        return "string"


printers = gdb.printing.RegexpCollectionPrettyPrinter("tilewright")
printers.add_printer("schedule", "^tilewright::schedule$", SchedulePrinter)
printers.add_printer("label", "^tilewright::ir::label$", LabelPrinter)
gdb.printing.register_pretty_printer(gdb.current_objfile(), printers, replace=True)
