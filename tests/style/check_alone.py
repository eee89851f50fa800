#!/usr/bin/env python3
"""Checks that every file compiles alone, with the flags of a build tree: `check_alone.py BUILD [ONE_IN]`.

A build that compiles several files as one does not show that, but of the first of each. -fsyntax-only does. A header
that its own .cpp includes first is proven by that (check_style.py holds the order), so only the others are compiled by
themselves.

That costs six seconds of CPU a file, and the compiler cache keeps no result without an object. So a file that compiled
is remembered, by a digest of all that it read, in ~/.cache/fairlead/alone. With ONE_IN only one file in so many is
compiled, chosen by that digest: every change of what a file reads draws it anew.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

import cpp_source
import tree


def proven():
    """Headers that some .cpp of the same name includes first."""
    for path in tree.cpp_files():
        if path.endswith(".cpp"):
            names = list(cpp_source.Source(path, (tree.ROOT / path).read_text()).includes())
            if names and names[0][1] == path[:-len(".cpp")] + ".h":
                yield names[0][1]


def built_alone(build):
    """Sources that the build tree compiles with nothing before them."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if "Unity" in source.parts:
            source = pathlib.Path(re.search(r'^#include "(.*)"$', source.read_text(), re.MULTILINE).group(1))
        if source.is_relative_to(tree.ROOT) and not source.is_relative_to(build):
            yield str(source.relative_to(tree.ROOT))


def folder_of(source, build):
    """The folder of a source, or of those that one of CMake's unity sources includes; None if it was generated."""
    if source.is_relative_to(build):
        parts = source.relative_to(build).parts
        return pathlib.Path(*parts[:parts.index("CMakeFiles")]) if "Unity" in parts else None
    return source.parent.relative_to(tree.ROOT) if source.is_relative_to(tree.ROOT) else None


def flags_by_folder(build):
    """Folder -> (compiler, flags) of one of its sources, without the source and the output."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        folder = folder_of(pathlib.Path(entry["file"]), build)
        if folder is None:
            continue
        words = shlex.split(entry["command"])
        if words[0].endswith("ccache"):
            words = words[1:]
        end = words.index("-o")
        found.setdefault(str(folder), words[:end] + [
            word for word in words[end + 2:] if word != "-c" and word != entry["file"]])
    return found


def flags_for(header, folders):
    """Those of its folder, else of the nearest folder above, else the most general: the tests' or main's."""
    parts = pathlib.PurePath(header).parent.parts
    for length in range(len(parts), 0, -1):
        if "/".join(parts[:length]) in folders:
            return folders["/".join(parts[:length])]
    return next((folders[name] for name in ("engine/main", "engine/base") if name in folders), None)


def compile_alone(path, flags):
    """What the compiler says against the file; nothing: it compiles."""
    source = f'#include "{path}"\n'
    done = subprocess.run([*flags, f"-I{tree.ROOT}", "-fsyntax-only", "-x", "c++", "-"], input=source,
                          capture_output=True, text=True, cwd=tree.ROOT)
    return done.stderr or f"exit {done.returncode}\n" if done.returncode != 0 else ""


class Inputs:
    """Digests of all that a compiler reads for a file: its includes, the flags, the compiler, the system's headers."""

    def __init__(self, build):
        self.build = build
        packages = subprocess.run(["dpkg-query", "-W"], capture_output=True, text=True, check=True).stdout
        self.system = hashlib.sha256(packages.encode()).hexdigest()

    @functools.cache
    def version(self, compiler):
        return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout

    @functools.cache
    def direct(self, path):
        """(digest of the file, the project's and generated files that it includes), as the include paths find them."""
        for root in (tree.ROOT, self.build):
            if (root / path).is_file():
                text = (root / path).read_text()
                names = [name for _, name in cpp_source.Source(path, text).includes()]
                return hashlib.sha256(text.encode()).hexdigest(), names
        return None, []

    def digest(self, path, flags):
        read, waiting = {}, [path]
        while waiting:
            name = waiting.pop()
            if name not in read:
                read[name], included = self.direct(name)
                waiting += included
        words = [word.replace(str(self.build), "BUILD").replace(str(tree.ROOT), "ROOT") for word in flags]
        inputs = [path, self.system, self.version(flags[0]), words, sorted((k, v) for k, v in read.items() if v)]
        return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


class Remembered:
    """The digests of what compiled, a file of no bytes each; what no run asked for in 30 days is forgotten."""

    def __init__(self):
        cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        self.folder = pathlib.Path(cache) / "fairlead" / "alone"
        self.folder.mkdir(parents=True, exist_ok=True)
        for old in self.folder.iterdir():
            if old.stat().st_mtime < time.time() - 30 * 86400:
                old.unlink(missing_ok=True)

    def has(self, digest):
        if found := (self.folder / digest).exists():
            self.add(digest)
        return found

    def add(self, digest):
        (self.folder / digest).touch()


def is_drawn(digest, one_in):
    """Whether a file with this digest is one of those that are compiled."""
    return int(digest, 16) % one_in == 0


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    one_in = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    folders = flags_by_folder(build)
    shown = {*proven(), *built_alone(build)}
    alone = [path for path in tree.cpp_files() if path not in shown
             and (path.endswith(".h") or str(pathlib.PurePath(path).parent) in folders)]
    inputs, remembered = Inputs(build), Remembered()
    digests = {path: inputs.digest(path, flags_for(path, folders)) for path in alone}
    drawn = [path for path in alone if is_drawn(digests[path], one_in)]
    unknown = [path for path in drawn if not remembered.has(digests[path])]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        messages = pool.map(lambda path: compile_alone(path, flags_for(path, folders)), unknown)
        for path, message in zip(unknown, messages):
            if message:
                failed += 1
                print(f"{path}:1: does not compile alone\n{message}")
            else:
                remembered.add(digests[path])
    print(f"files: {len(drawn)} of {len(alone)} drawn, {len(unknown)} compiled here, {failed} do not compile alone")
    return 1 if failed or not drawn else 0


if __name__ == "__main__":
    sys.exit(main())
