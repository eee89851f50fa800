#!/usr/bin/env python3
"""Broken builds of the engine: whether the simulation catches each.

    mutants.py check                   every old text occurs once, no two overlap, each family has one
    mutants.py overlay OUT FILE...     writes FILE... with all mutants in them below OUT, and OUT/mutants.cpp
    mutants.py files [--first]         the files that have mutants
    mutants.py run BUILD [--first] [--only NAME] [--seeds N] [--hours H]   tries each, and prints the table

The table is mutants.txt, which says how it is read. All mutants are in one build (cmake -DFAIRLEAD_MUTANTS=ON), whose
programs take the name of one in FAIRLEAD_MUTANT; without it they are not broken. Sources of the tree never change.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
MUTANTS_MIN = 50
SIMULATOR = "fairlead-sim"
# A run that takes longer is one that does not end, which is caught, too.
SECONDS_MAX = 120
# Behind the seeds: what else tries the engine, with its arguments.
OTHER_CHECKS = [(f"simulation/{part}", f"tests/simulation/{part}/test-simulation-{part}", [])
                for part in ("bounded", "disk")]
OTHER_CHECKS += [(f"unit/{area}", f"tests/unit/{area}/test-unit-{area}", [])
                 for area in ("core", "apply", "ingest", "fold", "plan", "replicated", "ring", "runtime", "log")]
OTHER_CHECKS.append(("scenarios", "tests/scenarios/test-scenarios", []))


class Mutant:
    """One record of the table."""

    def __init__(self, text):
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        self.name, self.breaks, caught_by, self.file = lines[:4]
        self.caught_by = caught_by.removeprefix("caught by: ")
        self.old = "\n".join(line[2:] for line in lines[4:] if line.startswith("- "))
        self.new = "\n".join(line[2:] for line in lines[4:] if line.startswith("+ "))
        assert caught_by != self.caught_by and self.old and self.new, f"{self.name}: no such record"

    @property
    def family(self):
        return self.name.partition("/")[0]


def table():
    records = re.split(r"\n{2,}", (HERE / "mutants.txt").read_text().strip())
    return [Mutant(record) for record in records if not all(line.startswith("#") for line in record.splitlines())]


def first_of_each_family(mutants):
    chosen = {}
    for mutant in mutants:
        chosen.setdefault(mutant.family, mutant)
    return list(chosen.values())


def faults(mutants, read=lambda file: (ROOT / file).read_text()):
    """What is wrong with the table, a line each."""
    found, places = [], {}
    names = [mutant.name for mutant in mutants]
    found += [f"{name}: twice" for name in sorted(set(names)) if names.count(name) > 1]
    if len(mutants) < MUTANTS_MIN:
        found.append(f"{len(mutants)} mutants, {MUTANTS_MIN} are wanted")
    for mutant in mutants:
        text = read(mutant.file)
        if (count := text.count(mutant.old)) != 1:
            found.append(f"{mutant.name}: its old text occurs {count} times in {mutant.file}")
            continue
        if "MUTANT" not in mutant.new:
            found.append(f"{mutant.name}: its new text does not say MUTANT")
        begin = text.index(mutant.old)
        end = begin + len(mutant.old)
        for other, (file, its_begin, its_end) in places.items():
            if file == mutant.file and begin < its_end and its_begin < end:
                found.append(f"{mutant.name}: overlaps {other}")
        places[mutant.name] = (mutant.file, begin, end)
    return found


def mutated(file, mutants):
    """The text of a source with all its mutants, its lines numbered as they are in the tree."""
    text = (ROOT / file).read_text()
    for number, mutant in enumerate(mutants, 1):
        if mutant.file != file:
            continue
        before, _, after = text.partition(mutant.old)
        text = before + mutant.new.replace("MUTANT", f"(fairlead::chosen_mutant == {number})") + after
    return f"namespace fairlead {{ extern const int chosen_mutant; }}\n#line 1 \"{ROOT / file}\"\n{text}"


def write_if_changed(path, text):
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def overlay(out, files):
    mutants = table()
    if wrong := faults(mutants):
        sys.exit("\n".join(wrong))
    for file in files:
        write_if_changed(out / file, mutated(file, mutants))
    names = "".join(f'  if (name == "{mutant.name}") return {number};\n' for number, mutant in enumerate(mutants, 1))
    write_if_changed(out / "mutants.cpp", f"""#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace fairlead {{
namespace {{
int mutant_of_environment() {{
  const char* chosen = std::getenv("FAIRLEAD_MUTANT");
  if (chosen == nullptr || *chosen == '\\0') return 0;
  const std::string_view name(chosen);
{names}  std::fprintf(stderr, "no such mutant: %s\\n", chosen);
  std::abort();
}}
}}  // namespace
extern const int chosen_mutant;
const int chosen_mutant = mutant_of_environment();
}}  // namespace fairlead
""")


class Check:
    """A program that catches a mutant by its exit code: of the simulator, what it prints names the checker."""

    def __init__(self, name, command):
        self.name = name
        self.command = command

    def run(self, mutant):
        """Whether it failed, and what it printed last."""
        environment = {**os.environ, "FAIRLEAD_MUTANT": mutant}
        try:
            done = subprocess.run(self.command, cwd=ROOT, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS_MAX,
                                  check=False)
        except subprocess.TimeoutExpired:
            return True, "it does not end"
        return done.returncode != 0, done.stdout


def checks(build, simulator, seeds, hours):
    """What is tried in turn. A run of the simulator takes one seed, so that it is known how many were needed."""
    for seed in range(1, seeds + 1):
        yield Check(f"seed {seed}", [simulator, "--seed", str(seed), "--hours", str(hours), "--quiet"])
    for name, program, arguments in OTHER_CHECKS if simulator.name == SIMULATOR else []:
        if (build / program).exists():
            yield Check(name, [build / program, *arguments])


def checker_in(output):
    """The checker that a failed run of the simulator names; else why it ended."""
    named = re.search(r"^FAILED (\S+) at ", output, re.MULTILINE) or re.search(r"bug: (.{1,40})", output)
    return named.group(1) if named else output.strip()[-40:] or "it ended"


def run(mutants, all_checks):
    """Tries each; the rows of the table: mutant, what caught it, in which check, and the seconds that took."""
    # What fails without a mutant catches none.
    tried = []
    for check in all_checks:
        if check.run("")[0]:
            print(f"{check.name} fails without a mutant: left out", flush=True)
        else:
            tried.append(check)
    rows = []
    for mutant in mutants:
        began, caught = time.monotonic(), ""
        for number, check in enumerate(tried, 1):
            failed, output = check.run(mutant.name)
            if failed:
                of_seed = check.name.startswith("seed")
                caught = f"{checker_in(output)}, {number} seeds" if of_seed else check.name
                break
        rows.append((mutant, caught, time.monotonic() - began))
        print(f"| {mutant.name} | {mutant.breaks} | {caught or 'NOTHING'} | {rows[-1][2]:.0f} |", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    files = commands.add_parser("files")
    copies = commands.add_parser("overlay")
    copies.add_argument("out", type=pathlib.Path)
    copies.add_argument("file", nargs="*")
    tries = commands.add_parser("run")
    tries.add_argument("build", type=pathlib.Path)
    tries.add_argument("--only", action="append", default=[], help="names that contain this")
    tries.add_argument("--simulator", type=pathlib.Path, help="one that has some of the mutants, and is tried alone")
    tries.add_argument("--seeds", type=int, default=50)
    tries.add_argument("--hours", type=int, default=2, help="of virtual time until faults heal, for each seed")
    tries.add_argument("--least", type=float, default=95, help="percent that must be caught")
    for each in (files, tries):
        each.add_argument("--first", action="store_true", help="of each family the first")
    arguments = parser.parse_args()

    mutants = table()
    if getattr(arguments, "first", False):
        mutants = first_of_each_family(mutants)
    if arguments.command == "check":
        if wrong := faults(mutants):
            sys.exit("\n".join(wrong))
    elif arguments.command == "files":
        print("\n".join(sorted({mutant.file for mutant in mutants})))
    elif arguments.command == "overlay":
        overlay(arguments.out.resolve(), arguments.file)
    else:
        chosen = [mutant for mutant in mutants if not arguments.only or
                  any(part in mutant.name for part in arguments.only)]
        build = arguments.build.resolve()
        simulator = arguments.simulator or build / "tests/simulation" / SIMULATOR
        rows = run(chosen, checks(build, simulator, arguments.seeds, arguments.hours))
        caught = sum(1 for row in rows if row[1])
        print(f"{caught} of {len(rows)} mutants were caught")
        if caught * 100 < arguments.least * len(rows):
            sys.exit(1)


if __name__ == "__main__":
    main()
