"""An editor that asks clangd about a name gets its docstring.

    clangd_test.py CLANGD INCLUDE FLAG…

INCLUDE is the folder of the headers; the flags compile a user's file. A user's file shows that docstrings come across from the headers. Then
every public member of the classes that users write with is asked about where it is declared.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# A user's file. The cursor stands at the first place of each name of EXPECTED.
SOURCE = """#include <tilewright/tilewright.hpp>
using namespace tilewright;
inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .capacity = 64_KiB};
inline constexpr engine loader{"loader"}, array{"array"};
inline constexpr auto mvin = transfer("mvin", dram, spad).on(loader).dimensions(2).cost({.latency = 64, .bytes_per_cycle = 16});
inline constexpr auto mvout = transfer("mvout", spad, dram).dimensions(2);
inline constexpr axis i{"i", 8}, j{"j", 8}, l{"l", 8};
inline constexpr tensor<float> a{"a"}, b{"b"}, c{"c"};
inline constexpr auto mac = intrinsic("mac", c(i, j) += a(i, l) * b(l, j)).reads(a, spad).reads(b, spad).updates(c, spad).on(array).cycles(16);
inline constexpr auto npu = machine("npu", dram, spad, loader, array, mvin, mvout, mac);
inline constexpr axis m{"m", 512}, n{"n", 512}, k{"k", 64}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
inline constexpr tensor<float> A{"A"}, B{"B"}, C{"C"};
inline constexpr auto matmul = C(m, n) += A(m, k) * B(k, n);
inline constexpr auto staged = schedule(matmul, npu).tile(m, n, mo, no, mi, ni, 8, 8).split(k, ko, ki, 8).reorder(mo, no, ko, mi, ni, ki)
    .cache_read(A, spad).at(ko).by(mvin).cache_read(B, spad).cache_write(C, spad).tensorize(mi, ni, ki, mac);
inline constexpr auto bytes = plan<staged>.peak(spad);
"""
EXPECTED = {
    "memory dram": "A memory that software manages",
    ".capacity": "bytes",
    ".on(loader)": "The engine that is busy with it",
    ".dimensions": "How many dimensions a call moves at most",
    ".cost": "What a call takes, in cycles",
    ".latency": "cycles from the end of the job",
    "axis m": "runs over [0, extent)",
    ".reads": "The operand is read, in this memory",
    ".updates": "The result is read and written",
    ".on(array)": "The engine that is busy with it",
    ".cycles(": "The cycles for which a call occupies its engine",
    "schedule(": "How a computation runs on a machine",
    ".tile": "Splits two loops",
    ".split": "loop `parent` of extent n",
    ".reorder": "Permutes the named loops",
    ".cache_read": "Stages what the current stage reads",
    ".at(": "the buffer is for one iteration",
    ".by(": "this transfer moves it",
    ".cache_write": "Computes `output` of the current stage",
    ".tensorize": "Replaces the named innermost loops",
    "plan<": "plan",
    ".peak": "bytes",
}

# Of which every public member has a docstring.
HEADERS = [*[f"machine/{name}.hpp" for name in ("memory", "engine", "tokens", "core", "cache_level", "configuration", "call", "transfer",
                                                "intrinsic", "intrinsic_cost", "machine")],
           "schedule/schedule.hpp", "program/agent.hpp", "program/program.hpp"]
CLASS, METHOD, PROPERTY, FIELD, CONSTRUCTOR = 5, 6, 7, 8, 9  # kinds of symbols of the language server protocol


def documentation(shown):
    """What is left of a hover without what clangd says of every name; None: the name is not public."""
    above, _, below = shown.rpartition("// In ")
    if "public:" not in below:
        return None
    lines = above.split("\n")[1:]
    said = re.compile(r"(→|Parameters:|- |Type:|Value|Offset:|Size:|Trivial (setter|accessor))")
    return " ".join(line for line in lines if line and not said.match(line))


def members(symbols, inside=False):
    """Members of classes; but for operators, enumerators, and constructors that take nothing."""
    for symbol in symbols:
        kind, name = symbol["kind"], symbol["name"]
        takes_nothing = kind == CONSTRUCTOR and symbol.get("detail", "").startswith("()")
        if inside and kind in (CLASS, METHOD, PROPERTY, FIELD, CONSTRUCTOR) and not name.startswith("operator=") and not takes_nothing:
            yield symbol
        yield from members(symbol.get("children", []), kind == CLASS)


class Clangd:
    def __init__(self, program, folder):
        self.process = subprocess.Popen([program, "--log=error", "--background-index=false"], cwd=folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0

    def send(self, message):
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b":", 1)
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise RuntimeError("clangd ended")
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, parameters):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        while True:
            message = self.read()
            if message.get("id") == self.number and "method" not in message:
                return message.get("result")

    def open(self, file, text):
        self.send({"method": "textDocument/didOpen",
                   "params": {"textDocument": {"uri": file.as_uri(), "languageId": "cpp", "version": 1, "text": text}}})

    def hover(self, file, position):
        answer = self.ask("textDocument/hover", {"textDocument": {"uri": file.as_uri()}, "position": position})
        return answer["contents"]["value"] if answer else ""


def main():
    program, include, flags = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "kernel.cpp"
        file.write_text(SOURCE)
        (pathlib.Path(folder) / "compile_flags.txt").write_text("\n".join(flags))
        clangd = Clangd(program, folder)
        features = {"hover": {"contentFormat": ["plaintext"]}, "documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}
        clangd.ask("initialize", {"processId": None, "rootUri": pathlib.Path(folder).as_uri(), "capabilities": {"textDocument": features}})
        clangd.send({"method": "initialized", "params": {}})
        clangd.open(file, SOURCE)
        failed = 0
        for name, expected in EXPECTED.items():
            before = SOURCE[:SOURCE.index(name)] + ("." if name.startswith(".") else "")
            shown = clangd.hover(file, {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1})
            if expected not in " ".join(shown.split()):
                failed += 1
                print(f"`{name}`: clangd shows\n{shown}\nwithout `{expected}`")
        asked = 0
        for header in HEADERS:
            # A copy, whose folder has the flags.
            copy = pathlib.Path(folder) / header.replace("/", "_")
            clangd.open(copy, (include / "tilewright" / header).read_text())
            for member in members(clangd.ask("textDocument/documentSymbol", {"textDocument": {"uri": copy.as_uri()}})):
                said = documentation(clangd.hover(copy, member["selectionRange"]["start"]))
                asked += said is not None
                if said == "":
                    failed += 1
                    print(f"{header}:{member['selectionRange']['start']['line'] + 1}: `{member['name']}` has no docstring")
        clangd.ask("shutdown", None)
        clangd.send({"method": "exit"})
        clangd.process.wait()
    print(f"names asked: {len(EXPECTED)}, public members: {asked}, without docstring: {failed}")
    return 1 if failed or asked < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
