"""Which folder may include which, and which folder owns which library: ARCHITECTURE.md as a table."""

import re

BASE, SCHEMA = "engine/base", "schema"
CORE = (SCHEMA, "engine/devices", "engine/ingest", "engine/fold", "engine/admission", "engine/plan", "engine/apply",
        "engine/core")

# Folder -> the folders below it. A folder may always include itself; the longest match names a file's folder.
MAY_INCLUDE = {
    BASE: (),
    SCHEMA: (BASE,),
    # The HTTP server, of whatever is served.
    "engine/http": (BASE,),
    "engine/log": (BASE, SCHEMA),
    # What devices are, and whether pods fit on them: rules without State.
    "engine/devices": (BASE, SCHEMA),
    "engine/fold": (BASE, SCHEMA, "engine/devices"),
    # It judges requests by what the fold knows, with the fold's own functions.
    "engine/admission": (BASE, SCHEMA, "engine/fold"),
    # It drops what changes nothing, so it reads what the fold knows.
    "engine/ingest": (BASE, SCHEMA, "engine/fold"),
    "engine/plan": (BASE, SCHEMA, "engine/fold"),
    "engine/apply": (BASE, SCHEMA, "engine/fold", "engine/plan"),
    # The engine's loop as data. It knows no log: a driver appends what it asks for.
    "engine/core": (BASE, SCHEMA, "engine/ingest", "engine/fold", "engine/plan", "engine/apply"),
    "snapshots": (BASE, SCHEMA, "engine/log", "engine/fold"),
    # It makes requests of AdmissionReviews, and answers of verdicts.
    "connectors/kube": (BASE, SCHEMA, "engine/ingest", "engine/admission", "engine/apply"),
    # The stores of a replicated log, over the connector's port.
    "connectors/ring": (BASE, SCHEMA, "engine/log", "connectors/kube"),
    # The wing of `fairlead dev` and of simulations: an API server in memory,
    "engine/fleet/model": (BASE, SCHEMA, "engine/http", "connectors/kube"),
    # and the fleets that live inside it.
    "engine/fleet": (BASE, SCHEMA, "connectors/kube", "engine/fleet/model"),
    # A dry run reads the objects that it is given with the connector's projections.
    "replay": (BASE, SCHEMA, "engine/log", "engine/devices", "engine/ingest", "engine/fold", "engine/admission",
               "engine/plan",
               "engine/apply", "engine/core", "snapshots", "connectors/kube"),
    # It drives the core, which plans, and hands out views for the webhook.
    "engine/runtime": (BASE, SCHEMA, "engine/http", "engine/log", "engine/devices", "engine/ingest", "engine/fold",
                       "engine/admission", "engine/apply", "engine/core", "snapshots"),
    # The program in three rooms. What a question is, and how a command reaches the log or the hub that answers it.
    "engine/main/client": (BASE, SCHEMA, "engine/log", "engine/devices", "engine/fold", "engine/runtime", "snapshots",
                           "replay", "connectors/kube"),
    # What answers: a hub, `serve` and `dev` as they run.
    "engine/main/service": (BASE, SCHEMA, "engine/http", "engine/log", "engine/fold", "engine/admission", "engine/core",
                            "engine/runtime", "engine/fleet", "engine/fleet/model", "snapshots", "replay", "connectors",
                            "engine/main/client"),
    # The command line, and what main() does before it.
    "engine/main": ("engine", SCHEMA, "snapshots", "replay", "connectors"),
    "tests": ("engine", SCHEMA, "snapshots", "replay", "connectors"),
}

# The rooms of engine/fold from the lowest floor to the highest, each with its files: the first pattern that matches
# names a file's room. A room may include lower ones and itself. The parts of State, and what they are made of, are
# below all rules; State as a whole, the close, which alone knows the order of the rooms, and what folds an event are
# above all. So a rule can name parts of State only (engine/fold/rooms.h).
FOLD = "engine/fold"
FLOORS = (
    ("close", r"(state|close|evolve|objects|held|prefetch|light_copy)\."),
    ("parts", r"\w+\.|\w+/\w+_state\.|capacity/(cluster_terms|damping|damping_layers|largest_nodes|node_bases)\.|"
              r"capacity/liveness\.h|claims/(claim_spec|division|grant_reason|status_left)\.|devices/device_index\.|"
              r"multikueue/(lookup|membership|names)\.|pool/lookup\."),
    ("writes/record", r"writes/record\."),
    ("claims/terms", r"claims/(terms|dirty_claims)\."),
    ("capacity/nodes", r"capacity/(capacity|node_flavors|dirty_clusters)\."),
    ("devices", r"devices/"),
    ("capacity", r"capacity/"),
    ("queues/pairs", r"queues/(pairs|dirty_queues)\."),
    ("members", r"members/"),
    ("claims/grants", r"claims/"),
    ("queues", r"queues/"),
    ("writes/waits", r"writes/(interval|retry)\."),
    ("fleet_claims", r"fleet_claims/"),
    ("dispatch", r"dispatch/"),
    ("multikueue", r"multikueue/"),
    ("pool", r"pool/"),
    ("usage", r"usage/"),
    ("writes/outcomes", r"writes/outcomes\."),
)
_ORDER = [room for room, _ in FLOORS[1:]] + ["close"]

# The files of engine/fold that may change any part of State. Who includes all of State, tests among them, is counted.
MAY_CHANGE_STATE = r"engine/fold/(state|close|evolve|objects|light_copy)\.(h|cpp)$"
STATE = "engine/fold/state.h"
STATE_INCLUDERS_MAX = 59

# What talks to an API server does so over the port connectors/kube/transport/transport.h. Sockets, threads and the
# machine's clock are beside it, and only what makes connections knows them.
BESIDE_THE_PORT = r"connectors/kube/transport/(?!(transport|failure_message|certificate)\.h$)"
MAKES_CONNECTIONS = (r"engine/main/|connectors/kube/(transport/|access/(identity|exec_plugin|beginning)\.|"
                     r"api_server_connection\.)|connectors/ring/etcd_connections\.")

# Library -> (its headers, the paths that may include them). Tests may include any.
OWNERS = {
    "RocksDB": (r"rocksdb/", ("engine/log/rocksdb/", "snapshots/")),
    "Cap'n Proto": (r"(capnp|kj)/|.*\.capnp\.h$", (r"schema/(codec\.cpp|(codec|capnp)_\w+)", r"snapshots/\w+\.cpp")),
    "simdjson": (r"simdjson", (r"connectors/kube/document/json_index\.",)),
    "RE2": (r"re2/", ("engine/devices/",)),
    "xxHash": (r"xxhash", (r"connectors/kube/watch/line_fingerprint\.",)),
    "Beast": (r"boost/beast", ("connectors/kube/transport/", "engine/http/")),
    "Asio": (r"boost/asio", ("connectors/kube/transport/", "engine/http/", r"engine/runtime/served_certificate\.")),
    "Boost.System": (r"boost/(system|assert)", ("engine/base/result.h", "connectors/kube/", "engine/fleet/model/")),
    "Boost.PFR": (r"boost/pfr", (r"engine/fold/canonical_bytes\.", r"connectors/kube/watch/kept_bytes\.",
                                    r"engine/fold/dirty_set\.")),
    "OpenSSL": (r"openssl/", ("engine/base/", "connectors/kube/", r"engine/runtime/served_certificate\.")),
    "spdlog": (r"(spdlog|fmt)/", (r"engine/runtime/diagnostics\.",)),
    "yaml-cpp": (r"yaml-cpp/", (r"engine/base/yaml_tree\.",)),
    "mimalloc": (r"mimalloc\.h$", (r"engine/main/main\.",)),
    "CLI11": (r"CLI/", ("engine/main/",)),
    "nlohmann/json": (r"nlohmann/", ("engine/base/json.h",)),
    "LZ4 and Zstandard": (r"(lz4|zstd)", ("engine/log/", "snapshots/")),
    "zlib": (r"zlib\.h", (r"engine/http/gzip\.",)),
    "test libraries": (r"(catch2|rapidcheck|benchmark)", ()),
}

_STANDARD = re.compile(r"[a-z_0-9]+$")
_SYSTEM = re.compile(r"(sys|netinet|arpa|linux)/\w+\.h$|"
                     r"(unistd|fcntl|signal|netdb|poll|pthread|dirent|errno|spawn)\.h$")
_OURS = re.compile(r"(engine|schema|connectors|replay|snapshots|tests)/")


def folder_of(path):
    """The row of MAY_INCLUDE that `path` belongs to, or None."""
    rows = [row for row in MAY_INCLUDE if path.startswith(row + "/")]
    return max(rows, key=len, default=None)


def _below(path, folder):
    home = folder_of(path)
    return home is not None and (home == folder or (folder in ("engine", "connectors") and
                                                    home.startswith(folder + "/")))


def check_include(path, name):
    """Why the C++ file `path` may not include `name`; None if it may."""
    if re.search(r"\.capnp\.h$", name) or not _OURS.match(name):
        return _check_foreign(path, name)
    folder = folder_of(path)
    if folder is None:
        return "this folder has no row in tests/style/layering.py"
    if folder == "tests":
        return None
    if re.match(BESIDE_THE_PORT, name) and not re.match(MAKES_CONNECTIONS, path):
        return f"layering: {path} may not include {name}, which is beside the port Transport"
    if folder_of(name) == folder:
        return _check_floor(path, name) if folder == FOLD else None
    if any(_below(name, allowed) for allowed in MAY_INCLUDE[folder]):
        return None
    return f"layering: {folder} may not include {folder_of(name) or name}"


def room_of(path):
    """The room of a file of engine/fold."""
    return next((room for room, files in FLOORS if re.match(files, path[len(FOLD) + 1:])), None)


def _check_floor(path, name):
    room, other = room_of(path), room_of(name)
    if room is None:
        return "this file of engine/fold has no room in tests/style/layering.py"
    if _ORDER.index(other) <= _ORDER.index(room):
        return None
    return f"floors: {room} may not include {other}, which is above it"


STATE_IS_PARTS = "floors: only the close may change any part of State: take what the rule changes (engine/fold/rooms.h)"


def takes_all_of_state(path, code):
    """Where code of engine/fold takes all of State to change it, and only the close may: the offsets."""
    if path.startswith(FOLD + "/") and not re.match(MAY_CHANGE_STATE, path):
        for match in re.finditer(r"(?<!const )\bState ?&", code):
            yield match.start()


class IncludersOfState:
    """Asked of every file in turn. What needs one part of State includes the part's header."""

    def __init__(self):
        self.count = 0

    def check(self, path, text):
        if not path.endswith((".h", ".cpp")):
            return
        for number, line in enumerate(text.splitlines(), 1):
            if line == f'#include "{STATE}"':
                self.count += 1
                if self.count > STATE_INCLUDERS_MAX:
                    yield number, f"over {STATE_INCLUDERS_MAX} files include {STATE}: include the part that is read"


def _check_foreign(path, name):
    if path.startswith("tests/"):
        return None
    for library, (headers, places) in OWNERS.items():
        if re.match(headers, name):
            if any(re.match(place, path) for place in places):
                return None
            return f"one library, one folder: {library} belongs to {', '.join(places) or 'tests'}"
    if _STANDARD.match(name) or _SYSTEM.match(name):
        return None
    if "/" not in name and name.endswith((".h", ".hpp")):
        return "includes are written from the root of the project"
    return f"{name} is of a library without an owner in tests/style/layering.py"
