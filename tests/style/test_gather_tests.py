"""scripts/gather_tests.py: what it takes over of other build trees, and what it leaves."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/gather_tests.py"
_spec = importlib.util.spec_from_file_location("gather_tests", SCRIPT)
gather = importlib.util.module_from_spec(_spec)
sys.dont_write_bytecode = True
_spec.loader.exec_module(gather)

TOP = """# CMake generated Testfile
add_test(plain "/bin/true" "an \\"argument\\"")
set_tests_properties(plain PROPERTIES  WORKING_DIRECTORY "/tmp" _BACKTRACE_TRIPLES "a;1;b;")
add_test([=[with space]=] "/bin/true")
set_tests_properties([=[with space]=] PROPERTIES  LABELS "threaded;slow")
subdirs("below")
"""
BELOW = """add_test(deep "/bin/false")
set_tests_properties(deep PROPERTIES  LABELS "e2e")
"""


class GatherTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.build = self.folder / "build"
        (self.build / "below").mkdir(parents=True)
        (self.build / "CTestTestfile.cmake").write_text(TOP)
        (self.build / "below/CTestTestfile.cmake").write_text(BELOW)

    def names(self, only="", without=""):
        return [name for name, _, _ in gather.chosen(gather.tests_of(self.build), only, without)]

    def test_labels_choose(self):
        self.assertEqual(self.names(), ["plain", "with space", "deep"])
        self.assertEqual(self.names(only="threaded"), ["with space"])
        self.assertEqual(self.names(without="e2e style"), ["plain", "with space"])

    def test_what_a_command_names_is_built_also_where_it_is_the_value_of_a_variable(self):
        (self.build / "build.ninja").write_text("rule make\n command = true\nbuild named: make\nbuild value: make\n"
                                                "build other: make\n")
        (self.build / "below/CTestTestfile.cmake").write_text(
            f'add_test(deep "env" "PROGRAM={self.build}/value" "{self.build}/named" "{self.build}/unknown")\n')
        self.assertEqual(gather.targets(self.build, gather.tests_of(self.build)), ["named", "value"])

    def test_ctest_runs_what_was_gathered_and_its_exit_code_speaks_for_all(self):
        out = self.folder / "all"
        for command in (["begin"], ["add", "one/", "--without", "e2e"], ["add", "two/", "--only", "e2e"]):
            words = [command[0], out, *command[1:2], *([self.build] if len(command) > 1 else []), *command[2:]]
            subprocess.run([sys.executable, SCRIPT, *map(str, words)], check=True, capture_output=True)
        text = (out / "CTestTestfile.cmake").read_text()
        self.assertIn("set_tests_properties([==[one/plain]==] PROPERTIES PROCESSORS 2 ", text)
        self.assertIn("set_tests_properties([==[two/deep]==] PROPERTIES PROCESSORS 1 ", text)
        done = subprocess.run(["ctest", "--test-dir", str(out)], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("1 tests failed out of 3", done.stdout)
        for line in ("one/plain ...", "one/with space ...", "two/deep ..."):
            self.assertIn(line, done.stdout)


if __name__ == "__main__":
    unittest.main()
