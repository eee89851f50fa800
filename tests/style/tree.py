"""The files of the project: what git tracks or would track."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = (".h", ".cpp", ".py", ".cmake", ".txt", ".md", ".yaml", ".yml", ".json", ".capnp", ".js", ".html", ".css", "")
# Written by others or by a program: the licence, checksums, recorded streams.
NOT_OURS = ("LICENSE", "tests/e2e/controlplane/go.", "tests/golden/", "tests/fuzz/seeds/")


def files():
    """Paths from the root, sorted."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"], capture_output=True,
                            text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if "build" not in p.relative_to(ROOT).parts[:1]]
    return sorted(name for name in set(names) if (ROOT / name).is_file())


def texts():
    """(path, text) of what the rules apply to."""
    for name in files():
        suffix = pathlib.PurePath(name).suffix
        if suffix in TEXT and not name.startswith(NOT_OURS):
            try:
                yield name, (ROOT / name).read_text()
            except UnicodeDecodeError:
                continue


def cpp_files():
    return [name for name in files() if name.endswith((".h", ".cpp")) and not name.startswith(NOT_OURS)]
