"""Headless browsers from Debian, and what drives them from npm (scripts/browser)."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

from .program import binary

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "browser"


def modules():
    """The folder that scripts/browser fetched; None where it did not."""
    digest = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()[:16]
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = cache / "fairlead/browser" / digest
    return folder if (folder / "node_modules").is_dir() else None


def missing():
    """What a browser test lacks, as a sentence; empty if nothing."""
    if not shutil.which("node"):
        return "no Node.js (scripts/install)"
    if not shutil.which("chromium"):
        return "no Chromium (scripts/install)"
    if not shutil.which("firefox-esr"):
        return "no Firefox (scripts/install)"
    return "" if modules() else "no packages of npm (scripts/browser fetches them)"


def copied(folder):
    """A copy of FOLDER in `folder`, with what scripts/browser fetched: modules are found beside the files that import
    them."""
    tests = folder / "browser"
    if not tests.exists():
        shutil.copytree(FOLDER, tests)
        (tests / "node_modules").symlink_to(modules() / "node_modules")
    return tests


def run(name, browser, folder, pages, only=(), pictures=None, theme="light"):
    """Runs the tests of FOLDER/`name` in `browser`, those called `only` or all, and returns how many passed. `pages` is
    what they find in `servers`; pictures are left in `pictures`, or below FAIRLEAD_PICTURES or `folder`. Firefox has
    this theme throughout."""
    tests = copied(folder)
    pictures = pictures or pathlib.Path(os.environ.get("FAIRLEAD_PICTURES") or folder / "pictures") / browser
    done = subprocess.run(
        ["node", "--test", *(f"--test-name-pattern=^{re.escape(title)}$" for title in only), tests / name],
        capture_output=True, text=True, timeout=600,
        env={**os.environ, "FAIRLEAD": str(binary()), "FAIRLEAD_BROWSER": browser, "FAIRLEAD_PAGES": json.dumps(pages),
             "FAIRLEAD_PICTURES": str(pictures), "FAIRLEAD_THEME": theme})
    assert done.returncode == 0, done.stdout[-30000:] + done.stderr[-2000:]
    assert only or "# skipped 0" in done.stdout, done.stdout[-30000:]
    assert list(pictures.glob("*.png")), "no picture was kept"
    return int(re.search(r"# pass (\d+)", done.stdout).group(1))
