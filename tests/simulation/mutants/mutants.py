#!/usr/bin/env python3
"""Broken builds of the engine: whether the simulation catches each.

    mutants.py check                   every old text occurs once, no two overlap, each checker has one of its own
    mutants.py overlay OUT FILE...     writes FILE... with all mutants in them below OUT, and OUT/mutants.cpp
    mutants.py files [--first]         the files that have mutants
    mutants.py run BUILD [--first] [--only NAME] [--seeds N] [--table]   tries each, and prints what catches it

The table is mutants.txt, which says how it is read; --table writes what was found into results.md. All mutants are in
one build (cmake -DFAIRLEAD_MUTANTS=ON), whose programs take the name of one in FAIRLEAD_MUTANT; without it they are
not broken. Sources of the tree never change.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CHECKERS = HERE.parent / "checkers"
STORMS = HERE / "storms"
RESULTS = HERE / "results.md"
MUTANTS_MIN = 50
SIMULATOR = "fairlead-sim"
# A run that takes longer is one that does not end, which is caught, too.
SECONDS_MAX = 300
# What else tries the engine, as it is called in the table.
OTHER_CHECKS = {f"simulation/{part}": f"tests/simulation/{part}/test-simulation-{part}" for part in ("bounded", "disk")}
OTHER_CHECKS |= {f"unit/{area}": f"tests/unit/{area}/test-unit-{area}"
                 for area in ("core", "apply", "ingest", "fold", "plan", "kube", "log", "replicated", "ring",
                              "runtime")}
OTHER_CHECKS["scenarios"] = "tests/scenarios/test-scenarios"


class Mutant:
    """One record of the table."""

    def __init__(self, text):
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        self.name, self.breaks, caught_by, self.file = lines[:4]
        said = re.fullmatch(r"caught by: (only )?(\S+)(?: in (\S+))?", caught_by)
        assert said, f"{self.name}: expected caught by: [only] CHECK [in STORM]"
        # Of the checkers of the simulator no other one catches it, in as many seeds.
        self.only = said[1] is not None
        self.check, self.storm = said[2], said[3]
        self.old = "\n".join(line[2:] for line in lines[4:] if line.startswith("- "))
        self.new = "\n".join(line[2:] for line in lines[4:] if line.startswith("+ "))
        assert self.old and self.new, f"{self.name}: no such record"

    @property
    def family(self):
        return self.name.partition("/")[0]

    @property
    def number(self):
        # Of the name, so that another mutant changes only the source that it is in.
        return zlib.crc32(self.name.encode()) >> 1


def table():
    records = re.split(r"\n{2,}", (HERE / "mutants.txt").read_text().strip())
    return [Mutant(record) for record in records if not all(line.startswith("#") for line in record.splitlines())]


def first_of_each_family(mutants):
    chosen = {}
    for mutant in mutants:
        chosen.setdefault(mutant.family, mutant)
    return list(chosen.values())


def checkers():
    """The names of the simulator's checkers."""
    return re.findall(r"unique_ptr<Checker> (\w+)\(const World", (CHECKERS / "all.h").read_text())


def faults(mutants, read=lambda file: (ROOT / file).read_text()):
    """What is wrong with the table, a line each."""
    found, places = [], {}
    names = [mutant.name for mutant in mutants]
    found += [f"{name}: twice" for name in sorted(set(names)) if names.count(name) > 1]
    if len({mutant.number for mutant in mutants}) < len(set(names)):
        found.append("two names have one number")
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


def faults_of_checks(mutants, known, storms):
    """What is wrong with the checks that the table names. Each of the `known` checkers must be needed."""
    found = []
    for mutant in mutants:
        if mutant.check not in known and mutant.check not in OTHER_CHECKS:
            found.append(f"{mutant.name}: there is no check {mutant.check}")
        if mutant.storm is not None and mutant.storm not in storms:
            found.append(f"{mutant.name}: there is no storm {mutant.storm}")
    alone = {mutant.check for mutant in mutants if mutant.only}
    return found + [f"{checker}: no mutant that only it catches" for checker in known if checker not in alone]


def mutated(file, mutants):
    """The text of a source with all its mutants, its lines numbered as they are in the tree."""
    text = (ROOT / file).read_text()
    for mutant in mutants:
        if mutant.file != file:
            continue
        before, _, after = text.partition(mutant.old)
        text = before + mutant.new.replace("MUTANT", f"(fairlead::chosen_mutant == {mutant.number})") + after
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
    names = "".join(f'  if (name == "{mutant.name}") return {mutant.number};\n' for mutant in mutants)
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


def checker_in(output):
    """The checker that a failed run of the simulator names; else why it ended."""
    named = re.search(r"^FAILED (\S+) at ", output, re.MULTILINE) or re.search(r"bug: (.{1,40})", output)
    return named.group(1) if named else output.strip()[-40:] or "it ended"


class Checks:
    """What tries the engine: runs of the simulator by storm and seed, and other programs of the tests."""

    def __init__(self, build, simulator, scratch):
        self.build = build
        self.simulator = simulator or build / "tests/simulation" / SIMULATOR
        self.scratch = scratch
        self.sound = {}  # by command: whether it passes without a mutant

    def of_seed(self, storm, seed):
        """The command of a run; storm None: the one that the seed makes, of an hour."""
        if storm is None:
            return [self.simulator, "--seed", str(seed), "--hours", "1", "--quiet"]
        file = self.scratch / f"{storm}-{seed}.storm"
        text = (STORMS / f"{storm}.storm").read_text()
        write_if_changed(file, re.sub(r"^seed .*$", f"seed {seed}", text, flags=re.MULTILINE))
        return [self.simulator, "--scenario", file, "--quiet"]

    def fails(self, command, mutant):
        """Why the command fails with this mutant; None where it passes, or fails without any, too."""
        failed = self.run(command, mutant)
        if failed is None:
            return None
        key = tuple(map(str, command))
        if key not in self.sound:
            self.sound[key] = self.run(command, "") is None
            if not self.sound[key]:
                print(f"fails without a mutant: {' '.join(key)}", flush=True)
        return failed if self.sound[key] else None

    @staticmethod
    def run(command, mutant):
        try:
            done = subprocess.run(command, cwd=ROOT, env={**os.environ, "FAIRLEAD_MUTANT": mutant},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                  timeout=SECONDS_MAX, check=False)
        except subprocess.TimeoutExpired:
            return "it does not end"
        return done.stdout if done.returncode != 0 else None


class Catch:
    """What caught a mutant."""

    def __init__(self, check, storm=None, seeds=None, others=()):
        self.check, self.storm, self.seeds, self.others = check, storm, seeds, others

    def cells(self):
        where = "" if self.seeds is None else self.storm or "seeds"
        return f"{self.check} | {where} | {'' if self.seeds is None else self.seeds}"


def by_seeds(mutant, storm, seeds, checks):
    for seed in range(1, seeds + 1):
        failed = checks.fails(checks.of_seed(storm, seed), mutant.name)
        if failed is None:
            continue
        check = checker_in(failed)
        others = []
        if mutant.only and check == mutant.check:
            # What the same seeds show without that checker.
            left = [checks.fails([*checks.of_seed(storm, tried), "--without", check], mutant.name)
                    for tried in range(1, seed + 1)]
            others = sorted({checker_in(failure) for failure in left if failure is not None})
        return Catch(check, storm, seed, others)
    return None


def by_program(mutant, name, checks):
    program = checks.build / OTHER_CHECKS[name]
    if not program.exists():
        return None
    return Catch(name) if checks.fails([program], mutant.name) is not None else None


def caught(mutant, seeds, checks, programs):
    """Tries first what the table says, then all else. Returns None where nothing catches the mutant."""
    tried = OTHER_CHECKS if programs else {}
    if mutant.check in tried:
        found = by_program(mutant, mutant.check, checks)
    else:
        found = by_seeds(mutant, mutant.storm, seeds, checks)
    for storm in [None, *sorted(path.stem for path in STORMS.glob("*.storm"))]:
        if found is None and (storm != mutant.storm or mutant.check in OTHER_CHECKS):
            found = by_seeds(mutant, storm, seeds, checks)
    for name in tried:
        if found is None and name != mutant.check:
            found = by_program(mutant, name, checks)
    return found


def run(mutants, seeds, checks, programs):
    """Tries each; a catch or None by the mutant's name."""
    catches = {}
    for mutant in mutants:
        began = time.monotonic()
        catch = catches[mutant.name] = caught(mutant, seeds, checks, programs)
        note = ""
        if catch is not None and (catch.check, catch.storm) != (mutant.check, mutant.storm):
            note = f" (said: {mutant.check} in {mutant.storm})"
        if catch is not None and catch.others:
            note += f" (also {', '.join(catch.others)})"
        cells = "NOTHING | |" if catch is None else catch.cells()
        print(f"| {mutant.name} | {cells} | {time.monotonic() - began:.0f} s{note}", flush=True)
    return catches


def rows_of(text):
    """The rows of results.md by mutant: check, storm, seeds."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return {row[0]: tuple(row[1:]) for row in rows if len(row) == 4 and "/" in row[0]}


def write_results(mutants, catches):
    """Puts what was found into results.md, where rows of mutants that were not tried stay."""
    old = RESULTS.read_text() if RESULTS.exists() else ""
    rows = rows_of(old)
    for name, catch in catches.items():
        rows[name] = ("NOTHING", "", "") if catch is None else tuple(cell.strip() for cell in catch.cells().split("|"))
    lines = ["# What catches each mutant", "",
             "Written by `mutants.py run BUILD --table`; README.md says how it is read.", "",
             "| mutant | caught by | in storm | seeds needed |", "|---|---|---|---|"]
    lines += [f"| {mutant.name} | {' | '.join(rows[mutant.name])} |" for mutant in mutants if mutant.name in rows]
    lines += ["", "What only one checker of the simulator sees:", "", "| checker | mutant |", "|---|---|"]
    lines += sorted(f"| {mutant.check} | {mutant.name} |" for mutant in mutants if mutant.only)
    RESULTS.write_text("\n".join(lines) + "\n")


def arguments_of_command():
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
    tries.add_argument("--seeds", type=int, default=20, help="of each storm")
    tries.add_argument("--least", type=float, default=95, help="percent that must be caught")
    tries.add_argument("--table", action="store_true", help="write what was found into results.md")
    for each in (files, tries):
        each.add_argument("--first", action="store_true", help="of each family the first")
    return parser.parse_args()


def main():
    arguments = arguments_of_command()
    mutants = every = table()
    if getattr(arguments, "first", False):
        mutants = first_of_each_family(mutants)
    if arguments.command == "check":
        storms = {path.stem for path in STORMS.glob("*.storm")}
        if wrong := faults(mutants) + faults_of_checks(mutants, checkers(), storms):
            sys.exit("\n".join(wrong))
    elif arguments.command == "files":
        print("\n".join(sorted({mutant.file for mutant in mutants})))
    elif arguments.command == "overlay":
        overlay(arguments.out.resolve(), arguments.file)
    else:
        chosen = [mutant for mutant in mutants if not arguments.only or
                  any(part in mutant.name for part in arguments.only)]
        with tempfile.TemporaryDirectory() as scratch:
            checks = Checks(arguments.build.resolve(), arguments.simulator, pathlib.Path(scratch))
            catches = run(chosen, arguments.seeds, checks, arguments.simulator is None)
        if arguments.table:
            write_results(every, catches)
        found = sum(1 for catch in catches.values() if catch is not None)
        print(f"{found} of {len(catches)} mutants were caught")
        if found * 100 < arguments.least * len(catches):
            sys.exit(1)


if __name__ == "__main__":
    main()
