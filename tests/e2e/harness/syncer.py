"""What a syncer of a super cluster does that copies claims, too: a namespace of a tenant becomes one of its own."""

from .hollow import RESOURCE


class Syncer:
    """Between one namespace of a tenant and `cluster`, a HollowCluster whose namespace is made for it."""

    def __init__(self, tenant, namespace, cluster):
        self.tenant, self.cluster = tenant, cluster
        self.pods = f"/api/v1/namespaces/{namespace}/pods"
        self.devices = f"{RESOURCE}/namespaces/{namespace}"

    def copy(self, pod):
        """The current Pod of the tenant, and what its claims name."""
        found = self.tenant.get(f"{self.pods}/{pod}")
        for entry in found["spec"].get("resourceClaims", []):
            if "resourceClaimName" in entry:
                self.copy_once(self.cluster.claims, "resourceclaims", entry["resourceClaimName"])
            else:
                self.copy_once(self.cluster.templates, "resourceclaimtemplates", entry["resourceClaimTemplateName"])
        spec = {key: found["spec"][key] for key in ("containers", "resourceClaims") if key in found["spec"]}
        self.cluster.create_pod(pod, spec, annotations={
            "tenancy.x-k8s.io/cluster": self.tenant.name, "tenancy.x-k8s.io/uid": found["metadata"]["uid"]})

    def copy_once(self, there, resource, name):
        if not self.cluster.server.get(f"{there}/{name}"):
            found = self.tenant.get(f"{self.devices}/{resource}/{name}")
            self.cluster.server.create(there, {
                **{key: found[key] for key in ("apiVersion", "kind", "spec")}, "metadata": {"name": name}})

    def remove(self, pod):
        """The Pod is gone from the tenant. No kubelet ends it here."""
        self.cluster.server.request("DELETE", f"{self.cluster.pods}/{pod}?gracePeriodSeconds=0")
