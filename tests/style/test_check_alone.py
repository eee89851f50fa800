"""check_alone.py compiles a file again when anything that it reads has changed, and only then."""

import os
import pathlib
import tempfile
import unittest
from unittest import mock

import check_alone
import tree

FLAGS = ["g++", "-std=c++20"]


class AloneTest(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.root, self.build = folder / "tree", folder / "tree" / "build"
        self.enterContext(mock.patch.object(tree, "ROOT", self.root))
        self.enterContext(mock.patch.dict(os.environ, XDG_CACHE_HOME=str(folder / "cache")))
        self.write("a.h", '#include "b.h"\nint a();\n')
        self.write("b.h", '#include "build/made.h"\n#include "made.h"\n#include <vector>\n')
        self.write("other.h", "int other();\n")
        self.write("build/made.h", "int made();\n")

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def digest(self, path="a.h", flags=FLAGS):
        return check_alone.Inputs(self.build).digest(path, flags)

    def test_what_is_read_is_in_the_digest(self):
        before = self.digest()
        self.assertEqual(self.digest(), before)
        self.assertNotEqual(self.digest(flags=[*FLAGS, "-O2"]), before)
        for name in ("a.h", "b.h", "build/made.h"):
            with self.subTest(name):
                text = (self.root / name).read_text()
                self.write(name, text + "int more();\n")
                self.assertNotEqual(self.digest(), before)
                self.write(name, text)
                self.assertEqual(self.digest(), before)

    def test_what_is_not_read_is_not(self):
        before = self.digest()
        self.write("other.h", "int changed();\n")
        self.assertEqual(self.digest(), before)

    def test_the_place_of_the_tree_is_not(self):
        here = self.digest(flags=[*FLAGS, f"-I{self.build}"])
        moved = self.root.with_name("moved")
        self.root.rename(moved)
        with mock.patch.object(tree, "ROOT", moved):
            there = check_alone.Inputs(moved / "build").digest("a.h", [*FLAGS, f"-I{moved / 'build'}"])
        self.assertEqual(there, here)

    def test_only_what_compiled_is_remembered_and_not_for_ever(self):
        remembered = check_alone.Remembered()
        self.assertFalse(remembered.has("one"))
        remembered.add("one")
        self.assertTrue(check_alone.Remembered().has("one"))
        os.utime(remembered.folder / "one", (0, 0))
        self.assertFalse(check_alone.Remembered().has("one"))

    def test_a_draw_is_by_what_a_file_reads(self):
        self.assertTrue(check_alone.is_drawn(self.digest(), 1))
        drawn = set()
        for i in range(64):
            self.write("b.h", f"int number_{i}();\n")
            drawn.add(check_alone.is_drawn(self.digest(), 4))
        self.assertEqual(drawn, {False, True})

    def test_what_lacks_an_include_does_not_compile_alone(self):
        self.write("short.h", "inline std::vector<int> none() { return {}; }\n")
        self.assertIn("std", check_alone.compile_alone("short.h", FLAGS))
        self.write("whole.h", "#include <vector>\ninline std::vector<int> none() { return {}; }\n")
        self.assertEqual(check_alone.compile_alone("whole.h", FLAGS), "")


if __name__ == "__main__":
    unittest.main()
