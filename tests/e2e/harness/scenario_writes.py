"""What the hub writes under each configuration, from the expectations of tests/scenarios: those are what the program's
plan does, so a write that the program learns is in them."""

import functools
import re

from .controlplane import ROOT

SCENARIOS = ROOT / "tests/scenarios"
KINDS = re.compile(r'\{Kind::\w+,\s*"([^"]*)",\s*"(\w+)",\s*"(\w+)"')
WRITE = re.compile(r"^(?:[\d-]+T)?\d\d:\d\d:\d\d\S* +(apply-status|apply|create|patch|delete) (\w+) ")
VERBS = {"apply": "patch", "apply-status": "patch", "patch": "patch", "create": "create", "delete": "delete"}
# What a setting of the configuration needs, in the order in which components build on each other. `members.mode` is
# auto without a setting; MultiKueue has none.
COMPONENTS = (("members.mode=bindingPolicy", ("bindingpolicy",)), ("multikueue.dispatcher=true", ("dispatcher",)),
              ("dra.fleetClaims=true", ("fleet-claims",)), ("multikueue.adoptOcmAddon=true", ("ocm-addon",)))


@functools.cache
def resources():
    """{Kind: resource.group} of schema/kind.h."""
    found = {kind: f"{resource}.{group}".rstrip(".")
             for group, kind, resource in KINDS.findall((ROOT / "schema/kind.h").read_text())}
    assert len(found) > 30, found
    return found


def arguments_of(path):
    """The `args:` of a scenario, and of the one that it begins with."""
    head = path.read_text().partition("\n----\n")[0].splitlines()
    other = [line.split(":", 1)[1].strip() for line in head if line.startswith("scenario:")]
    own = [line.split(":", 1)[1].strip() for line in head if line.startswith(("args:", "args+:"))]
    return [*(argument for name in other for argument in arguments_of(SCENARIOS / name)), *own]


def writes():
    """{components beside the overlay `hub`: {(resource.group, verb): a scenario that writes so}} on the hub."""
    found = {}
    for path in sorted(SCENARIOS.glob("*/*.txt")):
        text = path.read_text()
        if "\n----\n" not in text:
            continue
        settings = " ".join(arguments_of(path))
        components = tuple(name for setting, names in COMPONENTS if setting in settings for name in names)
        for line in text.partition("\n----\n")[2].splitlines():
            written = WRITE.match(line)
            if written:
                resource = resources()[written[2]]
                if written[1] == "apply-status":
                    name, _, group = resource.partition(".")
                    resource = f"{name}/status.{group}"
                found.setdefault(components, {}).setdefault((resource, VERBS[written[1]]), path.name)
    return found
