#!/usr/bin/env python3
"""Runs end-to-end test modules: `run.py MODULE...`, for example `run.py test_controlplane`.

A module says what it needs in `NEEDS` ("controlplane", "scheduler", "cel-oracle", "allocator-oracle", "fairlead",
"stop points", "fault shim", "model server", "root", "prometheus", "helm", "buildah", "lintian", "browser"). Where
something is missing its tests are named and counted as skipped and the exit code is 77, which ctest shows as Skipped;
where CI is set a missing part is a failure, because a suite that silently tests nothing is worse than a red one.
"""

import argparse
import os
import pathlib
import shutil
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def missing(needs):
    """What of `needs` cannot be had, as a sentence; empty if all can."""
    from harness import browser, controlplane, deploy, helm, program, prometheus
    if "controlplane" in needs and controlplane.assets() is None:
        return "no control plane (scripts/controlplane builds it, or set KUBEBUILDER_ASSETS)"
    if "scheduler" in needs and controlplane.scheduler() is None:
        return "no kube-scheduler (scripts/controlplane builds it)"
    if "fairlead" in needs and program.binary() is None:
        return "no fairlead program (scripts/test builds it, or set FAIRLEAD)"
    if "browser" in needs and browser.missing():
        return browser.missing()
    if "root" in needs and os.geteuid() != 0:
        return "not root: a Pod's user and mounts cannot be made"
    if "prometheus" in needs and not (prometheus.program("promtool") and deploy.operator_crds()):
        return "no Prometheus, or no CRDs of its operator (scripts/controlplane fetches both)"
    if "helm" in needs and not helm.program():
        return "no Helm (scripts/controlplane builds it)"
    for tool in needs:
        if tool.endswith("-oracle") and controlplane.oracle(tool) is None:
            return f"no {tool} (scripts/controlplane builds it)"
    for tool in ("buildah", "lintian"):
        if tool in needs and shutil.which(tool) is None:
            return f"no {tool} (scripts/install)"
    if "stop points" in needs and program.stopping() is None:
        return "no program with stop points (cmake -DFAIRLEAD_STOP_POINTS=ON builds fairlead-stops)"
    if "fault shim" in needs and program.fault_shim() is None:
        return "no fault shim (the build makes libfairlead-fault-shim.so)"
    if "model server" in needs and program.model_server() is None:
        return "no fairlead-model-server (the build makes it)"
    return ""


def tests_of(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_of(item)
        else:
            yield item


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", nargs="+")
    parser.add_argument("-k", dest="patterns", action="append", help="only tests whose name contains this")
    parser.add_argument("--folder", default=HERE, type=pathlib.Path, help="where the modules are")
    arguments = parser.parse_args()
    sys.path[:0] = [str(arguments.folder.resolve()), str(HERE)]

    loader = unittest.TestLoader()
    if arguments.patterns:
        loader.testNamePatterns = [f"*{pattern}*" for pattern in arguments.patterns]
    run, skipped = unittest.TestSuite(), []
    for name in arguments.module:
        suite = loader.loadTestsFromName(name)
        why = missing(getattr(sys.modules[name], "NEEDS", ()))
        if why:
            skipped += [(test.id(), why) for test in tests_of(suite)]
        else:
            run.addTests(suite)

    result = unittest.TextTestRunner(verbosity=2).run(run)
    skipped += [(test.id(), why) for test, why in result.skipped]
    for name, why in skipped:
        print(f"SKIPPED {name}: {why}")
    if skipped:
        print(f"SKIPPED {len(skipped)} of {run.countTestCases() + len(skipped) - len(result.skipped)} tests")
    if not result.wasSuccessful():
        return 1
    if result.testsRun == 0 and not skipped:
        print("no test was found")
        return 1
    if skipped and os.environ.get("CI"):
        print("CI is set: a skipped test is a failure")
        return 1
    return SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
