#!/usr/bin/env python3
"""Checks that every header compiles alone, with the flags of a build tree: `check_headers.py BUILD`.

A header that its own .cpp includes first is proven by the build (check_style.py holds that order), so only the
others are compiled here, and only as far as -fsyntax-only goes.
"""

import concurrent.futures
import json
import os
import pathlib
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


def flags_by_folder(build):
    """Folder -> (compiler, flags) of one of its sources, without the source and the output."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if not path.is_relative_to(tree.ROOT) or path.is_relative_to(build):
            continue
        words = shlex.split(entry["command"])
        if words[0].endswith("ccache"):
            words = words[1:]
        end = words.index("-o")
        found.setdefault(str(path.parent.relative_to(tree.ROOT)), words[:end] + [
            word for word in words[end + 2:] if word != "-c" and word != entry["file"]])
    return found


def flags_for(header, folders):
    """Those of its folder, else of the nearest folder above, else the most general: the tests' or main's."""
    parts = pathlib.PurePath(header).parent.parts
    for length in range(len(parts), 0, -1):
        if "/".join(parts[:length]) in folders:
            return folders["/".join(parts[:length])]
    return next((folders[name] for name in ("engine/main", "engine/base") if name in folders), None)


def compile_alone(header, flags):
    source = f'#include "{header}"\n'
    done = subprocess.run([*flags, f"-I{tree.ROOT}", "-fsyntax-only", "-x", "c++", "-"], input=source,
                          capture_output=True, text=True, cwd=tree.ROOT)
    return header, done.returncode, done.stderr


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    folders = flags_by_folder(build)
    headers = [path for path in tree.cpp_files() if path.endswith(".h")]
    alone = sorted(set(headers) - set(proven()))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(compile_alone, header, flags_for(header, folders)) for header in alone]
        for job in jobs:
            header, code, message = job.result()
            if code != 0:
                failed += 1
                print(f"{header}:1: does not compile alone\n{message}")
    print(f"headers: {len(headers)}, {len(alone)} compiled here, {failed} do not compile alone")
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
