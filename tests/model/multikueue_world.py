"""What the objects of the hub say to the MultiKueue path: who is selected by whom, with which credential and rank.

Objects are kept whole, as the lines of `fairlead plan` bring them; every question is answered by a scan. Times are
integer milliseconds. Nothing here has a past: what needs one is in multikueue.py.
"""
import datetime
import functools
import re
from fractions import Fraction

KUEUE = "kueue.x-k8s.io/v1beta2"
OURS = "open-cluster-management.io/placement"
KUEUES_OWN = "kueue.x-k8s.io/multikueue"
PLACEMENT_LABEL = "cluster.open-cluster-management.io/placement"
CLUSTER_NAME_LABEL = "open-cluster-management.io/cluster-name"
FINALIZER = "kueue-addon.open-cluster-management.io/admissioncheck-cleanup"
MARK = ("app.kubernetes.io/managed-by", "fairlead")
OWNER = "fairlead.io/owner"
ANNOTATION = "fairlead.io/multikueue."
DURATIONS = ("settle", "moveWindow", "drainTimeout", "emptyGrace", "credentialGrace")
DEFAULTS = {"settle": 2000, "moveWindow": 120000, "drainTimeout": 3600000, "emptyGrace": 600000,
            "credentialGrace": 600000, "profile": "placement", "accessProviders": [], "adoptOcmAddon": False,
            "dispatcher": False, "clearedBy": "policy", "namespace": "kueue-system"}
OUR_CONDITIONS = ("Active", "AllClustersUsed", "DispatcherReady")
NAMESPACED = {"Placement", "PlacementDecision", "ClusterProfile", "Secret", "AddOnPlacementScore", "Workload",
              "FleetResourceClaim", "FleetResourceClaimTemplate", "FleetScheduling", "ResourceClaimTemplate"}

# Where the pages can be read in two ways.
KUEUES_CHECK_USES_CONFIG = True    # does a Workload with only Kueue's own check on the config hold a cluster of it
A_LIST_TAKES_NAMES = True          # does a name that is only in the list of an earlier Placement count as its pair

_UNITS = {"ns": Fraction(1, 1000000), "us": Fraction(1, 1000), "ms": 1, "s": 1000, "m": 60000, "h": 3600000}


def duration(text):
    """Milliseconds of a Go duration, or None if it is none, negative, or no text."""
    if text == "0":
        return 0
    if not isinstance(text, str) or not re.fullmatch(r"(\d+(\.\d+)?(ns|us|ms|s|m|h))+", text):
        return None
    return int(sum(Fraction(n) * _UNITS[u] for n, u in re.findall(r"(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)", text)))


def instant(text):
    """Milliseconds since 1970 of an RFC 3339 time in UTC."""
    when = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return round((when - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)).total_seconds() * 1000)


def meta(obj):
    return obj.get("metadata", {})


def marked(obj):
    return meta(obj).get("labels", {}).get(MARK[0]) == MARK[1] and OWNER in meta(obj).get("annotations", {})


def deleting(obj):
    return bool(meta(obj).get("deletionTimestamp"))


def condition(obj, type_):
    """The condition of that type as the object has it, or None."""
    return next((c for c in obj.get("status", {}).get("conditions", []) if c["type"] == type_), None)


def is_true(obj, type_):
    found = condition(obj, type_)
    return found is not None and found["status"] == "True"


def subdomain(name):
    label = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
    return len(name) <= 253 and re.fullmatch(r"%s(\.%s)*" % (label, label), name) is not None


def scan(question):
    """Answers the same question only once while no object changes."""
    @functools.wraps(question)
    def answered(self, *about):
        key = (question.__name__, *about)
        if key not in self.answers:
            self.answers[key] = question(self, *about)
        return self.answers[key]
    return answered


class World:
    """The objects of the hub, and what follows from them alone."""

    def __init__(self, settings):
        self.settings = dict(DEFAULTS, **settings)
        self.namespace = self.settings["namespace"]
        self.objects = {}
        self.answers = {}    # of the scans; forgotten whenever an object changes
        self.assumes_policy = True    # a plan whose lines show no MutatingAdmissionPolicy takes ours as there

    def read_ahead(self, lines):
        self.assumes_policy = not any(line.get("object", {}).get("kind") == "MutatingAdmissionPolicy" for line in lines)

    @staticmethod
    def key(obj):
        namespace = meta(obj).get("namespace", "") if obj["kind"] in NAMESPACED else ""
        return (obj["kind"], namespace, meta(obj)["name"])

    def take(self, line):
        self.answers.clear()
        if "object" not in line or line.get("cluster", "hub") != "hub":
            return
        if line["type"] == "DELETED":
            self.objects.pop(self.key(line["object"]), None)
        elif line["type"] in ("ADDED", "MODIFIED"):
            self.objects[self.key(line["object"])] = line["object"]

    def get(self, kind, name, namespace=""):
        return self.objects.get((kind, namespace, name))

    @scan
    def all(self, kind, namespace=None):
        return [self.objects[k] for k in sorted(k for k in self.objects if k[0] == kind and namespace in (None, k[1]))]

    # Who clears nominations

    @staticmethod
    def clears(policy):
        name, own = meta(policy)["name"], "clear-nominated-cluster-names"
        label = meta(policy).get("labels", {}).get("fairlead.io/clears-nominations")
        return not deleting(policy) and (name == own or name.endswith("-" + own) or label == "true")

    @scan
    def nominates(self):
        """Whether anything may be nominated."""
        return self.settings["dispatcher"] and (
            self.settings["clearedBy"] == "mergePatch" or self.assumes_policy
            or any(self.clears(p) for p in self.all("MutatingAdmissionPolicy")))

    def dispatcher_ready(self):
        """(status, reason) of DispatcherReady, or None."""
        if not self.settings["dispatcher"]:
            return None
        return ("True", "DispatcherReady") if self.nominates() else ("False", "ClearingPolicyMissing")

    @staticmethod
    def brief(found):
        return (found["status"], found["reason"]) if found else None

    # Checks and settings

    @scan
    def checks(self):
        return [c for c in self.all("AdmissionCheck") if c["spec"].get("controllerName") == OURS]

    @staticmethod
    def parameter(check):
        """The Placement that its parameters name, or None if they are bad."""
        p = check["spec"].get("parameters") or {}
        good = p.get("apiGroup") == "cluster.open-cluster-management.io" and p.get("kind") == "Placement"
        return p.get("name") or None if good else None

    @scan
    def users(self, placement):
        """The checks that use the Placement's config now."""
        return [c for c in self.checks() if not deleting(c) and self.parameter(c) == placement]

    def own_setting(self, check, name):
        value = duration(meta(check).get("annotations", {}).get(ANNOTATION + name))
        return self.settings[name] if value is None else value

    def setting(self, placement, name):
        """The longest of the checks that share the Placement; what is configured if there is none."""
        return max([self.own_setting(c, name) for c in self.users(placement)], default=self.settings[name])

    def adopts(self, placement):
        return self.settings["adoptOcmAddon"] and any(
            FINALIZER in meta(c).get("finalizers", []) for c in self.users(placement))

    # Decisions, names

    @scan
    def decided(self, placement):
        """D: every cluster in a decision of that Placement."""
        return {d["clusterName"] for o in self.all("PlacementDecision", self.namespace)
                if meta(o).get("labels", {}).get(PLACEMENT_LABEL) == placement
                for d in o.get("status", {}).get("decisions", []) if d.get("clusterName")}

    @scan
    def placements(self):
        """Every name that a Placement, a decision, a check or a marked config gives."""
        found = {meta(o)["name"] for o in self.all("Placement", self.namespace)}
        found |= {meta(o).get("labels", {}).get(PLACEMENT_LABEL) for o in self.all("PlacementDecision", self.namespace)}
        found |= {self.parameter(c) for c in self.checks()}
        found |= {meta(o)["name"] for o in self.all("MultiKueueConfig") if marked(o)}
        return sorted(found - {None, ""})

    def name(self, placement, cluster):
        return cluster if self.settings["profile"] == "cluster" else "%s-%s" % (placement, cluster)

    def cluster_behind(self, placement, name):
        """The cluster of a member that no decision names, by its MultiKueueCluster: ours, or one to be taken over."""
        there = self.get("MultiKueueCluster", name)
        head = "" if self.settings["profile"] == "cluster" else placement + "-"
        if there is None or not name.startswith(head) or name == head:
            return None
        cluster = name[len(head):]
        owner = "placement/" + placement if head else "cluster/" + cluster
        ours = marked(there) and meta(there)["annotations"][OWNER] == owner
        return cluster if ours or not marked(there) and self.adopts(placement) else None

    @scan
    def name_taken(self, placement, cluster):
        name = self.name(placement, cluster)
        there = self.get("MultiKueueCluster", name)
        if there is not None and not marked(there) and not self.adopts(placement):
            return True
        return self.settings["profile"] == "placement" and any(
            name in {self.name(p, c) for c in self.decided(p)} or A_LIST_TAKES_NAMES and name in self.members(p)
            for p in self.placements() if p < placement and self.users(p))

    def usable(self, placement, cluster):
        return subdomain(self.name(placement, cluster)) and not self.name_taken(placement, cluster)

    # Credentials

    @scan
    def profile_of(self, cluster):
        """The name of the ClusterProfile through which Kueue can connect, or None."""
        all_ = self.all("ClusterProfile", self.namespace)
        found = [o for o in all_ if meta(o).get("labels", {}).get(CLUSTER_NAME_LABEL) == cluster]
        found = found or [o for o in all_ if meta(o)["name"] == cluster]
        if not found:
            return None
        status = found[0].get("status", {})
        names = [p["name"] for p in status.get("accessProviders", []) + status.get("credentialProviders", [])]
        wanted = self.settings["accessProviders"]
        return meta(found[0])["name"] if (set(names) & set(wanted) if wanted else names) else None

    def secret_name(self, cluster):
        return ("multikueue-%s" if self.settings["profile"] == "cluster" else "kueue-admin-%s-kubeconfig") % cluster

    def credential_clusters(self):
        """Every cluster for which some Secret or ClusterProfile could be."""
        before, after = self.secret_name("/").split("/")
        names = [meta(o)["name"] for o in self.all("Secret", self.namespace)]
        found = {n[len(before):len(n) - len(after)] for n in names if n.startswith(before) and n.endswith(after)}
        for profile in self.all("ClusterProfile", self.namespace):
            found |= {meta(profile)["name"], meta(profile).get("labels", {}).get(CLUSTER_NAME_LABEL)}
        return found - {None, ""}

    def secret_of(self, cluster):
        secret = self.get("Secret", self.secret_name(cluster), self.namespace)
        return None if secret is None or "kubeconfig" not in secret.get("data", {}) else meta(secret)["name"]

    @scan
    def credential(self, cluster):
        """The clusterSource of its MultiKueueCluster now, or None."""
        if self.profile_of(cluster):
            return {"clusterProfileRef": {"name": self.profile_of(cluster)}}
        if self.secret_of(cluster):
            return {"kubeConfig": {"location": self.secret_of(cluster), "locationType": "Secret"}}
        return None

    # Configs

    def config(self, placement):
        """Our MultiKueueConfig, also one that is adopted right now, or None."""
        there = self.get("MultiKueueConfig", placement)
        return there if there is not None and (marked(there) or self.adopts(placement)) else None

    def foreign(self, placement):
        return self.get("MultiKueueConfig", placement) is not None and self.config(placement) is None

    def members(self, placement):
        there = self.config(placement)
        return tuple(there["spec"].get("clusters", [])) if there else ()

    def max_clusters(self):
        crd = self.get("CustomResourceDefinition", "multikueueconfigs.kueue.x-k8s.io")
        for version in crd["spec"]["versions"] if crd else []:
            if version["name"] == "v1beta2":
                spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
                return spec["properties"]["clusters"]["maxItems"]
        return 20

    # Workloads

    @staticmethod
    def check_names(workload):
        return [a["name"] for a in workload.get("status", {}).get("admissionChecks", [])]

    def uses(self, placement):
        """Names of the checks through which a Workload depends on the config."""
        names = {meta(c)["name"] for c in self.users(placement)}
        if KUEUES_CHECK_USES_CONFIG:
            names |= {meta(c)["name"] for c in self.all("AdmissionCheck")
                      if c["spec"].get("controllerName") == KUEUES_OWN
                      and (c["spec"].get("parameters") or {}).get("name") == placement}
        return names

    def holders(self, placement, name):
        """The Workloads that hold that member; for a config without users the clusterName alone decides."""
        uses = self.uses(placement)
        return {self.identity(w) for w in self.all("Workload")
                if w.get("status", {}).get("clusterName") == name and not deleting(w) and not is_true(w, "Finished")
                and (not self.users(placement) or uses & set(self.check_names(w)))}

    @staticmethod
    def identity(workload):
        return (meta(workload)["namespace"], meta(workload)["name"], meta(workload).get("uid"))

    def unfinished(self):
        return {self.identity(w) for w in self.all("Workload") if not is_true(w, "Finished")}

    # Ranks

    def rank(self, placement, cluster, now):
        """Sum of weight x score, or None while one of the scores is unknown."""
        there = self.get("Placement", placement, self.namespace)
        policy = (there or {}).get("spec", {}).get("prioritizerPolicy", {})
        total = 0
        for entry in policy.get("configurations", []):
            coordinate = entry["scoreCoordinate"]
            if coordinate.get("type") != "AddOn":
                continue
            score = self.score(cluster, coordinate["addOn"], now)
            if score is None:
                return None
            total += entry.get("weight", 1) * score
        return total

    def score(self, cluster, addon, now):
        there = self.get("AddOnPlacementScore", addon["resourceName"], cluster)
        status = (there or {}).get("status", {})
        if "validUntil" in status and now >= instant(status["validUntil"]):
            return None
        return next((s["value"] for s in status.get("scores", []) if s["name"] == addon["scoreName"]), None)
