"""Selectors in CEL against the library that Kubernetes evaluates them with (tests/e2e/controlplane/cel).

Random expressions on random devices, and the tables of the unit tests. What is known to differ is not made by the one
(cel_expressions.py says why) and marked in the others, where the comment above it says why; the marks are
checked, too. What the library's checker refuses no API server hands on, so it is not compared.

FAIRLEAD_CEL_SEEDS=0..50000 makes more cases.
"""
import json
import os
import pathlib
import subprocess
import unittest

from cel_expressions import Expressions
from harness import controlplane

NEEDS = ("cel-oracle",)

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = ROOT / "tests/unit/devices/cel"
SEEDS = "0..3000"
KINDS = {"i": "int", "b": "bool", "s": "string", "v": "version"}


def answers(program, cases):
    """What a program says of each case."""
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    run = subprocess.run([str(program)], input=lines, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{program}: {run.stderr[-2000:]}"
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(found) == len(cases), f"{program}: {len(found)} answers to {len(cases)} cases"
    return found


def verdict(answer):
    """yes, no, error, or what an expression is called that is not evaluated."""
    if "result" in answer:
        return "yes" if answer["result"] else "no"
    return next(iter(answer))


def attribute(text):
    kind, value = KINDS.get(text[0], "none"), text[1:]
    if kind == "none":
        return {}
    if kind == "int":
        # One that has no 64 bits cannot be handed over; the library refuses the device in any case.
        return {kind: int(value)} if abs(int(value)) < 2 ** 63 or int(value) == -2 ** 63 else {}
    return {kind: value == "true" if kind == "bool" else value}


def cases_of(path):
    """(line, verdict, last character of it: the mark if it has one, case) of each expectation of a table."""
    device = {"driver": ""}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith(("#", "  ")):
            continue
        word, _, rest = line.partition(" ")
        name, _, value = rest.partition(" ")
        if word == "device":
            device = {"driver": "", "attributes": {}, "capacity": {}}
        elif word == "driver":
            device["driver"] = rest
        elif word in ("attribute", "capacity"):
            group = "attributes" if word == "attribute" else word
            device[group][name] = attribute(value) if word == "attribute" else value
        elif word == "shared":
            device["allowMultipleAllocations"] = True
        else:
            yield number, word.rstrip("*~"), word[-1], {**device, "expression": rest}


class Cel(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.ours = os.environ["FAIRLEAD_CEL_SELECTOR"]
        cls.theirs = controlplane.oracle("cel-oracle")

    def test_random_expressions(self):
        low, _, high = os.environ.get("FAIRLEAD_CEL_SEEDS", SEEDS).partition("..")
        cases = [Expressions(seed).case() for seed in range(int(low), int(high))]
        compared, differ = 0, []
        for case, ours, theirs in zip(cases, answers(self.ours, cases), answers(self.theirs, cases)):
            if verdict(theirs) == "compile_error":
                continue
            compared += 1
            if verdict(ours) != verdict(theirs):
                differ.append((len(case["expression"]), case, ours, theirs))
        self.assertEqual([], [one[1:] for one in sorted(differ, key=lambda one: one[0])[:3]], f"{len(differ)} differ")
        self.assertGreater(compared, len(cases) * 0.8, "most cases pass the checker")

    def test_the_tables(self):
        rows = [(f"{path.name}:{number}", word, mark, case) for path in sorted(TABLES.glob("*.txt"))
                for number, word, mark, case in cases_of(path)]
        compared = 0
        for (place, word, mark, case), theirs in zip(rows, answers(self.theirs, [row[3] for row in rows])):
            with self.subTest(place=place, expression=case["expression"], theirs=theirs):
                if word == "unsupported" or verdict(theirs) == "compile_error":
                    self.assertNotIn(mark, "*~", "there is nothing to differ from")
                elif mark != "~":
                    compared += 1
                    self.assertEqual(verdict(theirs) != word, mark == "*")
        self.assertGreater(compared, 400)
