#!/usr/bin/env python3
"""Asks `fairlead audit` and `fairlead whatif` about random traces and compares with what the events say by hand.

    compare_audit.py --binary build/release/fairlead --seeds 0..60
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter

import compare
import seeds
import audit_traces
import traces
from audit_events import history_rows, milliseconds, quotas_of, read_log
from audit_moment import Moment
from audit_oracle import totals_of, world
from audit_reported import (differing, number, reported_diff, reported_grant, reported_guard, reported_guard_times,
                            reported_history, reported_hours, reported_quota, step_end)
from capacity import canonical

# Guards that keep a write back; the others keep a quota from being more.
BARS_OF_A_WRITE = {"QueueAbsent", "QueueDeleting", "QuotaManagementAutomated", "QuotaOrchestrated",
                   "OwnershipConflict", "FollowsNobody", "NotOurs", "CapacityUnknown", "Withheld", "NoPlace",
                   "AdoptionWaitsForMember", "UnansweredWrite", "WriteNotSeenYet", "Refused", "WriteInterval",
                   "MemberIsWritten"}


def ask(binary, where, *question):
    """(document, None) or (None, what was said against it)."""
    command = [question[0]] if question[0] == "whatif" else ["audit", question[0]]
    done = subprocess.run([binary, *command, *question[1:], *where, "-o", "json"], capture_output=True, text=True,
                          timeout=60)
    if done.returncode == 0:
        return json.loads(done.stdout), None
    return None, (done.returncode, done.stderr.strip())


# --------------------------------------------------------------------------------------------- the questions


class Judge:
    """Asks about one log, and keeps what is answered otherwise than expected."""

    def __init__(self, binary, data, pick):
        self.binary, self.where, self.pick = binary, ["--data", data], pick
        self.events = read_log(binary, self.where)
        self.asked, self.found, self.moments = Counter(), [], {}
        self.answers = []  # [(question, document, error)]

    def moment(self, place):
        """`place` is ("time", milliseconds) or ("seq", n)."""
        if place not in self.moments:
            self.moments[place] = Moment(self.events, **{place[0]: place[1]})
        return self.moments[place]

    def hold(self, question, expected, reported):
        out = []
        differing("", expected, reported, out)
        self.found += [(question, *one) for one in out]

    def ask(self, *question):
        self.asked[question[0]] += 1
        self.answers.append((question, *ask(self.binary, self.where, *question)))
        return self.answers[-1][1:]

    def names(self, place, queue):
        """Whether the hub or a claim has a queue of that name."""
        moment = self.moment(place)
        return queue in moment.queues or any(q == queue for q, _, _ in moment.pairs())

    def quota(self, place, queue=""):
        question = ["quota", *([queue] if queue else []), "--as-of", spelled(place)]
        document, error = self.ask(*question)
        moment = self.moment(place)
        if queue and not self.names(place, queue):
            self.hold(question, 2, error and error[0])
            return
        self.hold(question, None, error)
        if document:
            self.as_of(question, moment, document)
            self.hold(question, moment.quota(queue), reported_quota(document))

    def as_of(self, question, moment, document):
        reported = document["asOf"]
        self.hold(question, (moment.seq, moment.time, moment.event_time),
                  (reported["seq"], milliseconds(reported["time"]), milliseconds(reported["eventTime"])))
        self.hold(question, moment.config["seq"], document["configuration"]["seq"])

    def exists(self, moment, queue, flavor, resource):
        return any((q, f) == (queue, flavor) and r == canonical(resource) for q, f, r in moment.pairs())

    def asked_of_pair(self, verb, place, queue, flavor, resource):
        """(question, document, moment, pair); the document is None where nothing more can be compared."""
        question = [verb, queue, flavor, resource, "--as-of", spelled(place)]
        document, error = self.ask(*question)
        moment, pair = self.moment(place), (queue, flavor, canonical(resource))
        exists = self.exists(moment, *pair)
        self.hold(question, None if exists else 2, error and (error if exists else error[0]))
        if not exists or not document:
            return question, None, moment, pair
        self.as_of(question, moment, document)
        return question, document, moment, pair

    def why(self, place, queue, flavor, resource):
        question, document, moment, pair = self.asked_of_pair("why", place, queue, flavor, resource)
        if document is None:
            return
        r = moment.spelling(queue, resource)
        self.hold(question, (queue, flavor, r), (document["queue"], document["flavor"], document["resource"]))
        value, row = document["value"], moment.quota(queue)[(queue, flavor, r)]
        self.hold(question, {k: row[k] for k in ("nominal", "desired", "base", "ours", "overbookPercent")},
                  {"ours": value["ours"], "overbookPercent": value["overbookPercent"],
                   **{k: number(r, value[k]) for k in ("nominal", "desired", "base")}})
        rows = history_rows(moment.events, queue, flavor, resource)
        self.hold([*question, "written"], rows[-1][:7] if rows else None,
                  reported_history({"rows": [document["written"]]})[0][:7] if document["written"] else None)
        grants = [moment.why_grant(pair, g) for g in moment.grants(pair)]
        self.hold(question, grants, [reported_grant(r, g) for g in document["grants"]])

    def why_not(self, place, queue, flavor, resource):
        question, document, moment, pair = self.asked_of_pair("why-not", place, queue, flavor, resource)
        if document is None:
            return
        r = document["resource"]
        self.hold(question, {"nominal": moment.nominal(pair), "desired": moment.wished(pair),
                             "undamped": moment.undamped(pair)},
                  {k: number(r, document[k]) for k in ("nominal", "desired", "undamped")})
        expected = moment.guards(pair)
        reported = {reported_guard(g, pair[2]): reported_guard_times(g) for g in document["guards"]}
        reported = {name: {k: v for k, v in one.items() if k in expected.get(name, one)}
                    for name, one in reported.items()}
        self.hold([*question, "guards"], expected, reported)
        differs = moment.wished(pair) not in (None, moment.nominal(pair))
        names = [g["guard"] for g in document["guards"]]
        bars = [name for name in names if name in BARS_OF_A_WRITE]
        first = (bars or ["DueNow"])[0] if differs else (names or ["NothingDiffers"])[0]
        self.hold([*question, "answer"], first, document["answer"])

    def diff(self, one, other, queue=""):
        question = ["diff", spelled(one), spelled(other), *([queue] if queue else [])]
        document, error = self.ask(*question)
        if queue and not any(self.names(place, queue) for place in (one, other)):
            self.hold(question, 2, error and error[0])
            return
        self.hold(question, None, error)
        if not document:
            return
        before, after = self.moment(one).for_diff(), self.moment(other).for_diff()
        reported = reported_diff(document)
        for part in ("capacity", "grants", "quotas", "claims"):
            a, b = before[part], after[part]
            expected = {k: (a.get(k), b.get(k)) for k in set(a) | set(b) if a.get(k) != b.get(k)}
            if queue:
                expected = {k: v for k, v in expected.items() if self.concerns(part, k, queue, (one, other))}
            if part == "capacity":  # a flavor of which nothing counts may be reported as zero or not at all
                expected, reported[part] = ({k: tuple(None if v is None or v["accepted"] == v["usable"] == 0 else v
                                                      for v in two) for k, two in rows.items()}
                                            for rows in (expected, reported[part]))
                expected, reported[part] = ({k: two for k, two in rows.items() if two != (None, None)}
                                            for rows in (expected, reported[part]))
            self.hold([*question, part], expected, reported[part])

    def whatif(self, arguments, changed):
        question = ["whatif", *[a for x in arguments for a in ("--set", x)]]
        document, error = self.ask(*question)
        self.hold(question, None, error)
        if not document:
            return
        end = milliseconds(self.events[-1]["logTime"])
        self.hold([*question, "control"], document["totals"]["history"], document["totals"]["sameConfiguration"])
        for name, settings in (("history", {}), ("whatIf", changed)):
            hub, reported = world(self.events, settings, end), document["totals"][name]
            expected = totals_of(hub, end)
            reported = dict(reported)
            for part in ("overQuotaResourceHours", "underQuotaResourceHours"):
                reported[part] = {r: reported_hours(r, v) for r, v in reported[part].items() if reported_hours(r, v)}
            self.hold([*question, name], expected, {k: reported[k] for k in expected})
            self.differences([*question, name], name, hub, document)

    def unchanged(self, one, other):
        """Under the configuration that was in force nothing differs, wherever the worlds part and end."""
        window = self.moment(one).config["configuration"]["debounce"]["shrinkWindow"]
        first, last = sorted((one, other), key=lambda place: place[1])
        question = ["whatif", "--set", "debounce.shrinkWindow=" + window, "--from", spelled(first),
                    "--to", spelled(last)]
        document, error = self.ask(*question)
        self.hold(question, None, error)
        if document:
            self.hold(question, [], document["differences"])
            self.hold(question, document["totals"]["sameConfiguration"], document["totals"]["whatIf"])
            self.hold(question, document["totals"]["whatIf"]["writes"], document["same"])

    def differences(self, question, name, hub, document):
        """Each write that is reported is one of the world's; those that are not reported are in both."""
        reported = [d[name] for d in document["differences"] if d[name]]
        self.hold(question, document["totals"][name]["writes"], document["same"] + len(reported))
        before, writes = {}, {}
        for event in self.events:
            if event.get("kind") == "ClusterQueue" and event["fact"] == "ObjectObserved" and event["cause"] == 0:
                before[event["name"]] = quotas_of(event["facts"])
        for when, queue, quota in hub.writes:
            writes.setdefault((when, "ClusterQueue " + queue), []).append(quota)
        for one in document["differences"]:
            if one[name]:
                key = (milliseconds(one[name]["time"]), one["object"])
                values = [{step_end(x) for x in one[name]["text"].split("; ")}]
                made = {(f, r, v) for quota in writes.get(key, []) for (f, r), v in quota.items()}
                self.hold([*question, key], True, values[0] <= made)

    def edges(self):
        """Places and names that are not there are bad input; long after the end everything has settled."""
        first, last = milliseconds(self.events[0]["logTime"]), self.events[-1]["seq"]
        for question in (["quota", "--as-of", "seq:0"], ["quota", "--as-of", "seq:%d" % (last + 1)],
                         ["why-not", "qa", "nowhere", "cpu"], ["why", "unknown", "od", "cpu"], ["history", "unknown"],
                         ["quota", "unknown"], ["diff", "seq:1", "seq:2", "unknown"],
                         ["quota", "--as-of", "1969-12-31T23:59:59Z"] if first == 0 else ["quota", "--as-of", "soon"]):
            _, error = self.ask(*question)
            self.hold(question, 2, error and error[0])
        self.quota(("time", milliseconds(self.events[-1]["logTime"]) + 3600000))

    def again(self, where, count, way):
        """The same questions of the same history, answered by something else: the same bytes."""
        for question, document, error in self.pick.sample(self.answers, min(count, len(self.answers))):
            if question[0] == "whatif" and "--server" in where:
                continue
            self.asked[way] += 1
            self.hold([*question, way], (document, bool(error)), (lambda d, e: (d, bool(e)))(
                *ask(self.binary, where, *question)))

    def concerns(self, part, key, queue, two):
        """Whether the row is about the queue, a claim that names it, or the cluster of such a claim."""
        if part == "quotas":
            return key[0] == queue
        if part == "grants":
            return key[1] == queue
        named = {(name, spec["clusterName"]) for place in two
                 for name, spec in self.moment(place).hub.valid_specs.items()
                 if any(a["clusterQueueName"] == queue for a in spec["resourceAssignments"])}
        return any(key == name if part == "claims" else key[0] == cluster for name, cluster in named)

    def history(self, queue, flavor="", resource="", first=None, last=None):
        question = ["history", queue]
        for name, text in (("--flavor", flavor), ("--resource", resource), ("--from", first), ("--to", last)):
            question += [name, str(text)] if text else []
        document, error = self.ask(*question)
        rows = history_rows(self.events, queue, flavor, resource, first or 1, last)
        if document:
            self.hold(question, sorted(rows), sorted(reported_history(document)))
        elif rows:
            self.hold(question, rows, error)


def other_ways(judged, scratch):
    """The log as an exported file, and that imported."""
    bundle, imported = (os.path.join(scratch, name) for name in ("all.fairlead", "imported"))
    run = lambda *command: subprocess.run([judged.binary, *command], check=True, capture_output=True, timeout=60)
    run("log", "export", bundle, "--data", judged.where[1])
    judged.again(["--bundle", bundle], 5, "bundle")
    run("log", "import", bundle, "--data", imported)
    judged.again(["--data", imported], 8, "imported")


KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{name: x, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: x, user: {}}]
contexts: [{name: x, context: {cluster: x, user: x}}]
current-context: x
"""


def over_http(judged, scratch):
    """A hub whose API server does not answer goes on with the log under another configuration: the past stays."""
    data, config = os.path.join(scratch, "hub"), os.path.join(scratch, "kubeconfig")
    shutil.copytree(judged.where[1], data)
    with open(config, "w", encoding="utf-8") as out:
        out.write(KUBECONFIG)
    last = judged.events[-1]
    settled = [x for x in judged.answers if x[0][0] != "whatif" and {"--as-of", "--to"} & set(x[0])
               and all(int(p[4:]) <= last["seq"] for p in x[0] if p.startswith("seq:"))]
    end = milliseconds(last["logTime"])
    judged.answers = [x for x in settled if not any(milliseconds(p) > end for p in x[0] if p.endswith("Z"))]
    hub = subprocess.Popen([judged.binary, "hub", "--kubeconfig", config, "--data", data, "--listen", "127.0.0.1:0",
                            "--recommend-only", "--set", "debounce.growWindow=7m"], stderr=subprocess.PIPE, text=True)
    try:
        port = next(text.rsplit("port=", 1)[1].strip() for text in hub.stderr if "port=" in text)
        server = ["--server", "http://127.0.0.1:" + port]
        judged.again(server, 25, "server")
        document, error = ask(judged.binary, server, "diff", "seq:%d" % last["seq"], "2100-01-01T00:00:00Z")
        judged.hold(["diff", "server"], None, error)
        if document:
            reported = {row["key"]: row["to"] for row in document["configuration"]}
            judged.hold(["diff", "configuration"], "7m0s", reported.get("debounce.growWindow"))
    finally:
        hub.terminate()
        hub.communicate(timeout=60)


def another_configuration(pick, features):
    """What to ask whatif for: ([argument], {setting: value})."""
    names = {"shrinkWindow": [0, 2000, 20000], "growWindow": [0, 7000, 40000], "minGrowInterval": [0, 30000],
             "firstQuiet": [0, 9000], "massShrinkPercent": [0, 50], "massShrinkHold": [5000, 30000],
             "writeInterval": [0, 6000], "growDeadbandPercent": [0, 20], "flapPenalty": [0, 1000]}
    if "queuegone" in features:
        del names["writeInterval"]  # the model does not know whether a queue that is made again inherits it
    chosen = {name: pick.choice(names[name]) for name in pick.sample(sorted(names), pick.randint(1, 2))}
    arguments = ["debounce.%s=%s" % (name, value if "Percent" in name or "Penalty" in name else "%dms" % value)
                 for name, value in chosen.items()]
    if pick.random() < 0.2:
        chosen["overbookPercent"] = pick.choice([80, 120])
        arguments.append("capacity.overbookPercent=%d" % chosen["overbookPercent"])
    return arguments, chosen


def spelled(place):
    return traces.rfc3339(place[1]) if place[0] == "time" else "seq:%d" % place[1]


def places(events, pick, count):
    """Times between events, at events, right before them, and seqs."""
    out, last = [], milliseconds(events[-1]["logTime"])
    for _ in range(count):
        event = pick.choice(events)
        when = milliseconds(event["logTime"])
        out.append(pick.choice([("time", when), ("time", max(0, when - 1)), ("time", pick.randint(0, last + 5000)),
                                ("seq", event["seq"])]))
    return [p for p in out if p[0] == "time" or p[1] > 1]


def judge(binary, data, seed, maker, questions):
    pick = random.Random(seed * 7 + 1)
    judged = Judge(binary, data, pick)
    flavors, resources = maker.flavors, maker.resources + (["nvidia.com/gpu"] if "gpu" in maker.resources else [])
    for place in places(judged.events, pick, questions):
        queue = pick.choice(traces.QUEUES)
        judged.why(place, queue, pick.choice(flavors), pick.choice(resources))
        judged.why_not(place, pick.choice(traces.QUEUES), pick.choice(flavors), pick.choice(resources))
        if pick.random() < 0.5:
            judged.diff(place, places(judged.events, pick, 40)[0], pick.choice(["", queue]))
        if pick.random() < 0.4:
            judged.quota(place, pick.choice(["", queue]))
    for queue in traces.QUEUES:
        judged.history(queue, pick.choice(["", *flavors]), pick.choice(["", *resources]))
    judged.history(pick.choice(traces.QUEUES), first=pick.randint(1, 30),
                   last=judged.events[-1]["seq"] - pick.randint(0, 9))
    for _ in range(2):
        judged.whatif(*another_configuration(pick, maker.on))
    some = places(judged.events, pick, 12)
    for kind in ("time", "seq"):
        for pair in zip(*[iter([place for place in some if place[0] == kind])] * 2):
            judged.unchanged(*pair)
    return judged


def main():
    options = seeds.arguments("0..60")
    low, _, high = options.seeds.partition("..")
    began, failures, ran, asked, patterns = time.monotonic(), 0, 0, Counter(), Counter()
    first = {}
    for seed in range(int(low), int(high or low) + 1):
        if time.monotonic() - began > options.seconds:
            break
        maker = audit_traces.Maker(seed, options.features.split(",") if options.features else None)
        config, lines = maker.config(), maker.make()
        with tempfile.TemporaryDirectory() as scratch:
            data = os.path.join(scratch, "data")
            compare.plan(options.binary, config, lines, ["--log", data])
            judged = judge(options.binary, data, seed, maker, 6)
            if ran % 4 == 0:
                judged.edges()
            if ran % 3 == 0:
                other_ways(judged, scratch)
            if ran % 16 == 0:
                over_http(judged, scratch)
        ran += 1
        asked += judged.asked
        failures += bool(judged.found)
        for question, path, expected, reported in judged.found:
            key = question[0] + " " + "".join(c for c in path if not c.isdigit())
            patterns[key] += 1
            first.setdefault(key, []).append((seed, " ".join(map(str, question)), path, expected, reported))
    for key, count in patterns.most_common():
        print(count, key)
        for one in first[key][:3]:
            print("    ", *one)
    print("%d traces, %d questions (%s), %d traces with a difference" % (
        ran, sum(asked.values()), ", ".join("%d %s" % (n, k) for k, n in sorted(asked.items())), failures))
    return 1 if failures or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
