"""The audit page in Chromium and Firefox, and its sources under a type checker. The assertions on the page are in
browser/*.test.mjs; here are the logs that it is shown, and the limits of its size.

FAIRLEAD_PICTURES names a folder that keeps a screenshot of each view; without it they are removed. Those of the
documentation are made by scripts/pictures. FAIRLEAD_REWRITE=1 writes docs/schemas/answers.json."""

import gzip
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from harness import answers, browser
from harness.page import Served
from harness.process import Process, wait_for
from harness.program import ROOT, binary, fairlead
from harness.times import nanoseconds, rfc3339
from test_audit_pool import DAY, POOL
from test_page import HOSTILE, INCIDENT, long_plan, queue

NEEDS = ("fairlead", "browser")

WEIGHT_MAX = 250_000  # bytes, compressed
SAVED_MAX = 500_000  # bytes of a page in a file, of a log of some 500 events
PICTURE_MAX = 250_000  # bytes
# Of browser/page.test.mjs, what another engine could do otherwise.
EVERY_VIEW = "every view at {} px, {}: no finding of axe, nothing beside the screen"
IN_FIREFOX = [EVERY_VIEW.format(1280, "light"), EVERY_VIEW.format(390, "light"),
              "by keyboard alone to a queue, its cursor and along its steps; each value is that of audit quota",
              "names of any kind are text", "a server that is gone is said, and asked again on demand",
              "a hub that runs is followed and paused, and the cursor at the end goes along",
              "a link opens on a bundle of the same log, and says so on another log",
              "a damaged log is shown up to the damage, and one without objects says what it lacks"]
WAITING_IN_FIREFOX = ["ten thousand that wait: only the rows in view are in the document, and they sort"]
WAITS = (ROOT / "docs/incident/hub.yaml", ROOT / "docs/waiting/lost-capacity.jsonl")
IN_DARK_FIREFOX = [EVERY_VIEW.format(1280, "dark"), EVERY_VIEW.format(320, "dark")]


def schema_text(made):
    """What ts-json-schema-generator made, with a line for each field. Objects stay open: fields may be added."""
    def opened(part):
        if not isinstance(part, dict):
            return [opened(each) for each in part] if isinstance(part, list) else part
        return {name: opened(each) for name, each in part.items() if (name, each) != ("additionalProperties", False)}

    def lines_of(name, definition):
        fields = definition.pop("properties", None)
        head = f"{json.dumps(name)}: {json.dumps(definition)}"
        return head if fields is None else f'{head[:-1]}, "properties": {{\n' + ",\n".join(
            f"  {json.dumps(field)}: {json.dumps(each)}" for field, each in fields.items()) + "}}"

    definitions = ",\n".join(lines_of(*one) for one in opened(json.loads(made))["definitions"].items())
    return ('{"$schema": "http://json-schema.org/draft-07/schema#",\n"$ref": "#/definitions/Document",\n'
            f'"definitions": {{\n{definitions}\n}}}}\n')


def jsonl(changes):
    return "\n".join(json.dumps({"type": "MODIFIED", **change}) for change in changes)


def quotas(name, **amounts):
    """A ClusterQueue with one flavor."""
    resources = [{"name": resource, "nominalQuota": amount} for resource, amount in amounts.items()]
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name}, "spec": {
        "resourceGroups": [{"coveredResources": [*amounts], "flavors": [{"name": "spot", "resources": resources}]}]}}


def node(name, ready=True, cordoned=False, **amounts):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"tier": "on-demand"}},
            "spec": {"unschedulable": cordoned},
            "status": {"allocatable": amounts, "conditions": [{"type": "Ready", "status": str(ready)}]}}


def bursts():
    """Edits of two queues, four each minute, a nanosecond apart."""
    begin = nanoseconds("2026-11-21T14:00:00Z")
    return jsonl({"time": rfc3339(begin + count // 4 * 60 * 10**9 + count % 4),
                  "object": quotas("ab"[count % 2], cpu=str(count + 1))} for count in range(160))


def large_fleet():
    """400 queues and 120 clusters; one queue moves more often than a view draws."""
    begin = nanoseconds("2026-11-21T14:00:00Z")
    queues = [quotas(f"team-{number}", cpu="547200m", memory="746496Mi") for number in range(1, 401)]
    nodes = [{"cluster": f"c{number}", "object": node(f"n{each}", cpu="8")}
             for number in range(1, 121) for each in range(3)]
    edits = [{"object": quotas("team-400", cpu=str(count), memory="746496Mi")} for count in range(1, 2200)]
    changes = [{"object": one} for one in queues] + nodes + edits
    return jsonl({"time": rfc3339(begin + count * 10**9), **change} for count, change in enumerate(changes))


def crowd():
    """A queue in which 10,000 Workloads wait."""
    begin = nanoseconds("2026-11-21T14:00:00Z")
    reasons = ("WaitingForQuota", "PendingEvaluation", "NoMatchingFlavor")
    local = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
             "metadata": {"name": "main", "namespace": "team"}, "spec": {"clusterQueue": "training"}}
    jobs = [{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
             "metadata": {"name": f"job-{number:05}", "namespace": "team", "uid": f"uid-{number}",
                          "creationTimestamp": "2026-11-21T14:00:00Z"},
             "spec": {"queueName": "main", "podSets": [{"name": "main", "count": 1, "template": {"spec": {
                 "containers": [{"name": "c", "resources": {"requests": {"cpu": str(1 + number % 7)}}}]}}}]},
             "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": reasons[number % 3],
                                        "message": "", "lastTransitionTime": rfc3339(begin + number * 10**9)}]}}
            for number in range(10_000)]
    return jsonl({"time": "2026-11-21T17:00:00Z", "cluster": "hub", "object": one}
                 for one in (quotas("training", cpu="4"), local, *jobs))


def flaps():
    """What follows the incident: gpu-5 flaps five times within a window, gpu-2 is cordoned, and gpu-3 is lost while
    nothing is heard of its cluster."""
    begin, amounts = nanoseconds("2026-11-21T14:30:00Z"), {"cpu": "40", "nvidia.com/gpu": "8"}
    states = [node("gpu-5", ready=count % 2 == 1, **amounts) for count in range(10)]
    changes = [{"time": rfc3339(begin + count * 2 * 10**9), "object": state} for count, state in enumerate(states)]
    changes.append({"time": "2026-11-21T15:00:00Z", "object": node("gpu-2", cordoned=True, **amounts)})
    changes += [{"type": "SOURCE_STALE", "time": "2026-11-21T15:10:00Z"},
                {"time": "2026-11-21T15:20:00Z", "object": node("gpu-3", ready=False, **amounts)},
                {"type": "SOURCE_SYNCED", "time": "2026-11-21T15:20:00Z"}]
    return jsonl({"cluster": "cluster2", **change} for change in changes)


class BrowserTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def plan(self, name, *inputs, stdin=None):
        data = self.folder / name
        done = fairlead("plan", "--log", data, *inputs, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)
        return data

    def exported(self, data):
        bundle = self.folder / f"{data.name}.bundle"
        self.assertEqual(fairlead("log", "export", bundle, "--data", data).returncode, 0)
        return bundle

    def dev(self, name="dev", *arguments, length="12s"):
        data = self.folder / name
        dev = Process("dev", [binary(), "dev", "--speed", "300", "--seed", "7", "--for", length, "--data", data,
                              *arguments], self.folder / f"{name}.txt").start()
        wait_for("the end of dev", lambda: not dev.running(), timeout=120)
        return data

    def living(self):
        """The page of a hub that runs."""
        dev = Process("living", [binary(), "dev", "--speed", "300", "--seed", "8"], self.folder / "living.txt").start()
        self.addCleanup(dev.kill)
        return wait_for("the URL", lambda: re.match(r"Look at it: (\S+)\n", dev.text())).group(1)

    def damaged(self):
        data = self.folder / "damaged"
        bundle = self.exported(self.plan("long", "-", stdin=long_plan()))
        self.assertEqual(fairlead("log", "import", bundle, "--data", data).returncode, 0)
        packs = max((data / "log").glob("*.sst"), key=lambda file: file.stat().st_size)
        content = bytearray(packs.read_bytes())
        content[len(content) * 2 // 3] ^= 16
        packs.write_bytes(content)
        return data

    def serve(self, *place, cwd=None):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(dir=self.folder)))
        served = Served(folder, *place, cwd=cwd)
        self.addCleanup(served.stop)
        return served.url

    def saved(self, data, name, option="--queue"):
        """The URL of a page that was saved as a file."""
        page = self.folder / f"{data.name}.html"
        done = fairlead("serve", "--save", page, "--data", data, option, name)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{page}: {name} from ", done.stdout)
        self.assertLess(page.stat().st_size, SAVED_MAX)
        return page.as_uri()

    def test_the_page_in_both_browsers(self):
        dev = self.dev()
        edits = self.plan("edits", ROOT / "docs/quota/edits.jsonl")
        hostile = self.plan("hostile", "-", stdin="\n".join(json.dumps(queue(name)) for name in HOSTILE))
        pages = {"dev": self.serve("--data", dev), "bundle": self.serve("--bundle", self.exported(dev)),
                 "other": self.serve("--data", self.plan("incident", *INCIDENT)),
                 "hostile": self.serve("--data", hostile), "damaged": self.serve("--data", self.damaged()),
                 "empty": self.serve("--data", self.plan("empty", "-", stdin="")), "living": self.living(),
                 "edits": self.serve("--data", edits),
                 "devices": self.serve("--data", self.dev("devices", "--fleet", "devices", length="4s")),
                 "bursts": self.serve("--data", self.plan("bursts", "-", stdin=bursts())),
                 "large": self.serve("--data", self.plan("large", "-", stdin=large_fleet())),
                 "flaps": self.serve("--data", self.plan("flaps", *INCIDENT, "-", stdin=flaps())),
                 "waits": self.serve("--data", self.plan("waits", *WAITS)),
                 "crowd": self.serve("--data", self.plan("crowd", "-", stdin=crowd())),
                 "lists": self.serve("--data", self.dev("lists", "--fleet", "multikueue"))}
        day = self.plan("day", "--set", POOL, DAY)
        pages |= {"pool": self.serve("--data", day), "savedPool": self.saved(day, "acme/web", "--pool-namespace"),
                  "poolBundle": self.serve("--bundle", self.exported(day))}
        pages |= {"saved": self.saved(dev, "low-priority-queue"), "savedEdits": self.saved(edits, "vision"),
                  "savedList": self.saved(self.folder / "lists", "serving"),
                  "savedHostile": self.saved(hostile, HOSTILE[0]),
                  "savedWaits": self.saved(self.plan("cut", *self.cut_waits()), "training")}
        self.assertGreater(browser.run("page.test.mjs", "chromium", self.folder, pages), 15)
        self.assertGreater(browser.run("views.test.mjs", "chromium", self.folder, pages), 5)
        self.assertGreater(browser.run("waiting.test.mjs", "chromium", self.folder, pages), 4)
        self.assertGreater(browser.run("waiting.test.mjs", "firefox", self.folder, pages, WAITING_IN_FIREFOX), 0)
        for titles, theme in ((IN_FIREFOX, "light"), (IN_DARK_FIREFOX, "dark")):
            self.assertEqual(browser.run("page.test.mjs", "firefox", self.folder, pages, titles, theme=theme),
                             len(titles))

    def cut_waits(self):
        """The log of WAITS while its Workload waits."""
        hub, changes = WAITS
        part = self.folder / "part.jsonl"
        part.write_text("".join(line for line in changes.open() if json.loads(line)["time"] < "2026-11-21T14:17:00Z"))
        return hub, part

    def check(self, tool, *arguments, stdin=None):
        return subprocess.run([browser.modules() / "node_modules/.bin" / tool, *arguments], input=stdin,
                              capture_output=True, text=True, timeout=120, cwd=ROOT)

    def test_pictures_of_each_view_for_the_documentation(self):
        gpu = [ROOT / "docs/gpu" / name for name in ("hub.yaml", "day.jsonl")]
        # The page shows the place of its log: without the folder of this test.
        pages = {name: self.serve("--data", self.plan(name, *inputs).name, cwd=self.folder)
                 for name, inputs in (("incident", INCIDENT), ("gpu", gpu), ("pool", ("--set", POOL, DAY)))}
        pages["dev"] = self.serve("--data", self.dev("dev").name, cwd=self.folder)
        pictures = pathlib.Path(os.environ.get("FAIRLEAD_DOCUMENTED_PICTURES") or self.folder / "documented")
        browser.run("pictures.test.mjs", "chromium", self.folder, pages, pictures=pictures)
        # The documentation shows one of each view, and all that it shows are there.
        documented = {path.name: path.stat().st_size for path in (ROOT / "docs/pictures").glob("*.png")}
        self.assertEqual(set(documented), {path.name for path in pictures.glob("*.png")})
        self.assertLess(max(documented.values()), PICTURE_MAX)
        self.assertEqual(set(re.findall(r"\(pictures/([a-z]+\.png)\)", (ROOT / "docs/page.md").read_text())),
                         set(documented))

    def test_its_types_hold_and_its_form_is_that_of_the_formatter(self):
        for command in (["tsc", "-p", "ui"], ["prettier", "--check", *sorted((ROOT / "ui").glob("*.[jthc]*s*"))]):
            done = self.check(*command)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_schemas_are_made_of_the_declarations(self):
        done = self.check("ts-json-schema-generator", "--path", "ui/*answers.d.ts", "--type", "*", "--strict-tuples",
                          "--no-type-check")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = schema_text(done.stdout)
        if os.environ.get("FAIRLEAD_REWRITE"):
            answers.SCHEMA.write_text(text)
        self.assertEqual(answers.SCHEMA.read_text().splitlines(), text.splitlines())

    def test_the_linter_finds_nothing_and_would_find_what_the_page_must_not_do(self):
        rules = browser.copied(self.folder) / "eslint.config.mjs"
        done = self.check("eslint", "--config", rules, "ui", "tests/e2e/browser")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for text, rule in [("el.innerHTML = 1;", "no-restricted-properties"), ("fetch(1);", "no-restricted-globals"),
                           ("new EventSource(1);", "no-restricted-globals"), ("eval(1);", "no-eval"),
                           ("const never = 1;", "no-unused-vars"), ("if (1 == el) el();", "eqeqeq")]:
            done = self.check("eslint", "--config", rules, "--stdin", "--stdin-filename", "ui/breach.js", stdin=text)
            self.assertIn(rule, done.stdout, text)

    def test_the_whole_page_is_light(self):
        data = self.plan("empty", "-", stdin="")
        served = Served(self.folder, "--data", data)
        self.addCleanup(served.stop)
        names = [path.name for path in (ROOT / "ui").iterdir() if path.suffix in (".js", ".css", ".html")]
        bytes_of = [len(gzip.compress(served.text(f"/ui/{name}").encode())) for name in [*names, "dygraph.min.js"]]
        self.assertGreater(len(bytes_of), 10)
        self.assertLess(sum(bytes_of), WEIGHT_MAX)
