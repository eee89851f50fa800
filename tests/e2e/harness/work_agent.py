"""OCM's work agent, as far as ManifestWorks of Fairlead can tell: applying, reporting, and what a deletion takes along.

What it owns at the member is decided as the agent of OCM 1.3 decides it (OwnedByTheWork in pkg/work/helper/helpers.go):
when a manifest is applied, by the work's deleteOption. A deletion looks at what is owned, not at the option.
"""

from .fleet import KUEUE

FINALIZER = "cluster.open-cluster-management.io/manifest-work-cleanup"
RESOURCES = {"ClusterQueue": "clusterqueues", "ResourceFlavor": "resourceflavors", "LocalQueue": "localqueues",
             "Topology": "topologies", "Namespace": "namespaces"}


def place_of(manifest):
    metadata, resource = manifest["metadata"], RESOURCES[manifest["kind"]]
    root = KUEUE if "/" in manifest["apiVersion"] else f"/api/{manifest['apiVersion']}"
    space = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"{root}{space}/{resource}/{metadata['name']}"


def owned_by(work, manifest):
    option = work["spec"].get("deleteOption") or {}
    if option.get("propagationPolicy", "Foreground") != "SelectivelyOrphan":
        return option.get("propagationPolicy") != "Orphan"
    group = manifest["apiVersion"].rpartition("/")[0]
    metadata = manifest["metadata"]
    identity = (group, RESOURCES[manifest["kind"]], metadata.get("namespace", ""), metadata["name"])
    return all((rule.get("group", ""), rule["resource"], rule.get("namespace", ""), rule["name"]) != identity
               for rule in (option.get("selectivelyOrphans") or {}).get("orphaningRules") or [])


class WorkAgent:
    """The agent of one cluster. It acts on request: `act` looks at every work once, as a resync does;
    `act_on_changes` at those whose spec or labels changed since (onUpdateFunc of OCM's ManifestWorkController)."""

    def __init__(self, hub, member, cluster):
        self.hub, self.member = hub, member
        self.works = f"/apis/work.open-cluster-management.io/v1/namespaces/{cluster}/manifestworks"
        self.owned = {}  # name of the work -> places at the member
        self.known = {}  # name of the work -> its spec and labels when it was applied last

    def act(self):
        self.known = {}
        self.act_on_changes()

    def act_on_changes(self):
        for work in self.hub.get(self.works)["items"]:
            metadata = work["metadata"]
            content = (work["spec"], metadata.get("labels"))
            if "deletionTimestamp" not in metadata:
                if self.known.get(metadata["name"]) == content:
                    continue
                self.known[metadata["name"]] = content
            if "deletionTimestamp" in work["metadata"]:
                self._delete(work)
            else:
                self._apply(work)

    def _apply(self, work):
        name = work["metadata"]["name"]
        place = f"{self.works}/{name}"
        if FINALIZER not in work["metadata"].get("finalizers", []):
            work = self.hub.merge(place, {"metadata": {"finalizers": [FINALIZER]}}, user="admin")
        manifests = work["spec"]["workload"]["manifests"]
        for manifest in manifests:
            self.member.apply(place_of(manifest), manifest, manager="work-agent", force=True)
        owned = {place_of(manifest) for manifest in manifests if owned_by(work, manifest)}
        applied = {place_of(manifest) for manifest in manifests}
        for stale in self.owned.get(name, set()) - applied:
            self.member.raw("DELETE", stale)
        self.owned[name] = owned
        generation = work["metadata"]["generation"]
        self.hub.merge(f"{place}/status", {"status": {"conditions": [
            {"type": kind, "status": "True", "reason": "Agent", "message": "", "observedGeneration": generation,
             "lastTransitionTime": "2026-01-01T00:00:00Z"} for kind in ("Applied", "Available")]}}, user="admin")

    def _delete(self, work):
        name = work["metadata"]["name"]
        left = {place for place in self.owned.get(name, set()) if self.member.get(place)}
        for place in left:
            self.member.raw("DELETE", place)
        if not any(self.member.get(place) for place in left):
            self.hub.merge(f"{self.works}/{name}", {"metadata": {"finalizers": None}}, user="admin")
            self.owned.pop(name, None)
