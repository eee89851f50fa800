"""What an account asks of an API server, from the server's audit log, and what PolicyRules grant it."""

import json


def granted_by(rules, namespace=""):
    """{(namespace, resource, verb)} of PolicyRules; resource as `resource.group`, a subresource as `a/b.group`."""
    found = set()
    for rule in rules:
        if "nonResourceURLs" in rule:
            continue
        assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]], rule
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                found |= {(namespace, f"{resource}.{group}".rstrip("."), verb) for verb in rule["verbs"]}
    return found


def granted_in(objects):
    """The same of every ClusterRole and Role among `objects` that one of them binds."""
    bound = {(item["roleRef"]["kind"], item["metadata"].get("namespace", ""), item["roleRef"]["name"])
             for item in objects if item["kind"] in ("ClusterRoleBinding", "RoleBinding")}
    return {right for item in objects if item["kind"] in ("ClusterRole", "Role")
            and (item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]) in bound
            for right in granted_by(item["rules"], item["metadata"].get("namespace", ""))}


def served_names(server):
    """What the API server serves. Without the real CRDs some kinds are missing, and cannot be asked for."""
    names = {resource["name"] for resource in server.get("/api/v1")["resources"]}
    for group in server.get("/apis")["groups"]:
        for version in group["versions"]:
            names |= {f"{resource['name']}.{group['name']}"
                      for resource in server.get(f"/apis/{version['groupVersion']}")["resources"]}
    return names


class AuditLog:
    """The requests of one account since begin(). The server must be started with `arguments`."""

    def __init__(self, directory, account):
        policy = directory / "audit-policy.json"
        policy.write_text(json.dumps({
            "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
            "rules": [{"level": "Metadata", "users": [account]}, {"level": "None"}]}))
        self.path = directory / "audit.jsonl"
        self.arguments = [f"--audit-policy-file={policy}", f"--audit-log-path={self.path}",
                          "--audit-log-mode=blocking-strict"]
        self.from_byte = 0

    def begin(self):
        """Forgets the requests until now."""
        self.from_byte = self.path.stat().st_size if self.path.exists() else 0

    def requests(self):
        """Dicts of the audit log."""
        with open(self.path, "rb") as file:
            file.seek(self.from_byte)
            return [json.loads(line) for line in file.read().splitlines() if line.strip()]

    def used(self):
        """{(namespace, resource, verb)} of them; server-side apply that made an object is a create, too."""
        found = set()
        for request in self.requests():
            what = request.get("objectRef")
            if not what:
                continue  # discovery
            name = what["resource"] + (f"/{what['subresource']}" if "subresource" in what else "")
            resource = f"{name}.{what.get('apiGroup', '')}".rstrip(".")
            space = what.get("namespace", "")
            found.add((space, resource, request["verb"]))
            if request["verb"] == "patch" and request.get("responseStatus", {}).get("code") == 201:
                found.add((space, resource, "create"))
        return found

    def refusals(self):
        """The URIs that were answered with 403."""
        return sorted({request["requestURI"] for request in self.requests()
                       if request.get("responseStatus", {}).get("code") == 403})

    def unused(self, granted, served):
        """Of `granted` what was not used, but for kinds that are not among `served`."""
        used = self.used()
        # A ClusterRole's right counts in every namespace, a Role's in its own.
        anywhere = {(resource, verb) for _, resource, verb in used}
        return sorted((space, resource, verb) for space, resource, verb in granted
                      if resource in served and (
                          (space, resource, verb) not in used if space else (resource, verb) not in anywhere))
