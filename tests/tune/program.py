#!/usr/bin/env python3
"""A tuner as a program: lesson 10, which measures by commands here, as a board would be.

    program.py --tuner PROGRAM --lesson FOLDER --include FOLDER --compilers G++ CLANG++
"""
import argparse
import contextlib
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

OPTIONS = None
# Prints a number that the configuration alone decides; the `#` hides the arguments.
BOARD = "echo $((TILEWRIGHT_ROWS * 1000 + TILEWRIGHT_VECTORS * 100 + TILEWRIGHT_COLUMNS_INSIDE * 10 + TILEWRIGHT_PACKS_ROWS)).$TILEWRIGHT_BLOCK_ROWS #"


def results(log):
    return [json.loads(line) for line in log.read_text().splitlines()]


def measured(log):
    """Configurations with what was printed for them, in some order."""
    return sorted((tuple(one["configuration"].items()), one["measurements"][0]["value"]) for one in results(log)
                  if one["invalidity"] == "correct")


class Program(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def command(self, *options, measure=BOARD):
        return [OPTIONS.tuner, "64", "48", "32", "--measure", measure, "--processor", "board", "--compiler", "cc", *map(str, options)]

    def tune(self, *options, measure=BOARD, code=0):
        done = subprocess.run(self.command(*options, measure=measure), capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def start(self, log, seconds):
        return subprocess.Popen(self.command("--limit", 5, "--log", log, measure=f"sleep {seconds};" + BOARD), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def wait_for_results(self, log, count):
        for _ in range(600):
            if log.exists() and len([one for one in log.read_text().splitlines() if '"correct"' in one]) >= count:
                return
            time.sleep(0.05)
        self.fail("no results")

    def test_shards_under_gnu_parallel_are_what_one_process_measures(self):
        whole, header = self.folder / "whole.jsonl", self.folder / "gemm_winners.hpp"
        self.tune("--limit", 7, "--log", whole, "--write-header", header)
        self.assertEqual(len(measured(whole)), 7)
        for one_log in (False, True):
            into = self.folder / f"parts{one_log}"
            into.mkdir()
            name = "all" if one_log else "{}"
            # To GNU parallel, every argument is a piece of a shell's line: -q quotes them.
            done = subprocess.run(["parallel", "-q", "-j2", *self.command("--limit", 7, "--shard", "{}/4", "--log", into / f"{name}.jsonl"),
                                   ":::", "1", "2", "3", "4"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            logs = sorted(into.iterdir())
            self.assertEqual(len(logs), 1 if one_log else 4)
            together, backwards, again = self.folder / "1.jsonl", self.folder / "2.jsonl", self.folder / "parts" / "gemm_winners.hpp"
            again.parent.mkdir(exist_ok=True)
            self.tune("--merge", *logs, "--log", together, "--write-header", again)
            self.assertEqual(measured(together), measured(whole))
            self.assertEqual(again.read_bytes(), header.read_bytes())
            self.tune("--merge", *reversed(logs), "--log", backwards)
            self.assertEqual(backwards.read_bytes(), together.read_bytes())
            for log in (together, backwards, again):
                log.unlink()

    def test_killed_while_it_measures_and_while_it_writes(self):
        log = self.folder / "log.jsonl"
        running = self.start(log, 0.2)
        self.wait_for_results(log, 2)
        running.kill()
        running.communicate()
        kept = log.read_bytes()
        log.write_bytes(kept[:-40])  # as if it had been killed inside the last line
        done = self.tune("--limit", 5, "--log", log)
        self.assertIn("1 line of logs passed over", done.stderr)
        self.assertIn("5 to measure here", done.stdout)
        lines = log.read_text().splitlines()
        readable = []
        for line in lines:
            try:
                readable.append(json.loads(line))
            except json.JSONDecodeError:
                pass
        self.assertEqual(len(lines) - len(readable), 1)
        correct = [tuple(one["configuration"].items()) for one in readable if one["invalidity"] == "correct"]
        self.assertEqual(len(correct), 5)
        self.assertEqual(len(set(correct)), 5)  # what the log had was not measured again

    def test_interrupted(self):
        for how, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            log = self.folder / f"{code}.jsonl"
            running = self.start(log, 0.2)
            self.wait_for_results(log, 1)
            running.send_signal(how)
            out, _ = running.communicate()
            self.assertEqual(running.returncode, code)
            self.assertIn("best: rows=", out)
            had = len(measured(log))
            self.assertLess(had, 5)
            self.assertIn(f"{had} known, {5 - had} measured", self.tune("--limit", 5, "--log", log).stdout)

    def test_on_a_terminal_it_says_how_far_it_is_and_how_long_it_will_take(self):
        terminal, standard_error = pty.openpty()
        with open(terminal, "rb", buffering=0) as shown:
            running = subprocess.Popen(self.command("--limit", 5, "--log", self.folder / "log.jsonl", measure="sleep 0.4;" + BOARD),
                                       stdout=subprocess.DEVNULL, stderr=standard_error)
            os.close(standard_error)
            text = b""
            with contextlib.suppress(OSError):  # what Linux says where nobody has the other end any more
                while more := shown.read(4096):
                    text += more
        self.assertEqual(running.wait(), 0)
        lines = text.decode().split("\r\033[K")
        self.assertTrue(any(re.search(r": [1-4] of 5, best \S+.*, 0:0\d left$", line) for line in lines), lines)

    def test_the_header_is_compiled(self):
        header, log = self.folder / "mine.hpp", self.folder / "log.jsonl"
        self.tune("--limit", 3, "--log", log, "--write-header", header)
        best = min(measured(log), key=lambda one: one[1])
        wanted = " && ".join(f'best["{name}"] == {value}' for name, value in best[0])
        source = self.folder / "use.cpp"
        for shape, right in (("64, 48, 32", True), ("64, 48, 33", False)):
            source.write_text(f'#include "mine.hpp"\nconstexpr auto best = tilewright::tune::tuned(mine::winners, "gemm", {{{shape}}}, "board");\n'
                              f"static_assert({wanted});\n")
            for compiler in OPTIONS.compilers:
                done = subprocess.run([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{OPTIONS.include}", source],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode == 0, right, done.stderr)
                if not right:
                    self.assertIn("no_winner_for_this_problem_shape_and_processor", done.stderr)
        # Another shape joins the table; the same log gives the same bytes.
        other = [OPTIONS.tuner, "8", "16", "16", *self.command("--limit", 1, "--log", log, "--write-header", header)[4:]]
        subprocess.run(other, check=True, capture_output=True)
        first = header.read_bytes()
        self.assertIn(b"{8, 16, 16}", first)
        self.assertIn(b"{64, 48, 32}", first)
        header.unlink()
        self.tune("--limit", 3, "--log", log, "--write-header", header)
        self.assertEqual(header.read_bytes(), first)

    def test_t4(self):
        log, document = self.folder / "log.jsonl", self.folder / "t4.json"
        self.tune("--limit", 1, "--log", log, "--write-t4", document)
        whole = json.loads(document.read_text())
        self.assertRegex(whole["schema_version"], r"^[0-9]+\.[0-9]+\.[0-9]+$")
        self.assertEqual(len(whole["results"]), len(results(log)))
        for one in whole["results"]:  # what the schema of results, 1.0.0, requires
            self.assertIsInstance(one["configuration"], dict)
            self.assertIsInstance(one["correctness"], float)
            self.assertIn(one["invalidity"], ["timeout", "compile", "runtime", "correctness", "constraints", "correct"])
            self.assertTrue({"compilation_time", "runtimes", "framework", "search_algorithm", "validation"} <= one["times"].keys())
            self.assertIsInstance(one["objectives"], list)
            for each in one["measurements"]:
                self.assertEqual(list(each), ["name", "value", "unit"])

    def test_wrong_usage(self):
        self.assertIn("unknown option --fast", self.tune("--fast", code=2).stderr)
        self.assertIn("cannot read the log", self.tune("--merge", self.folder / "none", "--log", self.folder / "all", code=2).stderr)
        self.assertIn("cannot open the log", self.tune("--log", self.folder / "no" / "log", code=2).stderr)
        header = self.folder / "w.hpp"
        failed = self.tune("--limit", 1, "--write-header", header, measure="false", code=1)
        self.assertIn("no configuration is correct", failed.stdout)
        self.assertIn("the command ended with code 1", failed.stdout)
        self.assertIn("w.hpp is not written", failed.stderr)
        self.assertFalse(header.exists())
        self.assertIn("usage:", self.tune("--help").stdout)

    def test_the_script_for_slurm_says_which_part(self):
        tuner = self.folder / "tuner"
        tuner.write_text('#!/bin/sh\necho "$@"\n')
        tuner.chmod(0o755)

        def run(**array):
            environment = {"PATH": os.environ["PATH"], **{(name if name == "PARTS" else "SLURM_ARRAY_TASK_" + name): str(value)
                                                          for name, value in array.items()}}
            return subprocess.run(["sh", OPTIONS.lesson + "/tune.sbatch", str(tuner), str(self.folder / "logs"), "--limit", "9"], env=environment,
                                  capture_output=True, text=True)

        for part in (1, 3, 64):
            self.assertEqual(run(ID=part, MIN=1, MAX=64, COUNT=64).stdout,
                             f"--limit 9 --shard {part}/64 --log {self.folder}/logs/{part}.jsonl\n")
        self.assertIn("--shard 7/64 ", run(ID=7, MIN=7, MAX=7, COUNT=1, PARTS=64).stdout)
        for array in (dict(ID=7, MIN=7, MAX=7, COUNT=1), dict(ID=0, MIN=0, MAX=63, COUNT=64), dict(ID=3, MIN=1, MAX=9, COUNT=5), {}):
            self.assertNotEqual(run(**array).returncode, 0)
            self.assertEqual(run(**array).stdout, "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--tuner", "--lesson", "--include"):
        parser.add_argument(name, required=True)
    parser.add_argument("--compilers", nargs="+", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
