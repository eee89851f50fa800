"""Helm, built by scripts/controlplane, and the chart of deploy/."""

import json
import os
import subprocess

from .controlplane import ROOT, cache

CHART = ROOT / "deploy/chart"


def program():
    """None where it was not built."""
    path = cache() / "helm/helm"
    return path if os.access(path, os.X_OK) else None


def run(plane_directory, *arguments):
    """The finished process; Helm's own files go below `plane_directory`."""
    homes = {f"HELM_{name}_HOME": str(plane_directory / "helm") for name in ("CACHE", "CONFIG", "DATA")}
    return subprocess.run([str(program()), *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **homes})


def settings(values):
    """--set-json arguments of {path: value}."""
    return [word for path, value in values.items() for word in ("--set-json", f"{path}={json.dumps(value)}")]
