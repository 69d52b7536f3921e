#!/usr/bin/env python3
"""The check of the diagnostic pages must itself refuse: each test breaks one promise of a page that passes."""
import contextlib
import io
import os
import pathlib
import tempfile
import unittest

import check

GOOD = """# Overflow

```cpp
// refused
template <auto> struct need { static constexpr bool fits = false; };
template <char...> struct name;
template <class, class Need> struct room { static_assert(Need::fits, "memory overflow, line 5"); };
room<name<'s', 'p', 'a', 'd'>, need<81920L>> buffers;
```

```text
expect
spad
81920
g++: memory overflow, line 5
line: 5
```

```cpp
// control
static_assert(sizeof(int) == 4);
```
"""


class Pages(unittest.TestCase):
    def verdict(self, page):
        """What the check prints about a page; nothing when it passes."""
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(printed):
            path = pathlib.Path(folder, "page.md")
            path.write_text(page)
            code = check.main([str(path), "--compiler", os.environ.get("CXX", "g++"), "--include", folder])
        self.assertEqual(code == 0, printed.getvalue() == "")
        return printed.getvalue()

    def changed(self, old, new):
        self.assertIn(old, GOOD)
        return self.verdict(GOOD.replace(old, new))

    def test_a_good_page_passes(self):
        self.assertEqual(self.verdict(GOOD), "")

    def test_a_number_that_is_not_shown(self):
        self.assertIn("does not show `81921`", self.changed("\n81920\n", "\n81921\n"))

    def test_a_part_of_a_number_is_not_the_number(self):
        self.assertIn("does not show `8192`", self.changed("\n81920\n", "\n8192\n"))

    def test_a_name_that_is_not_shown(self):
        self.assertIn("does not show `acc`", self.changed("\nspad\n", "\nacc\n"))

    def test_a_common_block_stands_in_front(self):
        common = "```cpp\n// common\ntemplate <auto> struct need { static constexpr bool fits = false; };\n```\n\n"
        page = GOOD.replace("```cpp\n// refused", common + "```cpp\n// refused").replace(
            "// refused\ntemplate <auto> struct need { static constexpr bool fits = false; };\n", "// refused\n")
        self.assertEqual(self.verdict(page), "")
        self.assertIn("redefinition", self.verdict(page.replace("// refused\n", "// refused\ntemplate <auto> struct need {};\n")))

    def test_what_only_the_repeated_source_shows(self):
        self.assertIn("does not show `buffers`", self.changed("\n81920\n", "\nbuffers\n"))

    @unittest.skipIf("clang" in os.environ.get("CXX", ""), "clang does not tell the line")
    def test_a_line_that_is_not_shown(self):
        self.assertIn("does not show `line 6`", self.changed("\nline: 5\n", "\nline: 6\n"))

    @unittest.skipIf("clang" in os.environ.get("CXX", ""), "clang does not spell sentences out")
    def test_a_sentence_that_is_not_shown(self):
        self.assertIn("does not show `memory full, line 5`", self.changed("g++: memory overflow", "g++: memory full"))

    def test_a_misuse_that_compiles(self):
        self.assertIn("the misuse compiles", self.changed("fits = false", "fits = true"))

    def test_a_second_error(self):
        self.assertIn("2 errors", self.changed("buffers;", 'buffers;\nint second = "error";'))

    def test_errors_that_a_compiler_adds(self):
        second = 'buffers;\nint second = "error";'
        alone = '```cpp\n// alone\nint first = "error";\nint second = "error";\n```\n\n```cpp\n// control'
        added = GOOD.replace("buffers;", second).replace("line: 5\n", "line: 5\ng++ adds: invalid conversion\nclang adds: cannot initialize a variable\n")
        page = added.replace("```cpp\n// control", alone)
        self.assertEqual(self.verdict(page), "")
        self.assertIn("and nowhere else", self.verdict(added))
        self.assertIn("and nowhere else", self.changed("```cpp\n// control", alone))
        self.assertIn("1 errors without the library, 2 with it", self.verdict(page.replace('alone\nint first = "error"', "alone\nint first = 1")))
        shown = page.replace(second, "buffers;").replace("adds: invalid conversion", "adds: spad").replace(
            "adds: cannot initialize a variable", "adds: spad")
        self.assertIn("1 errors instead of 2", self.verdict(shown))
        self.assertIn("with the library in it", self.verdict(page.replace("// alone\n", "// alone\n// tilewright\n")))

    def test_a_message_that_is_too_long(self):
        self.assertIn("characters", self.changed("memory overflow", "memory overflow" + " and so on" * 100))

    def test_a_control_that_does_not_compile(self):
        self.assertIn("the control", self.changed("sizeof(int) == 4", "sizeof(int) == 5"))

    def test_a_control_with_a_warning(self):
        self.assertIn("the control", self.changed("static_assert(sizeof(int) == 4);", "void ignore(int unused) {}"))

    def test_every_misuse_of_a_page_counts(self):
        misuse = GOOD.split("```cpp\n// control")[0]
        self.assertEqual(self.verdict(misuse + GOOD), "")
        self.assertIn("does not show `acc`", self.verdict(misuse + GOOD.replace("\nspad\n", "\nacc\n")))

    def test_a_missing_part(self):
        for part in ("// refused", "expect\n", "// control"):
            self.assertNotEqual(self.changed(part, "\n"), "")

    def test_an_empty_expectation(self):
        self.assertIn("without a string", self.changed("spad\n81920\n", ""))


class Completeness(unittest.TestCase):
    def test_verdicts_and_pages_match(self):
        with tempfile.TemporaryDirectory() as folder:
            verdicts = pathlib.Path(folder, "verdict.hpp")
            verdicts.write_text("#define VERDICTS(X) \\\n    X(overflow, ...) \\\n    X(unknown, ...)\n")
            pathlib.Path(folder, "overflow.md").touch()
            with self.assertRaisesRegex(check.Broken, "without a page: \\['unknown'\\]"):
                check.check_complete(pathlib.Path(folder), verdicts)
            pathlib.Path(folder, "unknown.md").touch()
            check.check_complete(pathlib.Path(folder), verdicts)
            pathlib.Path(folder, "other.md").touch()
            with self.assertRaisesRegex(check.Broken, "without a verdict: \\['other'\\]"):
                check.check_complete(pathlib.Path(folder), verdicts)


if __name__ == "__main__":
    unittest.main()
