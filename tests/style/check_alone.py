#!/usr/bin/env python3
"""Checks that every file compiles alone, with the flags of a build tree: `check_alone.py BUILD`.

A build that compiles several files as one does not show that, but of the first of each. -fsyntax-only does. A header
that its own .cpp includes first is proven by that (check_style.py holds the order), so only the others are compiled by
themselves.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

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
    source = f'#include "{path}"\n'
    done = subprocess.run([*flags, f"-I{tree.ROOT}", "-fsyntax-only", "-x", "c++", "-"], input=source,
                          capture_output=True, text=True, cwd=tree.ROOT)
    return path, done.returncode, done.stderr


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    folders = flags_by_folder(build)
    shown = {*proven(), *built_alone(build)}
    alone = [path for path in tree.cpp_files() if path not in shown
             and (path.endswith(".h") or str(pathlib.PurePath(path).parent) in folders)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(compile_alone, path, flags_for(path, folders)) for path in alone]
        for job in jobs:
            path, code, message = job.result()
            if code != 0:
                failed += 1
                print(f"{path}:1: does not compile alone\n{message}")
    print(f"files: {len(alone)} compiled here, {failed} do not compile alone")
    return 1 if failed or not alone else 0


if __name__ == "__main__":
    sys.exit(main())
