#!/usr/bin/env python3
"""Puts the tests of several build trees into one, for scripts/test.

    gather_tests.py targets BUILD [--only LABEL | --without "LABEL..."]   what must be built to run them
    gather_tests.py begin OUT                                           starts an empty tree of tests
    gather_tests.py add OUT PREFIX BUILD [--only ... | --without ...] [--seconds N]  adds them, names after PREFIX

--seconds: what draws traces for so many seconds (tests/model) draws them for N. Tests that are left out are counted.
A test with the label e2e mostly waits for servers and takes one of ctest's slots; any other takes two.

ctest cannot select from one tree by label and from another by another in a single run, and two runs have two
summaries. So the CTestTestfile.cmake files that CMake generates are read here (add_test, set_tests_properties,
subdirs) and written again as one.
"""

import argparse
import pathlib
import re
import subprocess
import sys

TOKEN = re.compile(r'"(?P<quoted>(?:[^"\\]|\\.)*)"|\[(?P<n>=*)\[(?P<bracket>.*?)\](?P=n)\]|(?P<bare>[^\s()"]+)',
                   re.DOTALL)
COMMAND = re.compile(r"^\s*(add_test|set_tests_properties|subdirs)\(", re.MULTILINE)


def arguments_from(text, position):
    """The arguments of a command whose parenthesis opened just before `position`, still spelled as written."""
    found = []
    while True:
        while text[position].isspace():
            position += 1
        if text[position] == ")":
            return found
        token = TOKEN.match(text, position)
        found.append(token)
        position = token.end()


def value(token):
    for group in ("quoted", "bracket", "bare"):
        if token.group(group) is not None:
            return token.group(group)
    return ""


def tests_of(folder):
    """(name, command tokens, property tokens) of each test that ctest would find in `folder`."""
    file = folder / "CTestTestfile.cmake"
    if not file.exists():
        return []
    text = file.read_text()
    tests, below = {}, []
    for command in COMMAND.finditer(text):
        tokens = arguments_from(text, command.end())
        if command.group(1) == "add_test":
            tests[value(tokens[0])] = (tokens[1:], [])
        elif command.group(1) == "set_tests_properties":
            # NAME PROPERTIES key value ...; CMake writes one command a test.
            tests[value(tokens[0])][1].extend(tokens[2:])
        else:
            below += [folder / value(token) for token in tokens]
    found = [(name, command, properties) for name, (command, properties) in tests.items()]
    for subfolder in below:
        found += tests_of(subfolder)
    return found


def labels_of(properties):
    pairs = zip(properties[::2], properties[1::2])
    return {label for key, item in pairs if value(key) == "LABELS" for label in value(item).split(";")}


def chosen(tests, only, without):
    for test in tests:
        labels = labels_of(test[2])
        if (not only or labels & set(only.split())) and not labels & set(without.split()):
            yield test


def targets(build, tests):
    """The files below `build` that the tests' commands name, perhaps as NAME=FILE, and that the build can make."""
    known = subprocess.run(["ninja", "-C", str(build), "-t", "targets", "all"], capture_output=True, text=True,
                           check=True).stdout
    makeable = {line.rsplit(":", 1)[0] for line in known.splitlines()}
    named = set()
    for _, command, _ in tests:
        for token in command:
            path = pathlib.Path(value(token).rpartition("=")[2])
            if path.is_relative_to(build) and str(path.relative_to(build)) in makeable:
                named.add(str(path.relative_to(build)))
    return sorted(named)


def spelled(tokens):
    return " ".join(token.group(0) for token in tokens)


def shortened(words, seconds):
    """A command, as written, with another number after its --seconds."""
    return re.sub(r'("?--seconds"?) "?\d+"?', rf'\1 "{seconds}"', words) if seconds else words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    begin = commands.add_parser("begin")
    begin.add_argument("out", type=pathlib.Path)
    for name in ("targets", "add"):
        command = commands.add_parser(name)
        if name == "add":
            command.add_argument("out", type=pathlib.Path)
            command.add_argument("prefix")
            command.add_argument("--seconds", type=int)
        command.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
        command.add_argument("--only", default="")
        command.add_argument("--without", default="")
    options = parser.parse_args()

    if options.command == "begin":
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "CTestTestfile.cmake").write_text("")
        return 0
    every = tests_of(options.build)
    tests = list(chosen(every, options.only, options.without))
    if options.command == "targets":
        print("\n".join(targets(options.build, tests)))
        return 0
    with open(options.out / "CTestTestfile.cmake", "a") as out:
        for name, command, properties in tests:
            out.write(f"add_test([==[{options.prefix}{name}]==] {shortened(spelled(command), options.seconds)})\n")
            slots = 1 if "e2e" in labels_of(properties) else 2
            out.write(f"set_tests_properties([==[{options.prefix}{name}]==] PROPERTIES PROCESSORS {slots} "
                      f"{spelled(properties)})\n")
    print(f"{len(tests)} tests of {options.build.name}, {len(every) - len(tests)} left out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
