"""The commands that README.md shows print what README.md says."""

import pathlib
import shlex
import subprocess
import unittest

from harness import program

NEEDS = ["fairlead"]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def shown_runs():
    """(command, output lines) of every block of README.md that starts with a prompt."""
    for block in (ROOT / "README.md").read_text().split("```")[1::2]:
        lines = block.strip("\n").split("\n")
        if lines[0].startswith("$ "):
            yield lines[0][2:], lines[1:]


class ReadmeTest(unittest.TestCase):
    def test_each_shown_command_prints_what_is_shown(self):
        runs = list(shown_runs())
        self.assertGreaterEqual(len(runs), 2)
        for command, expected in runs:
            plan, _, filtered = command.partition(" | grep ")
            words = shlex.split(plan)
            self.assertEqual(words[0], "build/release/fairlead")
            words[0] = str(program.binary())
            done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
            printed = [line for line in done.stdout.splitlines() if filtered in line]
            self.assertEqual(printed, expected)


if __name__ == "__main__":
    unittest.main()
