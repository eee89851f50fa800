#!/usr/bin/env python3
"""The table of mutants fits the tree; each fault of a table is found, and a look-alike is none."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import mutants  # noqa: E402

SOURCE = "int a() {\n  return 1;\n}\nint b() {\n  return 2;\n}\n"


def record(name="fold/a", old="  return 1;", new="  return MUTANT ? 2 : 1;", caught_by="a_check"):
    return mutants.Mutant(f"{name}\nwhat it breaks\ncaught by: {caught_by}\nx.cpp\n- {old}\n+ {new}")


class MutantsTest(unittest.TestCase):
    def faults(self, *records):
        found = mutants.faults(list(records), lambda file: SOURCE)
        return [fault for fault in found if not fault.endswith("are wanted")]

    def test_the_table_fits_the_tree(self):
        table = mutants.table()
        self.assertEqual(mutants.faults(table), [])
        storms = {path.stem for path in mutants.STORMS.glob("*.storm")}
        # These see nothing yet that no other one sees.
        known = set(mutants.checkers()) - {
            "converges", "derived_anew", "nothing_lost", "quotas_at_rest", "replicas_agree", "secrets_nowhere",
            "snapshot_and_tail", "stale_epoch", "sums_within_bound", "valid_for_kueue", "within_capacity"}
        found = mutants.faults_of_checks(table, mutants.checkers(), storms)
        self.assertEqual([fault for fault in found if fault.partition(":")[0] in known or "there is no" in fault], [])
        self.assertGreaterEqual(len(mutants.first_of_each_family(table)), 4)

    def test_the_results_are_of_the_table(self):
        table, rows = mutants.table(), mutants.rows_of(mutants.RESULTS.read_text())
        said = {mutant.name: mutant.check for mutant in table}
        self.assertEqual({name: row[0] for name, row in rows.items()}, {name: said.get(name) for name in rows})

    def test_checks_that_are_not_there(self):
        known, storms = ["a_check"], {"a_storm"}
        of = lambda caught_by: mutants.faults_of_checks([record(caught_by=caught_by)], known, storms)  # noqa: E731
        self.assertEqual(of("only a_check in a_storm"), [])
        self.assertIn("no mutant that only it catches", of("a_check")[0])
        self.assertIn("there is no check", of("another")[0])
        self.assertIn("there is no storm", of("only a_check in calm")[0])

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
            mutants.Mutant("fold/a\nwhat\ncaught by: a_check\nx.cpp\n- old")
        with self.assertRaises(AssertionError):
            record(caught_by="more than a check")


if __name__ == "__main__":
    unittest.main()
