"""A headless browser from Debian, and what drives it from npm (scripts/browser)."""

import hashlib
import os
import pathlib
import shutil

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
    return "" if modules() else "no packages of npm (scripts/browser fetches them)"
