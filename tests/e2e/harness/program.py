"""The fairlead program under test."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]


def binary():
    """$FAIRLEAD, else the release build's; None where there is none."""
    path = pathlib.Path(os.environ.get("FAIRLEAD") or ROOT / "build/release/fairlead")
    return path if os.access(path, os.X_OK) else None


def fairlead(*arguments, stdin=None, timeout=60, env=None):
    """Runs it to its end; the finished process with stdout, stderr and returncode."""
    return subprocess.run([str(binary()), *map(str, arguments)], input=stdin, capture_output=True, text=True,
                          timeout=timeout, env=env)


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.strip()]
