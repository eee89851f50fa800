"""Makes a world that shows something smaller, and shows worlds in few lines."""
import copy
import json
import time

# What a world cannot lack, and what is said of objects only for people.
NEEDED = ("apiVersion", "kind", "metadata", "name", "uid", "namespace", "spec", "node", "slices", "classes", "rules",
          "claims", "allocated", "nodes", "templates", "podSets", "template", "status", "conditions", "containers")


def parts(value, path=()):
    """The paths of all that can be left out. A node stays Ready: of a single one only our search looks at that."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        if (not isinstance(key, str) or key not in NEEDED) and path[-1:] != ("conditions",):
            yield path + (key,)
    for key, inner in list(items):
        yield from parts(inner, path + (key,))


def without(world, path):
    smaller = copy.deepcopy(world)
    inner = smaller
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    if len(path) == 2 and path[0] == "slices":
        recount(world["slices"][path[1]], smaller["slices"])
    return smaller


def recount(gone, slices):
    """The pool of a slice that is gone has one slice less."""
    pool = gone["spec"]["pool"]
    for s in slices:
        same = (s["spec"]["driver"], s["spec"]["pool"]["name"]) == (gone["spec"]["driver"], pool["name"])
        own = s["spec"]["pool"]
        if same and own["generation"] == pool["generation"] and own["resourceSliceCount"] > 1:
            own["resourceSliceCount"] -= 1


def there(world, path):
    for key in path:
        if isinstance(world, list) and (not isinstance(key, int) or key >= len(world)):
            return False
        if isinstance(world, dict) and key not in world or not isinstance(world, (list, dict)):
            return False
        world = world[key]
    return True


def shrink(world, shows, seconds):
    """Leaves out parts for which `shows` stays true, for at most that long."""
    end = time.monotonic() + seconds
    changed = True
    while changed and time.monotonic() < end:
        changed = False
        # Large parts first; of a list from its end, so that the places of what is before stay.
        by_place = sorted(parts(world), key=lambda p: [str(k).zfill(6) for k in p], reverse=True)
        for path in sorted(by_place, key=len):
            if time.monotonic() >= end:
                break
            if there(world, path):
                smaller = without(world, path)
                if shows(smaller):
                    world, changed = smaller, True
    return world


def outline(world):
    """A line for each object, and one for each device and request."""
    lines = []
    for node in world["nodes"] if "nodes" in world else [world["node"]]:
        own = {**node["metadata"].get("labels", {}), **node.get("spec", {}), **node.get("status", {})}
        lines.append("  node %s %s" % (node["metadata"]["name"], json.dumps(own)))
    for s in sorted(world["slices"], key=lambda s: s["metadata"]["name"]):
        spec = dict(s["spec"])
        devices = spec.pop("devices", [])
        lines.append("  %s %s" % (s["metadata"]["name"], json.dumps(spec)))
        lines += ["    %s" % json.dumps(d) for d in devices]
    for kind in ("classes", "rules", "templates"):
        lines += ["  %s %s" % (o["metadata"]["name"], json.dumps(o["spec"])) for o in world.get(kind, [])]
    lines += ["  podSet %s" % json.dumps(pod_set) for pod_set in world.get("podSets", [])]
    for claim in world.get("claims", []):
        devices = claim["spec"].get("devices", {})
        lines.append("  %s %s" % (claim["metadata"]["name"], json.dumps(devices.get("constraints", []))))
        lines += ["    %s" % json.dumps(request) for request in devices.get("requests", [])]
        if claim.get("status"):
            lines.append("    %s" % json.dumps(claim["status"]))
    for claim in world.get("allocated", []):
        results = claim["status"]["allocation"]["devices"]["results"]
        lines += ["  in use %s" % json.dumps(result) for result in results]
    return "\n".join(lines)
