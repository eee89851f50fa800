#!/usr/bin/env python3
"""The same seeds give the same digests: `determinism.py PROGRAM [OTHER...] [--seeds N] [--hours H]`.

PROGRAM is a fairlead-sim, which alone runs again in another time zone, with another locale and with addresses that are
the same each time (setarch -R; they are random else). OTHER is one of another compiler or optimisation. It must be of
the same commit: one that is not, or is not there, counts as skipped (exit code 77). libstdc++ and our own tables hash
without a seed, so there is none to vary.
"""

import argparse
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
SURROUNDINGS = {"TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8", "LANG": "ar_EG.UTF-8"}


def commit():
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], stdout=subprocess.PIPE, check=False)
    return done.stdout.strip() if done.returncode == 0 else b"unknown"


def digest(command, seed, hours, environment=None):
    """What a run logged, as a digest; also of one that failed, which says so elsewhere."""
    done = subprocess.run([*command, "--seed", str(seed), "--hours", str(hours), "--quiet"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace",
                          env={**os.environ, **(environment or {})}, check=False)
    found = re.search(r"\bdigest (\w+)", done.stdout)
    assert found, f"{command}: {done.returncode}\n{done.stdout[-2000:]}"
    return found.group(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("other", type=pathlib.Path, nargs="*")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--hours", type=int, default=1)
    arguments = parser.parse_args()

    ways = {} if arguments.other else {
        "again": ([arguments.program], {}), "time zone and locale": ([arguments.program], SURROUNDINGS),
        "fixed addresses": (["setarch", platform.machine(), "-R", arguments.program], {})}
    skipped = False
    for other in arguments.other:
        if not other.exists() or commit() not in other.read_bytes():
            print(f"SKIPPED {other}: it is not there, or not of this commit")
            skipped = True
        else:
            ways[str(other)] = ([other], {})
    different = False
    for seed in range(1, arguments.seeds + 1):
        first = digest([arguments.program], seed, arguments.hours)
        print(f"seed {seed}: {first}")
        for way, (command, environment) in ways.items():
            if (found := digest(command, seed, arguments.hours, environment)) != first:
                print(f"seed {seed}: {found} where {way}")
                different = True
    return 1 if different else SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
