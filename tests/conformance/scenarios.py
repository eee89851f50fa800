"""The requests that are sent to both servers, as data.

A scenario is a list of steps that run in order on each server. A step is (method, path, body, more): `body` a value
(sent as JSON) or a string (sent as it is); `more` may hold `type` (content type), `accept`, `keep` (a name under which
the answer is kept) and `lines` (a watch: compare its lines). `{name.metadata.uid}` in a path or a body is replaced by a
value of a kept answer of the same server.
"""

Q = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
OLD = "/apis/kueue.x-k8s.io/v1beta1/clusterqueues"
LQ = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues"
CLAIMS = "/apis/galaxy.kubestellar.io/v1alpha1/clusterresourceclaims"
WORKS = "/apis/work.open-cluster-management.io/v1/namespaces/default/manifestworks"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
PARTIAL_OBJECT = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_WATCH = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


def groups(resource="cpu", quota="1", flavor="f"):
    return [{"coveredResources": [resource],
             "flavors": [{"name": flavor, "resources": [{"name": resource, "nominalQuota": quota}]}]}]


def queue(name, spec=None, version="v1beta2", **metadata):
    return {"apiVersion": f"kueue.x-k8s.io/{version}", "kind": "ClusterQueue",
            "metadata": {"name": name, **metadata}, **({} if spec is None else {"spec": spec})}


def claim(name, **spec):
    return {"apiVersion": "galaxy.kubestellar.io/v1alpha1", "kind": "ClusterResourceClaim",
            "metadata": {"name": name}, "spec": {"clusterName": name, "nominalResources": {"cpu": "1"}, **spec}}


def local(name, **spec):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": name}, "spec": spec}


RING = "/apis/fairlead.io/v1alpha1/namespaces/default/logcommits"


def commit(slot, version=None, **spec):
    return {"apiVersion": "fairlead.io/v1alpha1", "kind": "LogCommit",
            "metadata": {"name": f"ring-{slot}", **({"resourceVersion": version} if version else {})},
            "spec": {"log": "0" * 32, "slots": 2, "commit": slot, "first": 0, "count": 0, **spec}}


def put(path, body, **more):
    return ("PUT", path, body, more)


def post(path, body, manager="test", **more):
    return ("POST", f"{path}?fieldManager={manager}", body, more)


def get(path, **more):
    return ("GET", path, None, more)


def delete(path, body=None, **more):
    return ("DELETE", path, body, more)


def merge(path, body, manager="test", **more):
    return ("PATCH", f"{path}?fieldManager={manager}", body, {"type": MERGE, **more})


def apply(path, body, manager, query="", **more):
    return ("PATCH", f"{path}?fieldManager={manager}{query}", body, {"type": APPLY, **more})


def watch(path, query, **more):
    return ("GET", f"{path}?watch=true&timeoutSeconds=1&{query}", None, {"lines": True, **more})


def condition(status, kind="Active"):
    return {"type": kind, "status": status, "reason": "Because", "message": "text",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}


SCENARIOS = {
    "create": [
        post(Q, queue("c1", {"resourceGroups": groups(quota="12000m")}, labels={"a": "b"})),
        get(f"{Q}/c1"),
        post(Q, queue("c1")),
        post(Q, queue("c2", {"nope": 1, "resourceGroups": [{**groups()[0], "x": 2}]})),
        ("POST", f"{Q}?fieldValidation=Strict&fieldManager=t", queue("c3", {"nope": 1}), {}),
        ("POST", f"{Q}?fieldValidation=Ignore&fieldManager=t", queue("c3", {"nope": 1}), {}),
        post(Q, {**queue("c4"), "status": {"pendingWorkloads": 3}}),
        post(Q, queue("c5", {"namespaceSelector": None, "cohortName": None, "stopPolicy": None})),
        post(Q, queue("", None, generateName="made-")),
        post(Q, queue("")),
        post(Q, queue("Q_3")),
        post(Q, queue("c6", version="v1beta1")),
        post(Q, {**queue("c6"), "kind": "Other"}),
        post(Q, "{nope"),
        post(Q, {}),
        post(Q, "x", type="text/plain"),
        ("POST", f"{Q}?dryRun=All&fieldManager=t", queue("dry"), {}),
        get(f"{Q}/dry"),
        post(Q, queue("c7", uid="x", resourceVersion="", creationTimestamp="2020-01-01T00:00:00Z", generation=7)),
        post(LQ, local("l1", clusterQueue="c1")),
        get(f"{LQ}/l1"),
        post(LQ, {**local("l2"), "metadata": {"name": "l2", "namespace": "other"}}),
        post("/apis/kueue.x-k8s.io/v1beta2/namespaces/none/localqueues", local("l1")),
    ],
    "unknown places": [
        get(f"{Q}/nope"),
        get("/apis/kueue.x-k8s.io/v1beta2/nopes"),
        get("/apis/no.group/v1/nopes"),
        get("/apis/kueue.x-k8s.io/v9/clusterqueues"),
        get("/nope"),
        delete(f"{Q}/nope"),
        merge(f"{Q}/nope", {}),
        ("PUT", f"{Q}/nope", queue("nope", resourceVersion="1"), {}),
        ("PUT", Q, queue("nope"), {}),
        get("/apis/kueue.x-k8s.io/v1beta2/resourceflavors/nope/status"),
    ],
    "validation": [
        post(Q, queue("v", {"queueingStrategy": "X", "cohortName": 5, "stopPolicy": "No", "resourceGroups": [
            {"coveredResources": [], "flavors": [{"name": "f", "resources": [
                {"name": "cpu"}, {"name": "cpu", "nominalQuota": "xx"}]}]}, {"flavors": []}]})),
        post(Q, queue("v", {"resourceGroups": [groups()[0]] * 17})),
        post(Q, queue("v", {"cohortName": "c" * 254})),
        post(Q, queue("v", {"resourceGroups": "text", "preemption": []})),
        post(Q, queue("v", {"preemption": {"borrowWithinCohort": {"maxPriorityThreshold": "x"}}})),
        post(CLAIMS, {"apiVersion": "galaxy.kubestellar.io/v1alpha1", "kind": "ClusterResourceClaim",
                      "metadata": {"name": "v"}}),
        post(CLAIMS, claim("v", nominalResources={"cpu": "-1", "gpu": -1, "memory": "1Gi"})),
        post(CLAIMS, claim("v", nominalResources={"cpu": True})),
        post(CLAIMS, claim("v", headroom={"percent": {"cpu": 101, "memory": -1}})),
        post(CLAIMS, claim("v", resourceAssignments=[
            {"clusterQueueName": "a", "flavor": "f", "resources": {}}] * 2)),
        post(CLAIMS, claim("v", resourceAssignments=[{"clusterQueueName": "a"}])),
        post(CLAIMS, claim("v", nominalPolicy="Never")),
        post(CLAIMS, claim("v", nominalResources={"cpu": 1, "memory": "1.5Gi", "gpu": "1e3"})),
        merge(f"{CLAIMS}/v", {"spec": {"clusterName": "w"}}),
        merge(f"{CLAIMS}/v", {"spec": {"nominalResources": {"cpu": "2"}}}),
    ],
    "update": [
        post(Q, queue("u", {"cohortName": "c"}), keep="made"),
        ("PUT", f"{Q}/u", queue("u"), {}),
        ("PUT", f"{Q}/u", queue("u", resourceVersion="1"), {}),
        ("PUT", f"{Q}/u", queue("other", resourceVersion="1"), {}),
        ("PUT", f"{Q}/u", queue("u", resourceVersion="{made.metadata.resourceVersion}", uid="x"), {}),
        ("PUT", f"{Q}/u?fieldManager=put", queue("u", {"stopPolicy": "Hold"},
                                                 resourceVersion="{made.metadata.resourceVersion}"), {}),
        get(f"{Q}/u"),
        merge(f"{Q}/u", {"metadata": {"resourceVersion": "1"}}),
        merge(f"{Q}/u", {"metadata": {"uid": "x"}}),
        merge(f"{Q}/u", {"metadata": {"name": "x"}}),
        merge(f"{Q}/u", {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}}),
        merge(f"{Q}/u", {"metadata": {"labels": None}}),
        merge(f"{Q}/u", {"spec": {"nope": 1}}),
        merge(f"{Q}/u", {}),
        merge(f"{Q}/u", {"spec": {"preemption": None, "resourceGroups": groups()}}),
        merge(f"{Q}/u", "{nope"),
        ("PATCH", f"{Q}/u?fieldManager=t&fieldValidation=Strict", {"spec": {"nope": 1}}, {"type": MERGE}),
        ("PATCH", f"{Q}/u?fieldManager=t&dryRun=All", {"spec": {"stopPolicy": "None"}}, {"type": MERGE}),
        ("PATCH", f"{Q}/u", {}, {"type": STRATEGIC}),
        get(f"{Q}/u"),
    ],
    "json patch": [
        post(Q, queue("j", {"resourceGroups": groups(), "stopPolicy": "Hold"})),
        ("PATCH", f"{Q}/j?fieldManager=t", [{"op": "replace", "path": "/spec/stopPolicy", "value": "None"}],
         {"type": JSON_PATCH}),
        ("PATCH", f"{Q}/j?fieldManager=t",
         [{"op": "add", "path": "/spec/resourceGroups/0/flavors/0/resources/0/borrowingLimit", "value": "2"}],
         {"type": JSON_PATCH}),
        ("PATCH", f"{Q}/j?fieldManager=t", [{"op": "test", "path": "/spec/stopPolicy", "value": "Hold"}],
         {"type": JSON_PATCH}),
        ("PATCH", f"{Q}/j?fieldManager=t", [{"op": "remove", "path": "/spec/nope"}], {"type": JSON_PATCH}),
        ("PATCH", f"{Q}/j?fieldManager=t", {}, {"type": JSON_PATCH}),
        get(f"{Q}/j"),
    ],
    "status": [
        post(Q, queue("s", {"stopPolicy": "Hold"}), keep="made"),
        ("PATCH", f"{Q}/s/status?fieldManager=kueue",
         {"spec": {"stopPolicy": "None"}, "metadata": {"labels": {"a": "b"}},
          "status": {"pendingWorkloads": 4, "conditions": [condition("True")]}}, {"type": MERGE}),
        merge(f"{Q}/s", {"status": {"pendingWorkloads": 9}, "spec": {"stopPolicy": "None"}}),
        ("PUT", f"{Q}/s/status?fieldManager=other",
         {**queue("s", resourceVersion="{made.metadata.resourceVersion}"), "status": {"pendingWorkloads": 5}}, {}),
        apply(f"{Q}/s/status", {**queue("s"), "status": {"conditions": [condition("False")]}}, "fairlead"),
        apply(f"{Q}/s/status", {**queue("s"), "status": {"conditions": [condition("False")]}}, "fairlead",
              "&force=true"),
        apply(f"{Q}/s/status", {**queue("s"), "status": {"conditions": [condition("True", "Mine")]}}, "second"),
        apply(f"{Q}/s/status", {**queue("s"), "status": {}}, "second"),
        apply(f"{Q}/s/status", {**queue("s", uid="x"), "status": {"pendingWorkloads": 1}}, "third", "&force=true"),
        apply(f"{Q}/s/status", {**queue("s", resourceVersion="1"), "status": {"pendingWorkloads": 1}}, "third",
              "&force=true"),
        apply(f"{Q}/nope/status", {**queue("nope"), "status": {"pendingWorkloads": 1}}, "third"),
        get(f"{Q}/s"),
        get(f"{Q}/s/status"),
    ],
    "apply": [
        apply(f"{Q}/a", queue("a", {"stopPolicy": "Hold", "resourceGroups": groups()}), "one"),
        apply(f"{Q}/a", queue("a", {"stopPolicy": "Hold", "resourceGroups": groups()}), "one"),
        apply(f"{Q}/a", queue("a", {"stopPolicy": "Hold"}), "two"),
        apply(f"{Q}/a", queue("a", {"stopPolicy": "None", "resourceGroups": groups(quota="2")}), "two"),
        apply(f"{Q}/a", queue("a", {"stopPolicy": "None", "resourceGroups": groups(quota="2")}), "two",
              "&force=true"),
        apply(f"{Q}/a", queue("a", {"cohortName": "c"}), "one"),
        apply(f"{Q}/a", queue("a"), "two"),
        apply(f"{Q}/a", {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue"}, "one"),
        get(f"{Q}/a"),
        ("PATCH", f"{Q}/a", "{}", {"type": APPLY}),
        apply(f"{Q}/a", "{}", "one"),
        apply(f"{Q}/a", "a: [", "one"),
        apply(f"{Q}/a", queue("a", version="v1beta1"), "one"),
        apply(f"{Q}/a", queue("b"), "one"),
        apply(f"{Q}/a", queue("a", {"nope": 1}), "one"),
        apply(f"{Q}/a", queue("a", managedFields=[{}]), "one"),
        apply(f"{Q}/a", queue("a", {"queueingStrategy": "X"}), "one", "&force=true"),
        apply(f"{Q}/a", "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata:\n  name: a\n"
                        "spec:\n  cohortName: yaml\n", "one"),
        apply(f"{Q}/a", queue("a", labels={"x": "y"}, annotations={"k": "v"}, finalizers=["a.b/c"]), "meta"),
        apply(f"{Q}/a", queue("a", labels={"x": "z"}, finalizers=["d.e/f"]), "other"),
        apply(f"{Q}/a", queue("a", labels={"x": "z"}, finalizers=["d.e/f"]), "other", "&force=true"),
        apply(f"{Q}/a", queue("a"), "meta"),
        apply(f"{Q}/a", queue("a"), "other"),
        merge(f"{Q}/a", {"spec": {"cohortName": "merged"}}, "human"),
        apply(f"{Q}/a", queue("a", {"cohortName": "mine"}), "one"),
        apply(f"{Q}/a", queue("a", {"cohortName": "merged"}), "one"),
        ("PATCH", f"{Q}/a?fieldManager=one&dryRun=All", queue("a", {"cohortName": "merged", "stopPolicy": "Hold"}),
         {"type": APPLY}),
        get(f"{Q}/a"),
    ],
    "apply and the optimistic lock": [
        apply(f"{Q}/lock", queue("lock", {"stopPolicy": "Hold"}), "one", keep="made"),
        merge(f"{Q}/lock", {"metadata": {"labels": {"a": "b"}}}, keep="now"),
        apply(f"{Q}/lock", queue("lock", {"stopPolicy": "None"},
                                 resourceVersion="{made.metadata.resourceVersion}"), "one"),
        apply(f"{Q}/lock", queue("lock", {"stopPolicy": "None"},
                                 resourceVersion="{made.metadata.resourceVersion}"), "one", "&force=true"),
        apply(f"{Q}/lock", queue("lock", {"stopPolicy": "None"}, uid="{made.metadata.uid}",
                                 resourceVersion="{now.metadata.resourceVersion}"), "one", "&force=true"),
        apply(f"{Q}/lock", queue("lock", {"stopPolicy": "Hold"}, uid="x"), "one", "&force=true"),
        apply(f"{Q}/gone", queue("gone", {"stopPolicy": "Hold"}, uid="x"), "one"),
        apply(f"{Q}/gone", queue("gone", {"stopPolicy": "Hold"}, uid="x", resourceVersion="7"), "one"),
        apply(f"{Q}/gone", queue("gone", {"stopPolicy": "Hold"}, resourceVersion="7"), "one"),
    ],
    "apply and list maps": [
        apply(f"{CLAIMS}/m", claim("m", resourceAssignments=[
            {"clusterQueueName": "a", "flavor": "f", "resources": {"cpu": "1"}, "priority": 1},
            {"clusterQueueName": "b", "flavor": "f", "resources": {"cpu": "2"}}]), "one"),
        apply(f"{CLAIMS}/m", {"apiVersion": "galaxy.kubestellar.io/v1alpha1", "kind": "ClusterResourceClaim",
                              "metadata": {"name": "m"}, "spec": {"resourceAssignments": [
                                  {"clusterQueueName": "c", "flavor": "f", "resources": {"cpu": "3"}},
                                  {"clusterQueueName": "a", "flavor": "f", "minResources": {"cpu": "1"}}]}}, "two"),
        apply(f"{CLAIMS}/m", {"apiVersion": "galaxy.kubestellar.io/v1alpha1", "kind": "ClusterResourceClaim",
                              "metadata": {"name": "m"}, "spec": {"resourceAssignments": [
                                  {"clusterQueueName": "a", "flavor": "f", "resources": {"cpu": "9"}}]}}, "two"),
        apply(f"{CLAIMS}/m", claim("m", resourceAssignments=[
            {"clusterQueueName": "b", "flavor": "f", "resources": {"cpu": "2", "memory": "1Gi"}},
            {"clusterQueueName": "a", "flavor": "f", "resources": {"cpu": "1"}}]), "one"),
        apply(f"{CLAIMS}/m", claim("m", resourceAssignments=[
            {"clusterQueueName": "b", "flavor": "f", "resources": {}},
            {"clusterQueueName": "b", "flavor": "f", "resources": {}}]), "one"),
        apply(f"{CLAIMS}/m", claim("m"), "one"),
        get(f"{CLAIMS}/m"),
    ],
    "apply and embedded objects": [
        apply(f"{WORKS}/w", {"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork",
                             "metadata": {"name": "w"}, "spec": {
                                 "deleteOption": {"propagationPolicy": "SelectivelyOrphan"},
                                 "workload": {"manifests": [queue("x", {"anything": [1]})]},
                                 "manifestConfigs": [{"resourceIdentifier": {"name": "x", "resource": "clusterqueues"},
                                                      "updateStrategy": {"type": "ServerSideApply",
                                                                         "serverSideApply": {"force": True}}}]}},
                "one"),
        apply(f"{WORKS}/w", {"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork",
                             "metadata": {"name": "w"}, "spec": {"workload": {"manifests": []}}}, "two"),
    ],
    "versions": [
        post(OLD, queue("old", {"cohort": "x", "admissionChecks": ["a"]}, version="v1beta1")),
        get(f"{Q}/old"),
        post(Q, queue("new", {"cohortName": "x"})),
        get(f"{OLD}/new"),
        merge(f"{OLD}/new", {"metadata": {"labels": {"a": "b"}}}),
        get(f"{Q}/new"),
    ],
    "delete": [
        post(Q, queue("d", finalizers=["a.b/c", "d.e/f"]), keep="made"),
        delete(f"{Q}/d", {"preconditions": {"uid": "x"}}),
        delete(f"{Q}/d", {"preconditions": {"resourceVersion": "1"}}),
        ("DELETE", f"{Q}/d?dryRun=All", None, {}),
        delete(f"{Q}/d", {"preconditions": {"uid": "{made.metadata.uid}"}}),
        delete(f"{Q}/d"),
        post(Q, queue("d")),
        merge(f"{Q}/d", {"metadata": {"finalizers": ["d.e/f"]}}),
        merge(f"{Q}/d", {"metadata": {"finalizers": None}}),
        get(f"{Q}/d"),
        delete(f"{Q}/d"),
        post(Q, queue("d")),
        delete(f"{Q}/d", {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}),
    ],
    "delete options": [
        post(Q, queue("dry")),
        delete(f"{Q}/dry", {"dryRun": ["All"]}),
        get(f"{Q}/dry"),
        delete(f"{Q}/dry", {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground",
                            "preconditions": {"resourceVersion": "1"}}),
        # What happens next is the garbage collector's: here there is none, the model has one.
        delete(f"{Q}/dry", {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground"}),
        post(Q, queue("orphans", finalizers=["a.b/c"])),
        delete(f"{Q}/orphans", {"propagationPolicy": "Orphan"}),
        delete(Q + "?labelSelector=nothing", {"dryRun": ["All"]}),
    ],
    "from client-side to server-side apply": [
        post(Q, queue("moved", {"stopPolicy": "Hold"}, annotations={
            "kubectl.kubernetes.io/last-applied-configuration": '{"apiVersion":"kueue.x-k8s.io/v1beta2",'
            '"kind":"ClusterQueue","metadata":{"name":"moved"},"spec":{"stopPolicy":"Hold"}}\n'}),
             "kubectl-client-side-apply"),
        apply(f"{Q}/moved", queue("moved", {"stopPolicy": "None", "cohortName": "c"}), "kubectl"),
        apply(f"{Q}/moved", queue("moved", {"stopPolicy": "Hold"}), "kubectl", "&fieldValidation=Strict"),
        apply(f"{Q}/moved", queue("moved", {"stopPolicy": "None"}), "another"),
        apply(f"{Q}/moved", queue("moved", {"stopPolicy": "None"}), "another", "&force=true"),
        get(f"{Q}/moved"),
    ],
    "lists": [
        *[post(LQ, {**local(name, clusterQueue="c"), "metadata": {"name": name, "labels": {"n": name}}})
          for name in ("p1", "p2", "p3")],
        get(LQ + "?labelSelector=n"),
        get(LQ + "?labelSelector=n&limit=2", keep="page"),
        get(LQ + "?labelSelector=n&limit=2&continue={page.metadata.continue}"),
        get(LQ + "?labelSelector=n%20in%20(p1,p3)"),
        get(LQ + "?labelSelector=n,n!%3Dp2"),
        get(LQ + "?labelSelector=n,n%20notin%20(p1,p2)"),
        get(LQ + "?labelSelector=a%20in%20("),
        get(LQ + "?fieldSelector=metadata.name%3Dp2"),
        get(LQ + "?fieldSelector=metadata.name!%3Dp2&labelSelector=n"),
        get(LQ + "?fieldSelector=spec.x%3D1"),
        get(LQ + "?resourceVersion=99999999"),
        get(LQ + "?resourceVersion=abc"),
        get(LQ + "?continue=abc"),
        get(LQ + "?resourceVersionMatch=Exact"),
        get(LQ + "?labelSelector=n&resourceVersion=0"),
        get(LQ + "?labelSelector=n&resourceVersion={page.metadata.resourceVersion}&resourceVersionMatch=Exact"),
        get(LQ + "?labelSelector=n&resourceVersion={page.metadata.resourceVersion}&resourceVersionMatch=NotOlderThan"),
        get("/apis/kueue.x-k8s.io/v1beta2/localqueues?labelSelector=n"),
        get(LQ + "?labelSelector=n", accept=PARTIAL),
        get(LQ + "?labelSelector=n&limit=1", accept=PARTIAL),
        get(LQ + "?labelSelector=n", accept=TABLE),
        get(LQ + "/p1", accept=TABLE),
        delete(LQ + "?labelSelector=n"),
        get(LQ + "?labelSelector=n"),
    ],
    "watches": [
        post(LQ, {**local("w1", clusterQueue="c"), "metadata": {"name": "w1", "labels": {"w": "1"}}}, keep="first"),
        merge(f"{LQ}/w1", {"spec": {"stopPolicy": "Hold"}}),
        post(LQ, {**local("w2", clusterQueue="c"), "metadata": {"name": "w2", "labels": {"w": "1"}}}),
        merge(f"{LQ}/w2", {"metadata": {"labels": {"w": "2"}}}),
        delete(f"{LQ}/w1"),
        watch(LQ, "labelSelector=w&resourceVersion={first.metadata.resourceVersion}"),
        watch(LQ, "labelSelector=w%3D1&resourceVersion={first.metadata.resourceVersion}"),
        watch(LQ, "fieldSelector=metadata.name%3Dw2&resourceVersion={first.metadata.resourceVersion}"),
        watch(LQ, "labelSelector=w"),
        watch(LQ, "labelSelector=w&resourceVersion=0"),
        watch(LQ, "labelSelector=w&sendInitialEvents=true&allowWatchBookmarks=true"
                  "&resourceVersionMatch=NotOlderThan"),
        watch(LQ, "labelSelector=w&resourceVersion={first.metadata.resourceVersion}", accept=TABLE),
        watch(LQ, "labelSelector=w&resourceVersion={first.metadata.resourceVersion}", accept=PARTIAL_WATCH),
        watch(LQ, "labelSelector=w&sendInitialEvents=true&allowWatchBookmarks=true"
                  "&resourceVersionMatch=NotOlderThan", accept=PARTIAL_WATCH),
        watch(LQ, "sendInitialEvents=true", lines=False),
        watch(LQ, "resourceVersionMatch=NotOlderThan", lines=False),
        watch(LQ, "resourceVersion=abc", lines=False),
        watch(Q, "resourceVersion=1"),
    ],
    "core kinds": [
        post("/api/v1/namespaces", {"metadata": {"name": "made"}, "apiVersion": "v1", "kind": "Namespace"}),
        post("/api/v1/namespaces/made/configmaps",
             {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "b"}}),
        merge("/api/v1/namespaces/made/configmaps/m", {"data": {"c": "d"}}),
        get("/api/v1/namespaces/made/configmaps/m"),
        ("PUT", "/api/v1/namespaces/made/configmaps/m?fieldManager=t",
         {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"e": "f"}}, {}),
        post("/api/v1/namespaces/made/secrets",
             {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}}),
        # Nodes are in the recorded sessions, on a server that gives them no taints.
        ("PATCH", "/api/v1/namespaces/made/configmaps/m?fieldManager=t", {"data": {"e": None, "g": "h"}},
         {"type": STRATEGIC}),
        delete("/api/v1/namespaces/made/configmaps/m"),
        delete("/api/v1/namespaces/made/secrets/s"),
    ],
    "the ring of a replicated log": [
        post(RING, commit(0), accept=PARTIAL_OBJECT, keep="made"),
        post(RING, commit(0), accept=PARTIAL_OBJECT),
        put(f"{RING}/ring-0", commit(0, "{made.metadata.resourceVersion}", first=1, count=1, pack="YQ=="),
            accept=PARTIAL_OBJECT, keep="written"),
        put(f"{RING}/ring-0", commit(0, "{made.metadata.resourceVersion}", first=1, count=1, pack="Yg=="),
            accept=PARTIAL_OBJECT),
        put(f"{RING}/ring-0", commit(0), accept=PARTIAL_OBJECT),
        put(f"{RING}/ring-0", commit(0, "{written.metadata.resourceVersion}", pack="", log="x"), accept=PARTIAL_OBJECT),
        put(f"{RING}/ring-1", commit(1, "{made.metadata.resourceVersion}"), accept=PARTIAL_OBJECT),
        post(RING.replace("default", "nowhere"), commit(0), accept=PARTIAL_OBJECT),
        get(f"{RING}/ring-0"),
        get(f"{RING}/ring-1"),
        get(f"{RING}?limit=1"),
        delete(f"{RING}/ring-0", accept=PARTIAL_OBJECT),
        delete(f"{RING}/ring-0", accept=PARTIAL_OBJECT),
        post(RING, commit(0), accept=PARTIAL_OBJECT),
        # Made anew: the version of the one before is none of it.
        put(f"{RING}/ring-0", commit(0, "{written.metadata.resourceVersion}"), accept=PARTIAL_OBJECT),
    ],
    "discovery of our groups": [
        get("/apis/fairlead.io"),
        get("/apis/kueue.x-k8s.io"),
        get("/apis/galaxy.kubestellar.io"),
        get("/readyz"),
    ],
}
