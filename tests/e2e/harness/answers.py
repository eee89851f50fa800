"""Holds what the program answers against docs/schemas/answers.json. The schema is open, because fields may be added;
here it is closed, so that a field which is not declared is found."""

import functools
import json
import pathlib

import jsonschema

SCHEMA = pathlib.Path(__file__).resolve().parents[3] / "docs/schemas/answers.json"
# What has no "kind" of its own, by command.
LINES = {"plan": "PlannedWrite", "plan --admit": "Objection", "replay": "Replay", "log cat": "LogEvent",
         "log verify": "LogVerdict", "snapshot list": "Snapshot", "snapshot take": "Snapshot",
         "snapshot verify": "Snapshot", "usage": "UsageReport", "usage --idle-candidates": "IdleCandidates"}
# Printed without their "kind", because their fields are a contract; by a field that no other one has.
CONTRACTS = {"waits": "Waiting", "workloads": "WaitingList", "resourceSeconds": "BlockedBy"}
LINES_MAX = 100  # of one output are looked at: the rest is alike
seen = set()  # definitions that were used


def closed(part):
    """The schema, with objects that have the declared fields only."""
    if isinstance(part, list):
        return [closed(each) for each in part]
    if not isinstance(part, dict):
        return part
    found = {name: closed(each) for name, each in part.items()}
    return {"additionalProperties": False, **found} if "properties" in found and "type" in found else found


@functools.cache
def definitions():
    return closed(json.loads(SCHEMA.read_text())["definitions"])


@functools.cache
def by_kind():
    """{kind: names of the definitions}: several shapes may have one kind."""
    found = {}
    for name in (each["$ref"].split("/")[-1] for each in definitions()["Document"]["anyOf"]):
        kind = definitions()[name]["properties"]["kind"]
        for each in kind.get("enum") or [kind["const"]]:
            found.setdefault(each, []).append(name)
    return found


@functools.cache
def validator(name):
    return jsonschema.Draft7Validator({"definitions": definitions(), "$ref": f"#/definitions/{name}"})


def fault_of(document, name):
    """What is wrong with it, as a sentence; empty: nothing."""
    seen.add(name)
    fault = jsonschema.exceptions.best_match(validator(name).iter_errors(document))
    return fault and f"{name}: {'/'.join(map(str, fault.absolute_path))}: {fault.message[:1000]}"


def check(document):
    """The document must be what ui/*answers.d.ts says of its kind."""
    names = by_kind().get(document.get("kind"), ["WhatIfUnderWay"] if "building" in document else [])
    if "kind" not in document:
        names = names or [name for field, name in CONTRACTS.items() if field in document][-1:]
    assert names, f"a document of kind {document.get('kind')}, which ui/*answers.d.ts does not declare"
    faults = [fault_of(document, name) for name in names]
    assert not all(faults), faults


def check_output(arguments, text):
    """The same of all that a command printed."""
    words = [str(each) for each in arguments]
    command = " ".join(words[:2]) if words[0] in ("log", "snapshot") else words[0]
    output = words[words.index("-o") + 1] if "-o" in words else "json" if command in ("plan", "log cat") else "text"
    if output != "json" or "--help" in words:
        return
    if command in ("audit", "waiting", "whatif"):
        check(json.loads(text))
    command += "".join(f" {word}" for word in ("--admit", "--idle-candidates") if word in words)
    for line in text.splitlines()[:LINES_MAX] if command in LINES else []:
        fault = fault_of(json.loads(line), LINES[command])
        assert not fault, fault
