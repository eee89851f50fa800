#!/usr/bin/env python3
"""Checks the whole tree against the rules of ARCHITECTURE.md. Prints `file:line: rule`; exit 1 if there is any."""

import sys

import layering
import references
import rules
import tree


def main():
    count = checked = 0
    types, named = rules.TypesOfHeaders(), references.References(tree.files())
    includers = layering.IncludersOfState()
    for path, text in tree.texts():
        checked += 1
        found = [*rules.check(path, text), *types.check(path, text), *named.check(path, text),
                 *includers.check(path, text)]
        for line, message in dict.fromkeys(found):
            print(f"{path}:{line}: {message}")
            count += 1
    print(f"style: {checked} files, {count} breaches")
    if checked == 0:
        print("style: found no file to check")
    return 1 if count or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
