"""check_hardening.py names each protection that a program was built without."""

import pathlib
import platform
import subprocess
import tempfile
import unittest

import check_hardening

SOURCE = """
#include <cstring>
int main(int argc, char** argv) {
  char text[32];
  std::memcpy(text, argv[0], static_cast<unsigned>(argc) * 4);
  return text[argc];
}
"""
# The protection's flags, the same without it, and what is then said.
FLAGS = {
    "pie": (["-fPIE", "-pie"], ["-fno-PIE", "-no-pie"], "position independent"),
    "relro": (["-Wl,-z,relro"], ["-Wl,-z,norelro"], "read-only relocations"),
    "now": (["-Wl,-z,now"], ["-Wl,-z,lazy"], "lazily"),
    "stack": (["-fstack-protector-strong"], ["-fno-stack-protector"], "stack protector"),
    "fortify": (["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"], ["-U_FORTIFY_SOURCE"], "checked copies"),
    "memory": (["-Wl,-z,noexecstack"], ["-Wl,-z,execstack"], "executable stack"),
}
if platform.machine() == "x86_64":
    FLAGS["branches"] = (["-fcf-protection=full"], ["-fcf-protection=none"], "branch tracking")
    FLAGS["ibt"] = (["-Wl,-z,ibt"], [], "marked IBT")
    FLAGS["shstk"] = (["-Wl,-z,shstk"], [], "marked SHSTK")


class HardeningTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def lacks(self, without=""):
        source, program = self.folder / "program.cpp", self.folder / "program"
        source.write_text(SOURCE)
        flags = [flag for name, (on, off, _) in FLAGS.items() for flag in (off if name == without else on)]
        subprocess.run(["g++", "-O2", "-o", program, source, *flags], check=True)
        return list(check_hardening.missing(str(program)))

    def test_a_program_with_all_of_them_passes(self):
        self.assertEqual(self.lacks(), [])

    def test_each_that_is_missing_is_named(self):
        for name, (_, _, words) in FLAGS.items():
            with self.subTest(without=name):
                lacks = self.lacks(name)
                self.assertEqual(len(lacks), 1, lacks)
                self.assertIn(words, lacks[0])


if __name__ == "__main__":
    unittest.main()
