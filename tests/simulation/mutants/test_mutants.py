#!/usr/bin/env python3
"""The table of mutants fits the tree; each fault of a table is found, and a look-alike is none."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import mutants  # noqa: E402

SOURCE = "int a() {\n  return 1;\n}\nint b() {\n  return 2;\n}\n"


def record(name="fold/a", old="  return 1;", new="  return MUTANT ? 2 : 1;"):
    return mutants.Mutant(f"{name}\nwhat it breaks\ncaught by: a check\nx.cpp\n- {old}\n+ {new}")


class MutantsTest(unittest.TestCase):
    def faults(self, *records):
        found = mutants.faults(list(records), lambda file: SOURCE)
        return [fault for fault in found if not fault.endswith("are wanted")]

    def test_the_table_fits_the_tree(self):
        table = mutants.table()
        self.assertEqual(mutants.faults(table), [])
        self.assertGreaterEqual(len(mutants.first_of_each_family(table)), 4)

    def test_breaches(self):
        self.assertEqual(self.faults(record(), record("fold/b", "  return 2;")), [])
        self.assertIn("twice", self.faults(record(), record())[0])
        self.assertIn("occurs 2 times", self.faults(record(old="  return"))[0])
        self.assertIn("occurs 0 times", self.faults(record(old="  return 3;"))[0])
        self.assertIn("does not say MUTANT", self.faults(record(new="  return 2;"))[0])
        self.assertIn("overlaps fold/a", self.faults(record(), record("fold/b", "return 1;\n- }"))[0])

    def test_a_short_table(self):
        self.assertIn("are wanted", mutants.faults([record()], lambda file: SOURCE)[0])

    def test_a_record_is_whole(self):
        with self.assertRaises(AssertionError):
            mutants.Mutant("fold/a\nwhat\ncaught by: a check\nx.cpp\n- old")


if __name__ == "__main__":
    unittest.main()
