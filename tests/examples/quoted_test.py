#!/usr/bin/env python3
"""Tests of quoted.py: what it lets pass, and what it finds."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import quoted


class Readme(unittest.TestCase):
    def setUp(self):
        self.made = tempfile.TemporaryDirectory()
        self.addCleanup(self.made.cleanup)
        self.folder = pathlib.Path(self.made.name)
        (self.folder / "loops.h").write_text("for (;;)\n    first();\nsecond();\nthird();\n")
        self.program = self.folder / "program.sh"
        self.program.write_text("#!/bin/sh\necho '  one  1'\necho two\necho three\n")
        self.program.chmod(0o755)

    def check(self, page):
        (self.folder / "README.md").write_text(page)
        quoted.check(self.folder, self.program)

    def refuses(self, page, words):
        with self.assertRaises(quoted.Broken) as seen:
            self.check(page)
        self.assertIn(words, str(seen.exception))

    def test_lines_of_a_file_and_of_the_output(self):
        self.check("```c\nfor (;;)\n  first();\n```\n```text\none  1\ntwo\n```\n")

    def test_a_line_may_leave_lines_out(self):
        self.check("```c\nfor (;;)\n…\nthird();\n```\n```text\none  1\n…\nthree\n```\n")

    def test_code_that_is_in_no_file(self):
        self.refuses("```cpp\nfirst();\nthird();\n```\n", "no file of the lesson")

    def test_code_in_another_order(self):
        self.refuses("```cpp\nthird();\n…\nfirst();\n```\n", "no file of the lesson")

    def test_output_that_is_not_printed(self):
        self.refuses("```text\none  2\n```\n", "does not print")

    def test_a_lesson_that_fails(self):
        self.program.write_text("#!/bin/sh\necho one\nexit 3\n")
        self.refuses("```text\none\n```\n", "code 3")

    def test_a_lesson_that_fails_without_a_word_on_its_page(self):
        self.program.write_text("#!/bin/sh\nexit 3\n")
        self.refuses("```c\nsecond();\n```\n", "code 3")

    def test_a_lesson_without_a_page(self):
        with self.assertRaises(quoted.Broken):
            quoted.check(self.folder, self.program)


if __name__ == "__main__":
    unittest.main()
