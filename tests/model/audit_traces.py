"""Traces for questions about the past: those of traces.py, and on top what such questions stumble over: a queue that is
deleted and made again, a claim under another name, flavors that select other labels, a cluster that ClusterMetrics
reports, also until its Nodes do, queues that spell the alias, nodes that flap.
"""
import json
import random

import traces
from traces import line

MORE = ("queuegone", "renamed", "relabel", "metrics", "alias")
LATER = ("nodeslater", "flapping")  # drawn for themselves: a seed without them is the trace that it always was


class Maker(traces.Maker):
    SPARSE = 0  # the oracle makes no places
    ABSENCES = 0  # the oracle does not know them

    def __init__(self, seed, features=None):
        super().__init__(seed, features)
        if features is None:
            self.on |= {f for f in MORE if self.r.random() < 0.3}
            pick = random.Random("later %d" % seed)
            self.on |= {f for f in LATER if pick.random() < 0.5}
        self.later = random.Random("traces later %d" % seed)
        if "queuegone" in self.on:
            self.on.discard("writeInterval")  # the model does not know whether a new queue inherits the interval

    def queue(self, name):
        queue = super().queue(name)
        if "alias" in self.on and name != "qb":
            text = json.dumps(queue["spec"]).replace('"nvidia.com/gpu"', '"gpu"')
            queue["spec"] = json.loads(text)
        return queue

    def make(self):
        lines = super().make()
        extra = []
        last = lines[-1]["time"]
        if "queuegone" in self.on and last > 9000:
            extra += self.queue_gone(last)
        if "renamed" in self.on and last > 9000 and "claimdelete" not in self.on and "edits" not in self.on:
            extra += self.renamed(lines, last)
        if "relabel" in self.on and last > 9000:
            extra.append(self.relabelled(last))
        if "flapping" in self.on and "flap" in self.on:
            extra += self.flapping(last)
        merged = sorted(lines + extra, key=lambda entry: entry["time"])  # sorted keeps the order of equal times
        if "metrics" in self.on and "stale" not in self.on:
            until = None
            if "nodeslater" in self.on and last > 9000:
                until = self.later.randrange(2000, last, 500)
            merged = by_metrics(merged, self.clusters[-1], until, self.later)
        self.lines = merged
        return merged

    def flapping(self, last):
        """A node of the last cluster that comes and goes, quicker than its penalty decays, and stays in the end."""
        r, out = self.later, []
        node = self.node_of(r)
        when = r.randrange(0, max(500, last // 2), 500)
        for _ in range(r.randint(3, 5)):
            for ready in ("True", "False"):
                changed = json.loads(json.dumps(node))
                changed["status"]["conditions"][0]["status"] = ready
                out.append(line(when, "Node", changed, cluster=self.clusters[-1]))
                when += r.choice([500, 1000, 4000, 9000])
        return [*out, line(when, "Node", node, cluster=self.clusters[-1])]

    def node_of(self, r):
        return {"metadata": {"name": "flapper", "labels": {"type": r.choice(["od", "od", "spot"])}}, "spec": {},
                "status": {"allocatable": {traces.canonical_gpu(x): "%d%s" % (r.randint(3, 12), "Gi" * (x == "memory"))
                                           for x in self.resources},
                           "conditions": [{"type": "Ready", "status": "True"}]}}

    def moment(self, last):
        return self.r.randrange(2000, last, 500)

    def queue_gone(self, last):
        gone = self.moment(last)
        queue = self.queue("qa")
        return [line(gone, "ClusterQueue", {"metadata": {"name": "qa"}, "spec": queue["spec"]}, "DELETED"),
                line(gone + self.r.choice([0, 500, 7000]), "ClusterQueue", queue)]

    def renamed(self, lines, last):
        """The claim of the last cluster is deleted, and one with the same spec and another name is created."""
        name = "claim-" + self.clusters[-1]
        first = next(x["object"] for x in lines if x.get("object", {}).get("metadata", {}).get("name") == name)
        when = self.moment(last)
        again = dict(first, metadata=dict(first["metadata"], name="again", uid="uid-again"))
        return [dict(line(when, "ClusterResourceClaim", {}, "DELETED"), object=first),
                dict(line(when + self.r.choice([0, 3000]), "ClusterResourceClaim", {}), object=again)]

    def relabelled(self, last):
        """A flavor selects other nodes from here on."""
        name = self.r.choice(self.flavors)
        labels = self.r.choice([{}, {"type": "spot"}, {"size": "big"}, {"type": "od", "size": "big"}])
        return line(self.moment(last), "ResourceFlavor", {
            "metadata": {"name": name}, "spec": dict(traces.FLAVORS[name], nodeLabels=labels)}, "MODIFIED")


def by_metrics(lines, cluster, until=None, pick=None):
    """The cluster's Nodes as one ClusterMetrics, which has no Ready: a node that is not ready has a taint. From `until`
    on the Nodes themselves; the ClusterMetrics before may lack a node, or list one that does not exist.
    """
    nodes, out, changed = {}, [], None
    wrong = pick.choice([None, "ghost", "hidden"]) if until is not None else None

    def flush():
        if changed is not None:
            listed = dict(list(nodes.items())[1:]) if wrong == "hidden" else dict(nodes)
            if wrong == "ghost" and nodes:
                listed["ghost"] = next(iter(nodes.values()))
            reported = [{"name": n, "labels": o["metadata"].get("labels", {}), "taints": taints_of(o),
                         "unschedulable": bool(o["spec"].get("unschedulable")),
                         "allocatableResources": o["status"]["allocatable"]} for n, o in listed.items()]
            out.append({"type": "MODIFIED", "time": changed, "cluster": "hub", "object": {
                "apiVersion": "galaxy.kubestellar.io/v1alpha1", "kind": "ClusterMetrics", "metadata": {"name": cluster},
                "status": {"nodes": reported} if reported else {}}})

    for place, entry in enumerate(lines):
        if changed is not None and entry["time"] != changed:
            flush()
            changed = None
        if until is not None and entry["time"] >= until:
            out += [line(until, "Node", o, cluster=cluster) for o in nodes.values()]
            return out + lines[place:]
        if entry.get("object", {}).get("kind") == "Node" and entry["cluster"] == cluster:
            name = entry["object"]["metadata"]["name"]
            nodes.pop(name, None)
            if entry["type"] != "DELETED":
                nodes[name] = entry["object"]
            changed = entry["time"]
        else:
            out.append(entry)
    flush()
    return out


def taints_of(node):
    ready = node["status"]["conditions"][0]["status"] == "True"
    return list(node["spec"].get("taints", [])) + ([] if ready else [{"key": "dead", "effect": "NoExecute"}])
