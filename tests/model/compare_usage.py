#!/usr/bin/env python3
"""Compares what `fairlead usage` adds up with the model, on random traces, by each view and in whole or by hours.

    compare_usage.py --binary build/dev/fairlead --seeds 0..100

A report without `--exact-from-log` must be the same, byte for byte. A trace that differs is shrunk, kept in a file and
printed with the command that runs it.
"""
import json
import subprocess
import sys
import tempfile

import multikueue_objects
import seeds
import usage
import usage_traces

VIEWS = ["queue", "cohort", "flavor", "resource", "cluster", "namespace", "owner"]
HOUR = 3_600_000


def milliseconds(text):
    """Of the day, from RFC 3339 of 1970."""
    day, clock = text.rstrip("Z").split("T")
    hours, minutes, rest = clock.split(":")
    seconds, _, fraction = rest.partition(".")
    whole = (int(day[8:]) - 1) * 24 + int(hours)
    return ((whole * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int(fraction.ljust(3, "0") or 0)


def integral(text, column):
    """The integer behind an exact decimal of seconds."""
    places = 3 if column == "unknown" else 6
    whole, _, fraction = text.partition(".")
    return int(whole) * 10 ** places + int(fraction.ljust(places, "0"))


def ask(binary, data, *arguments):
    done = subprocess.run([binary, "usage", "--data", data, "-o", "json", *arguments], capture_output=True, text=True,
                          timeout=60)
    if done.returncode != 0:
        raise RuntimeError("exit %d: %s" % (done.returncode, done.stderr))
    return done.stdout


def rows_of(text):
    return {(milliseconds(row["from"]), milliseconds(row["to"]), row["side"], row["cluster"], row["key"], row["uid"],
             row["flavor"], row["resource"]):
            {name: None if row[name] is None else integral(row[name], name) for name in usage.COLUMNS}
            for row in json.loads(text)["rows"]}


def difference(binary, lines):
    """None, or the first view in which the two disagree."""
    begin, end = lines[0]["time"], lines[-1]["time"]
    with tempfile.TemporaryDirectory() as folder:
        data = folder + "/data"
        seeds.plan(binary, ["--log", data, "--set", "members.mode=none"], multikueue_objects.render(lines))
        span = ["--from", multikueue_objects.stamp(begin), "--to", multikueue_objects.stamp(end)]
        hours = [begin, *range((begin // HOUR + 1) * HOUR, end, HOUR), end]
        for view in VIEWS:
            for every, cuts in (([], [begin, end]), (["--every", "1h"], hours)):
                asked = ["--by", view, *span, *every]
                text = ask(binary, data, *asked)
                if text != ask(binary, data, *asked, "--exact-from-log"):
                    return view, "--exact-from-log prints something else"
                expected, found = usage.report(lines, view, cuts), rows_of(text)
                for key in sorted({*expected, *found}):
                    if expected.get(key) != found.get(key):
                        return (view, key, expected.get(key)), found.get(key)
    return None


def report(options, seed, maker, lines):
    def differs(fewer):
        try:
            return difference(options.binary, fewer)
        except RuntimeError as error:
            return None, str(error)

    _, (model, binary) = seeds.report(options, "usage", seed, maker, lines, differs, multikueue_objects.render,
                                      ["--log", "DIR"], lambda line: line is lines[-1])
    print("  model:  %s\n  binary: %s\n" % (model, binary))


def main():
    options = seeds.arguments(default="0..100")
    return seeds.compare(options, usage_traces.Maker, lambda maker, lines: difference(options.binary, lines), report)


if __name__ == "__main__":
    sys.exit(main())
