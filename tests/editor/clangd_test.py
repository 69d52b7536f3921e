"""An editor that asks clangd about a name gets its docstring.

    clangd_test.py CLANGD FLAG…

The flags are those that compile a user's file.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

# A user's file. The cursor stands at the first place of each name of EXPECTED.
SOURCE = """#include <tilewright/tilewright.hpp>
using namespace tilewright;
inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .capacity = 64_KiB};
inline constexpr auto mvin = transfer("mvin", dram, spad).dimensions(2);
inline constexpr auto npu = machine("npu", dram, spad, mvin);
inline constexpr axis m{"m", 512}, n{"n", 512}, no{"no"}, ni{"ni"};
inline constexpr tensor<float> A{"A"}, C{"C"};
inline constexpr auto doubled = C(m, n) = A(m, n) * 2.0f;
inline constexpr auto staged = schedule(doubled, npu).split(n, no, ni, 64).cache_read(A, spad).at(no).by(mvin);
inline constexpr auto bytes = plan<staged>.peak(spad);
"""
EXPECTED = {
    "memory dram": "A memory that software manages",
    ".capacity": "bytes",
    ".dimensions": "dimensions",
    "axis m": "runs over [0, extent)",
    "schedule(": "How a computation runs on a machine",
    ".split": "loop `parent` of extent n",
    ".cache_read": "Stages what the current stage reads",
    ".by": "this transfer moves it",
    "plan<": "plan",
    ".peak": "bytes",
}


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


def main():
    program, flags = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "kernel.cpp"
        file.write_text(SOURCE)
        (pathlib.Path(folder) / "compile_flags.txt").write_text("\n".join(flags))
        clangd = Clangd(program, folder)
        clangd.ask("initialize", {"processId": None, "rootUri": pathlib.Path(folder).as_uri(),
                                  "capabilities": {"textDocument": {"hover": {"contentFormat": ["plaintext"]}}}})
        clangd.send({"method": "initialized", "params": {}})
        clangd.send({"method": "textDocument/didOpen",
                     "params": {"textDocument": {"uri": file.as_uri(), "languageId": "cpp", "version": 1, "text": SOURCE}}})
        failed = 0
        for name, expected in EXPECTED.items():
            before = SOURCE[:SOURCE.index(name)] + ("." if name.startswith(".") else "")
            position = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
            answer = clangd.ask("textDocument/hover", {"textDocument": {"uri": file.as_uri()}, "position": position})
            shown = answer["contents"]["value"] if answer else ""
            if expected not in " ".join(shown.split()):
                failed += 1
                print(f"`{name}`: clangd shows\n{shown}\nwithout `{expected}`")
        clangd.ask("shutdown", None)
        clangd.send({"method": "exit"})
        clangd.process.wait()
    print(f"names asked: {len(EXPECTED)}, without docstring: {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
