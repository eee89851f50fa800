"""The commands that README.md and docs/ show print what they say, and what docs/ explains is what there is.

FAIRLEAD_REWRITE=1 writes what they print into the pages; read the diff.
"""

import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

from harness import program

NEEDS = ["fairlead"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def shown_runs(page):
    """(command, output lines) of every block of a page that starts with a prompt, in order."""
    for block in page.read_text().split("```")[1::2]:
        lines = block.strip("\n").split("\n")
        if lines[0].startswith("$ "):
            yield lines[0][2:], lines[1:]


def run(command, folder):
    """The lines that a shown command prints. The only pipe that pages use is into grep."""
    plain, _, filtered = command.partition(" | grep ")
    words = shlex.split(plain)
    assert words[0] == "build/release/fairlead", command
    words[0] = str(program.binary())
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    return [line.rstrip() for line in done.stdout.splitlines() if filtered in line]


def rewrite(page, command, shown, printed):
    """Replaces what the page shows below the command."""
    text = page.read_text()
    before = "\n".join([f"$ {command}", *shown])
    assert text.count(before) >= 1, (page, command)
    page.write_text(text.replace(before, "\n".join([f"$ {command}", *printed]), 1))


class PagesTest(unittest.TestCase):
    def test_the_recorded_terminal_shows_what_the_commands_print(self):
        done = subprocess.run([ROOT / "scripts" / "recording", "--check"], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "FAIRLEAD": str(program.binary())}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_shown_command_prints_what_is_shown(self):
        shown = 0
        for page in PAGES:
            # A page is read from the top, so what one command leaves is there for the next.
            with tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "docs").symlink_to(ROOT / "docs")
                for command, expected in shown_runs(page):
                    with self.subTest(page=page.name, command=command):
                        printed = run(command, folder)
                        if os.environ.get("FAIRLEAD_REWRITE"):
                            rewrite(page, command, expected, printed)
                            continue
                        self.assertEqual(printed, [line.rstrip() for line in expected])
                    shown += 1
        if not os.environ.get("FAIRLEAD_REWRITE"):
            self.assertGreaterEqual(shown, 8)

    def test_every_metric_is_explained(self):
        source = "".join((ROOT / "engine/runtime" / name).read_text() for name in ("metrics.cpp", "queue_use_text.cpp"))
        names = set(re.findall(r'"((?:[a-z]+_)+[a-z]+)"', source)) - {"call_status"}
        self.assertGreater(len(names), 20)
        page = (ROOT / "docs/signals.md").read_text()
        self.assertEqual([name for name in sorted(names) if name not in page], [])

    def test_every_command_is_in_the_readme(self):
        listed = subprocess.run([program.binary(), "--help"], capture_output=True, text=True, check=True).stdout
        commands = re.findall(r"^  ([a-z]+) {2,}", listed.split("Subcommands:")[1], re.MULTILINE)
        self.assertGreater(len(commands), 5)
        readme = (ROOT / "README.md").read_text()
        self.assertEqual([name for name in commands if f"`fairlead {name}" not in readme], [])

    def test_the_table_of_sizes_is_what_the_bench_gave(self):
        done = subprocess.run([ROOT / "scripts/sizing", "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_links_between_pages_lead_somewhere(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
                self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")


if __name__ == "__main__":
    unittest.main()
