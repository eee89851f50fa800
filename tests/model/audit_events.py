"""The events of a log, as `fairlead log cat` prints them, read by hand: their facts, and what became of our writes.

`lines_of` gives back what others did as the lines that model.Hub runs, each with the seq of its event, so that an
answer about the past can be derived from nothing but the log.
"""
import json
import subprocess
from datetime import datetime, timezone

from capacity import amount, canonical

GROUPS = {"ResourceFlavor", "ClusterQueue", "ClusterResourceClaim", "Node", "ClusterMetrics"}


def read_log(binary, where):
    done = subprocess.run([binary, "log", "cat", *where], capture_output=True, text=True, check=True, timeout=60)
    return [json.loads(text) for text in done.stdout.splitlines()]


def milliseconds(text):
    """Since 1970; the traces know no finer time."""
    if text is None:
        return None
    whole, _, fraction = text.rstrip("Z").partition(".")
    seconds = datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
    return int(seconds) * 1000 + int((fraction or "0").ljust(3, "0")[:3])


def duration(text):
    """Milliseconds of a duration as Go writes it: 1h0m0s, 1m4s, 500ms."""
    units, total, digits, i = {"h": 3600000, "m": 60000, "s": 1000, "ms": 1}, 0.0, "", 0
    while i < len(text):
        if text[i].isdigit() or text[i] == ".":
            digits += text[i]
            i += 1
            continue
        unit = "ms" if text[i:i + 2] == "ms" else text[i]
        total += float(digits) * units[unit]
        digits, i = "", i + len(unit)
    return round(total)


def settings_of(texts):
    """The debounce settings of a ConfigChanged, or of a claim's annotations."""
    return {key: duration(value) if isinstance(value, str) and not value.isdigit() else int(value)
            for key, value in texts.items()}


def configuration(event):
    """What model.Hub takes of a ConfigChanged. Nothing is coalesced: what the log holds has been through that."""
    value = event["configuration"]
    settings = dict(settings_of(value["debounce"]), ingestCoalesce=0)
    return {"debounce": settings, "headroom": value["capacity"]["headroom"],
            "overbookPercent": value["capacity"]["overbookPercent"]}


def quotas_of(facts):
    """{(flavor, resource as the queue spells it): text}"""
    return {(f["name"], r["name"]): r["nominalQuota"] for g in facts["resourceGroups"] for f in g["flavors"]
            for r in f["resources"]}


# ------------------------------------------------------------------------------------- what others did


def spelt(resource, number):
    return "%dm" % number if resource == "cpu" else str(number)


def node_object(event, facts, name):
    spec = {"taints": facts.get("taints", [])}
    if facts.get("unschedulable"):
        spec["unschedulable"] = True
    return {"kind": "Node", "seq": event["seq"], "metadata": {"name": name, "labels": facts.get("labels", {})},
            "spec": spec, "status": {
                "allocatable": {r: spelt(r, n) for r, n in facts["allocatable"].items()},
                "conditions": [{"type": "Ready", "status": "True" if facts.get("ready", True) else "False"}]}}


def claim_object(event):
    facts = event["facts"]
    seen = facts["spec"]
    spec = {"clusterName": seen["clusterName"], "nominalResources": seen["nominalResources"],
            "shrinkPolicy": seen["shrinkPolicy"] or "Proportional", "flavorCapacity": seen["flavorCapacity"] or "Auto",
            "nominalPolicy": seen["nominalPolicy"] or "Fixed", "resourceAssignments": []}
    for row in seen["resourceAssignments"]:
        one = dict(row, clusterQueueName=row["clusterQueue"])
        spec["resourceAssignments"].append(one)
    metadata = {"name": event["name"], "uid": event["uid"], "generation": event["generation"],
                "creationTimestamp": facts["created"]}
    if facts["deleting"]:
        metadata["deletionTimestamp"] = facts["created"]
    return {"kind": "ClusterResourceClaim", "seq": event["seq"], "metadata": metadata, "spec": spec,
            "debounce": facts["debounce"]}


def queue_object(event):
    facts = event["facts"]
    annotations = {"fairlead.io/base-quota": facts["baseQuota"]} if facts["baseQuota"] else {}
    return {"kind": "ClusterQueue", "seq": event["seq"],
            "metadata": {"name": event["name"], "annotations": annotations}, "spec": {"resourceGroups": [{"flavors": [
                {"name": f["name"], "resources": [dict(r, name=canonical(r["name"])) for r in f["resources"]]}
                for f in g["flavors"]]} for g in facts["resourceGroups"]]}}


def flavor_object(event):
    facts = event["facts"]
    return {"kind": "ResourceFlavor", "seq": event["seq"], "metadata": {"name": event["name"]},
            "spec": {"nodeLabels": facts["nodeLabels"], "nodeTaints": facts["nodeTaints"],
                     "tolerations": facts["tolerations"]}}


class Lines:
    """Turns events into lines, one after the other."""

    def __init__(self):
        self.metrics = {}  # cluster -> {node: facts} of its last ClusterMetrics that named any
        self.by_nodes = set()  # clusters of which a Node was observed: their ClusterMetrics no longer count
        self.lines = []

    def add(self, event, type_, obj=None, cluster="hub"):
        self.lines.append({"type": type_, "time": milliseconds(event["logTime"]), "cluster": cluster,
                           "seq": event["seq"], **({"object": obj} if obj else {})})

    def take(self, event):
        fact, kind, source = event["fact"], event.get("kind"), event["source"]
        if fact in ("SourceSynced", "SourceStale", "SourceLost"):
            self.add(event, {"SourceSynced": "SOURCE_SYNCED", "SourceStale": "SOURCE_STALE",
                             "SourceLost": "SOURCE_LOST"}[fact], cluster=source)
            return
        if kind == "Node" and fact in ("ObjectObserved", "ObjectGone"):
            self.leave_metrics(event, source)
        if fact == "ObjectGone" and kind in GROUPS:
            self.add(event, "DELETED", {"kind": kind, "seq": event["seq"], "metadata": {"name": event["name"]},
                                        "spec": {}}, source)
        elif fact == "ObjectObserved" and event["cause"] == 0 and kind in GROUPS:
            if kind == "ClusterMetrics":
                self.take_metrics(event)
                return
            obj = {"Node": lambda e: node_object(e, e["facts"], e["name"]), "ClusterResourceClaim": claim_object,
                   "ClusterQueue": queue_object, "ResourceFlavor": flavor_object}[kind](event)
            self.add(event, "MODIFIED", obj, source)

    def gone(self, event, name, cluster):
        self.add(event, "DELETED", {"kind": "Node", "seq": event["seq"], "metadata": {"name": name}, "spec": {}},
                 cluster)

    def leave_metrics(self, event, cluster):
        """Nodes are the first source: from the first one on, only Nodes count."""
        if cluster not in self.by_nodes:
            for name in sorted(self.metrics.get(cluster, {})):
                self.gone(event, name, cluster)
        self.by_nodes.add(cluster)

    def take_metrics(self, event):
        """A set of nodes: who is not named is gone; no node at all says nothing."""
        cluster = event["name"]
        nodes = event["facts"]["nodes"]
        if not nodes or cluster in self.by_nodes:
            return
        for name in sorted(set(self.metrics.get(cluster, {})) - set(nodes)):
            self.gone(event, name, cluster)
        for name, facts in sorted(nodes.items()):
            self.add(event, "MODIFIED", node_object(event, facts, name), cluster)
        self.metrics[cluster] = nodes


def lines_of(events, last=None):
    """What others did up to the event `last`."""
    lines = Lines()
    for event in events:
        if last is None or event["seq"] <= last:
            lines.take(event)
    return lines.lines


# ---------------------------------------------------------------------------- the history of one queue


def answers_of(events):
    """{seq of an intent: (outcome, seq, logTime)}"""
    names = {"PatchAccepted": "accepted", "PatchRejected": "rejected", "PatchUnknown": "unknown"}
    return {e["intent"]: (names[e["fact"]], e["seq"], e["logTime"]) for e in events if e["fact"] in names}


def history_rows(events, queue, flavor="", resource="", first=1, last=None):
    """Every change of a nominalQuota of the queue: (seq, logTime, flavor, resource, old, new, writer, answer)."""
    answers, current, rows = answers_of(events), {}, []
    for event in events:
        if event.get("kind") != "ClusterQueue" or event["name"] != queue:
            continue
        if event["fact"] == "ObjectObserved":
            new, writer, answer = quotas_of(event["facts"]), "foreign", None
        elif event["fact"] == "ObjectGone":
            new, writer, answer = {}, "foreign", None
        elif event["fact"] == "PatchIntended":
            new, writer, answer = quotas_of(event["expected"]), "fairlead", answers.get(event["seq"])
        else:
            continue
        for pair in sorted(set(current) | set(new)):
            old_text, new_text = current.get(pair), new.get(pair)
            if same_quota(pair[1], old_text, new_text):
                continue
            asked = (not flavor or pair[0] == flavor) and (not resource or canonical(pair[1]) == canonical(resource))
            if asked and event["seq"] >= first and (last is None or event["seq"] <= last):
                rows.append((event["seq"], event["logTime"], pair[0], pair[1], value(pair[1], old_text),
                             value(pair[1], new_text), writer, answer))
        current = new
    return rows


def value(resource, text):
    return None if text is None else amount(canonical(resource), text)


def same_quota(resource, a, b):
    return value(resource, a) == value(resource, b)
