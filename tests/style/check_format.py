#!/usr/bin/env python3
"""Checks that clang-format 19 would change nothing. Prints `file:line: ...`; exit 1 if it would."""

import re
import subprocess
import sys

import tree


def main():
    files = tree.cpp_files()
    done = subprocess.run(["clang-format-19", "--dry-run", *files], cwd=tree.ROOT, capture_output=True, text=True)
    places = re.findall(r"^(\S+?:\d+):\d+: warning: code should be clang-formatted", done.stderr, re.MULTILINE)
    for place in dict.fromkeys(places):
        print(f"{place}: clang-format-19 would change this (clang-format-19 -i FILE)")
    print(f"format: {len(files)} files, {len(set(p.split(':')[0] for p in places))} to format")
    if done.returncode != 0:
        print(done.stderr)
    return 1 if places or done.returncode or not files else 0


if __name__ == "__main__":
    sys.exit(main())
