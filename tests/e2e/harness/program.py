"""The fairlead program under test."""

import json
import os
import pathlib
import re
import subprocess

from . import answers

ANSWERED = (0, 1, 4)
ROOT = pathlib.Path(__file__).resolve().parents[3]


def binary():
    """$FAIRLEAD, else the release build's; None where there is none."""
    path = pathlib.Path(os.environ.get("FAIRLEAD") or ROOT / "build/release/fairlead")
    return path if os.access(path, os.X_OK) else None


def stopping():
    """The same program with stop points (cmake -DFAIRLEAD_STOP_POINTS=ON); None where there is none."""
    path = binary() and binary().with_name("fairlead-stops")
    return path if path and os.access(path, os.X_OK) else None


def stop_points():
    """The names in engine/base/stop_point.h."""
    text = (ROOT / "engine/base/stop_point.h").read_text()
    names = re.findall(r'"(\w+\.\w+)"', re.search(r"kStopPoints\{(.*?)\};", text, re.DOTALL).group(1))
    assert names, "no stop points are listed"
    return names


def fault_shim():
    """The library that makes clock and disk lie (tests/support/fault_shim.cpp); None where there is none."""
    path = binary() and binary().with_name("libfairlead-fault-shim.so")
    return path if path and path.exists() else None


def model_server():
    """The API server model of the same build tree; None where there is none."""
    path = binary() and binary().with_name("tests") / "support/fairlead-model-server"
    return path if path and path.exists() else None


def fairlead(*arguments, stdin=None, timeout=60, env=None, checked=True):
    """Runs it to its end; the finished process with stdout, stderr and returncode. What it answers has to be as
    declared, unless it is not `checked`: a double may have said something else."""
    done = subprocess.run([str(binary()), *map(str, arguments)], input=stdin, capture_output=True, text=True,
                          timeout=timeout, env=env)
    if checked and done.returncode in ANSWERED:
        answers.check_output(arguments, done.stdout)
    return done


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.strip()]
