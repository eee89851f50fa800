"""What is made equal before two answers are compared. Every rule is a difference that we know and accept.

1. Identities and moments: uid, resourceVersion, times, ages in Tables, continue tokens, generated names. Their presence
   is compared, their value is not.
2. The order of managedFields among entries of one operation: it follows the second of the write.
3. Details of a parser inside a message: what JSON or base64 was malformed how.
4. Versions and uids in messages ("current: 5", "(5)", "record (5)"), storage keys, and whole objects quoted in them.
5. int-or-string: a real server lists follow-up causes of `anyOf`; only "must be of type integer,string" is compared.
6. The order of several causes of one 422, which is that of a Go map.
7. Descriptions in Tables: a real server quotes its Go documentation.
8. What a server serves beyond the model: discovery and OpenAPI are compared for the groups of CRDs and, of the core,
   for the kinds that the model has, without the verbs and subresources of those; never hashes and the order of kinds;
   of an OpenAPI document the schemas of our kinds, without descriptions. /openapi/v2 is served for its code alone.
9. Tables of built-in kinds: columns and cells are the model's own, the objects of the rows are compared.
10. Of a CustomResourceDefinition who wrote it and when, its status and conversion, and the verbs that its kind is
   discovered with: a real server's are installed by the test.
11. /version: how the program was built.
12. core/v1 Events: a real server writes down the empty fields of its Go type and owns its structs as such; who owns
   what, and what is empty, is left out.
13. Pods and ResourceQuotas: how they are discovered is compared, no more. A real server fills in many fields of them,
   and has controllers for both.
14. Bookmarks of a watch that do not end its initial events: they come when a server likes.
"""

import json
import re

MOMENTS = {"creationTimestamp", "deletionTimestamp", "time"}
IDENTITIES = {"uid", "resourceVersion", "continue"}
FOLLOW_UPS = ("must validate at least one schema (anyOf)", "Checked value must be of type integer")

TEXT_RULES = [
    (re.compile(r"(json parse error|continue key is not valid).*"), r"\1"),
    (re.compile(r"(error decoding YAML|error decoding patch).*"), r"\1"),
    (re.compile(r"current: \d+"), "current: N"),
    (re.compile(r"resource version: \d+ \(\d+\)"), "resource version: N (N)"),
    (re.compile(r"record \([-0-9a-f]+\)"), "record (N)"),
    (re.compile(r"in object meta: [-0-9a-f]+"), "in object meta: N"),
    (re.compile(r"in precondition: [-0-9a-f]+"), "in precondition: N"),
    (re.compile(r"StorageError: .* AdditionalErrorMsg: "), ""),
    (re.compile(r'patch: Invalid value: ".*": strict', re.DOTALL), "patch: Invalid value: (object): strict"),
    (re.compile(r'^Invalid value: "\{.*": strict', re.DOTALL), "Invalid value: (object): strict"),
    (re.compile(r"\bmade-[a-z0-9]{5}\b"), "made-NNNNN"),
]


def text(value):
    for pattern, replacement in TEXT_RULES:
        value = pattern.sub(replacement, value)
    return value


def without_follow_ups(status):
    """Rule 5, on a Status."""
    causes = status.get("details", {}).get("causes", [])
    kept, integers = [], {c["field"] for c in causes if "type integer,string" in c["message"]}
    for cause in causes:
        if any(words in cause["message"] for words in FOLLOW_UPS):
            continue
        if cause.get("field") in integers and "must be of type integer:" in cause["message"]:
            continue
        kept.append(cause)
    if len(kept) != len(causes):
        status = {**status, "message": "(see causes)", "details": {**status["details"], "causes": kept}}
    elif integers:
        status = {**status, "message": "(see causes)"}
    return status


def ordered(status):
    """Rule 6, on a Status."""
    causes = status.get("details", {}).get("causes", [])
    if status.get("code") != 422 or len(causes) < 2:
        return status
    head = status["message"].split(" is invalid: ")[0]
    return {**status, "message": f"{head} is invalid: (see causes)", "details": {
        **status["details"], "causes": sorted(causes, key=lambda cause: json.dumps(cause, sort_keys=True))}}


def plain_event(event):
    """Rule 12."""
    kept = {name: value for name, value in event.items() if value not in (None, "", {})}
    metadata = {name: value for name, value in event["metadata"].items() if name != "managedFields"}
    return {**kept, "metadata": metadata}


def without_ages(table):
    """Two servers that were asked at one moment may print "0s" and "1s"."""
    dates = [at for at, column in enumerate(table.get("columnDefinitions") or []) if column["type"] == "date"]
    if not dates or not table.get("rows"):
        return table

    def aged(at, cell):
        return "(age)" if at in dates and re.fullmatch(r"(\d+[smhdy])+", str(cell)) else cell
    return {**table, "rows": [{**row, "cells": [aged(at, cell) for at, cell in enumerate(row["cells"])]}
                              for row in table["rows"]]}


def normal(value, key=None):
    """`value` (JSON) with the differences named above taken out."""
    if isinstance(value, dict):
        if value.get("kind") == "Event" and value.get("apiVersion") == "v1" and "metadata" in value:
            value = plain_event(value)
        if value.get("kind") == "Status":
            value = ordered(without_follow_ups(value))
        if value.get("kind") == "Table":
            value = without_ages(value)
            for column in value.get("columnDefinitions") or []:
                column["description"] = "(text)"
        return {name: normal(item, name) for name, item in value.items()}
    if isinstance(value, list):
        items = [normal(item) for item in value]
        if key == "managedFields":
            items.sort(key=lambda entry: (entry["operation"], json.dumps(entry, sort_keys=True)))
        return items
    if isinstance(value, str):
        if key in IDENTITIES:
            return "(identity)" if value else ""
        if key in MOMENTS:
            return "(moment)"
        return text(value)
    return value


CORE_KINDS = {"namespaces", "nodes", "events", "secrets", "configmaps", "pods", "resourcequotas"}
OUR_GROUPS = ("kubestellar.io", "x-k8s.io", "open-cluster-management.io")


def is_ours(group):
    return group.endswith(OUR_GROUPS)


def without(value, *names):
    """`value` without the members called `names`, at any depth."""
    if isinstance(value, dict):
        return {name: without(item, *names) for name, item in value.items() if name not in names}
    return [without(item, *names) for item in value] if isinstance(value, list) else value


def discovered(path, value):
    """Rule 8, on aggregated and plain discovery."""
    core = path in ("/api", "/api/v1")
    if path == "/apis":
        if value.get("kind") == "APIGroupList":
            return {**value, "groups": [group for group in value["groups"] if is_ours(group["name"])]}
        value = {**value, "items": [item for item in value["items"] if is_ours(item["metadata"]["name"])]}
    if core:
        value = without(value, "verbs", "subresources", "serverAddressByClientCIDRs")
    if path == "/apis" or core:
        for version in [version for item in value.get("items", []) for version in item["versions"]]:
            kept = [one for one in version["resources"] if not core or one["resource"] in CORE_KINDS]
            version["resources"] = sorted(kept, key=lambda one: one["resource"])
    if value.get("kind") == "APIResourceList":
        value = without(value, "storageVersionHash")
        value["resources"] = sorted((one for one in value["resources"] if not core or one["name"] in CORE_KINDS),
                                    key=lambda one: one["name"])
    return value


def of_openapi(path, value):
    """Rule 8, on OpenAPI."""
    if path == "/openapi/v3":
        return sorted(name for name in value["paths"] if is_ours(name.split("/")[1] if "/" in name else ""))
    schemas = value["components"]["schemas"]
    return without({name: schema for name, schema in schemas.items() if not name.startswith("io.k8s.")}, "description")


def installed(value):
    """Rule 10, at any depth."""
    if isinstance(value, list):
        return [installed(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "CustomResourceDefinition":
        spec = {name: item for name, item in value.get("spec", {}).items() if name != "conversion"}
        bookmark = not spec.get("group")  # a real server writes down the empty fields of its Go type
        return {**value, "status": None, "spec": None if bookmark else spec}
    return {name: installed(item) for name, item in value.items()}


def is_idle_bookmark(event):
    """Rule 14."""
    return isinstance(event, dict) and event.get("type") == "BOOKMARK" and \
        not event["object"].get("metadata", {}).get("annotations")


def of_interest(path, value):
    """What rules 8 to 11 leave of an answer that is about the whole server; anything else as it is."""
    if path == "/openapi/v2":
        return None
    if path.startswith("/apis/apiextensions.k8s.io"):
        value = without(installed(value), "managedFields")
    if not isinstance(value, dict) or value.get("kind") == "Status":
        return value
    if path.startswith("/openapi/v3"):
        return of_openapi(path, value)
    if path == "/version":
        return without(value, "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform")
    if path == "/apis/apiextensions.k8s.io/v1":
        value = without(value, "verbs")
    if value.get("kind") == "Table" and path.startswith(("/api/", "/apis/apiextensions.k8s.io")):
        return without(value, "columnDefinitions", "cells")
    return discovered(path, value)


def answer(status, headers, body, lines=False):
    """What is compared of an answer: code, warnings, retry-after, body (or the lines of a watch)."""
    try:
        parsed = [json.loads(line) for line in body.splitlines() if line.strip()] if lines else json.loads(body)
    except ValueError:
        parsed = body.decode(errors="replace").strip()
    if lines and isinstance(parsed, list):
        parsed = [event for event in parsed if not is_idle_bookmark(event)]
    return {
        "code": status,
        "warnings": sorted(headers.get_all("Warning") or []),
        "retry-after": headers.get("Retry-After"),
        "body": normal(parsed),
    }, parsed
