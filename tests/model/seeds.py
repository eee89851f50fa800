"""What the comparisons of a model with the binary share: arguments, the walk through the seeds, the report."""
import argparse
import json
import os
import shlex
import subprocess
import tempfile
import time


def arguments(default):
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--seeds", default=default)
    parser.add_argument("--seconds", type=float, default=50, help="stop after this long; what was run is printed")
    parser.add_argument("--shrink-seconds", type=float, default=20)
    parser.add_argument("--failures", type=int, default=3)
    parser.add_argument("--keep", default=tempfile.gettempdir(), help="where traces that differ are kept")
    parser.add_argument("--features", help="comma-separated; only these, in every trace")
    return parser.parse_args()


def plan(binary, arguments, text):
    """The writes of `fairlead plan` for an input, as it prints them."""
    done = subprocess.run([binary, "plan", "-", *arguments], capture_output=True, text=True, input=text, timeout=60)
    if done.returncode != 0:
        raise RuntimeError("exit %d: %s" % (done.returncode, done.stderr))
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare(options, make_maker, differs, report):
    """Makes the trace of each seed and compares it; the exit code. A run without a trace or a write is a failure."""
    low, _, high = options.seeds.partition("..")
    began, failures, ran, writes = time.monotonic(), 0, 0, 0
    for seed in range(int(low), int(high or low) + 1):
        if time.monotonic() - began > options.seconds or failures >= options.failures:
            break
        maker = make_maker(seed, options.features.split(",") if options.features else None)
        lines = maker.make()
        ran += 1
        writes += len(maker.hub.writes)
        if differs(maker, lines):
            failures += 1
            report(options, seed, maker, lines)
    print("%d traces with %d writes, %d differ" % (ran, writes, failures))
    return 1 if failures or not ran or not writes else 0


def report(options, name, seed, maker, lines, differs, render, arguments, needed=lambda line: False):
    """Shrinks a trace that differs, keeps it in a file and prints it with the command that runs it.

    Returns the shrunk lines, and what `differs` says of them. `arguments`: those of the program, besides the trace.
    """
    small = shrink(lines, options.shrink_seconds, differs, needed)
    path = os.path.join(options.keep, "%s-seed-%d.jsonl" % (name, seed))
    with open(path, "w") as file:
        file.write(render(small))
    print("seed %d, features: %s" % (seed, ", ".join(sorted(maker.on))))
    print("  %s plan %s %s" % (options.binary, path, shlex.join(arguments)))
    print("  " + render(small).rstrip("\n").replace("\n", "\n  "))
    return small, differs(small)


def shrink(lines, seconds, differs, needed=lambda line: False):
    """Leaves out lines, but for those that are needed, while the rest `differs`, for at most that long."""
    began, size = time.monotonic(), len(lines) // 2
    while size >= 1:
        i = 0
        while i < len(lines) and time.monotonic() - began < seconds:
            fewer = lines[:i] + [line for line in lines[i:i + size] if needed(line)] + lines[i + size:]
            try:
                smaller = 0 < len(fewer) < len(lines) and differs(fewer)
            except (AssertionError, KeyError):  # a trace that no model can read
                smaller = False
            if smaller:
                lines = fewer
            else:
                i += size
        size //= 2
    return lines
