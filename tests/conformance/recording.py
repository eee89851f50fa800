"""Requests that were recorded between real programs and a real server, sent again to another server.

A recording holds what one server said: its uids, resourceVersions and continue tokens. Another server has its own, so
each answer is walked beside the recorded one, and what a later request repeats of the recorded is replaced by what
this server said in that place.

What is left out: retries after 429, and the protobuf that kubectl asks for where it would take JSON as well, which are
no requests to the API; and the policies of admissionregistration.k8s.io, which the model has none of.
"""

import http.client
import json
import re
import urllib.parse

from normal import IDENTITIES, answer, of_interest

# The name under which a caller's headers matter for the answer.
HEADERS = ("Accept", "Content-Type")
NOT_MODELLED = "/apis/admissionregistration.k8s.io/"
PROTOBUF = re.compile(r"application/vnd\.kubernetes\.protobuf[^,]*,|application/com\.github\.proto-openapi[^,]*,")


def parsed(body):
    try:
        return json.loads(body)
    except ValueError:
        return None


def lines_of(body):
    return [parsed(line) for line in body.splitlines() if line.strip()]


class Recorded:
    """One request, and what the recording server answered."""

    def __init__(self, exchange):
        request = exchange.request
        self.method, self.path, self.query = request.method, request.path, dict(request.query)
        lower = {name.lower(): text for name, text in request.headers.items()}
        self.headers = {name: PROTOBUF.sub("", lower[name.lower()]) for name in HEADERS if name.lower() in lower}
        self.body = request.body
        self.code = exchange.code
        self.watches = request.watches()
        self.answer = None if self.watches else parsed(exchange.body)

    def writes(self):
        return self.method != "GET"

    def signature(self):
        """Equal for requests that ask the same, whenever they do."""
        query = {name: text for name, text in self.query.items()
                 if name not in ("resourceVersion", "timeoutSeconds", "continue")}
        return (self.method, self.path, tuple(sorted(query.items())), tuple(sorted(self.headers.items())))

    def __repr__(self):
        query = f"?{urllib.parse.urlencode(self.query)}" if self.query else ""
        return f"{self.method} {self.path}{query} {self.body.decode(errors='replace')[:300]}"


def worth_sending(exchanges):
    """The recording in its order, without what says nothing new: the same question before anything was written."""
    kept, asked = [], set()
    for exchange in list(exchanges):
        if exchange.code is None or exchange.code == 429 or exchange.request.path.startswith(NOT_MODELLED):
            continue
        one = Recorded(exchange)
        if one.writes():
            asked.clear()
        elif one.signature() in asked:
            continue
        asked.add(one.signature())
        kept.append(one)
    return kept


class Replay:
    """Sends a recording to one server (`exchange(method, path, body, headers)`)."""

    def __init__(self, server):
        self.server = server
        self.known = {}  # what the recording server said: what this one says
        self.newest = "0"  # resourceVersion of the last write or list

    def send(self, one, watch_seconds=1):
        """What this server answers, as it is compared."""
        query = dict(one.query)
        query.pop("hash", None)  # of a document of the recording server: another one redirects
        for name in ("resourceVersion", "continue"):
            if query.get(name, "0") not in ("0", ""):
                query[name] = self.known.get(query[name], self.newest)
        if one.watches:
            query["timeoutSeconds"] = str(watch_seconds)
        target = one.path + ("?" + urllib.parse.urlencode(query) if query else "")
        status, headers, body = self.server.exchange(one.method, target, self.translated(one.body) or None, one.headers)
        compared, value = answer(status, headers, body, lines=one.watches)
        compared["body"] = of_interest(one.path, compared["body"])
        if not one.watches and one.answer is not None:
            self.learn(one.answer, value)
        return compared

    def begin(self, collections):
        """Remembers what moment it is for each of `collections`."""
        self.begun = {path: json.loads(self.server.exchange("GET", f"{path}?limit=1")[2])["metadata"]["resourceVersion"]
                      for path in collections}

    def history(self, path):
        """What a watch of `path` tells that goes on from begin()."""
        got = self.server.exchange(
            "GET", f"{path}?watch=true&timeoutSeconds=1&resourceVersion={self.begun[path]}", None, {})
        return answer(*got, lines=True)[0]

    def learn(self, recorded, seen, key=None):
        if isinstance(recorded, dict) and isinstance(seen, dict):
            self.learn_version(recorded, seen)
            for name in recorded.keys() & seen.keys() - {"resourceVersion"}:
                self.learn(recorded[name], seen[name], name)
        elif isinstance(recorded, list) and isinstance(seen, list):
            for left, right in zip(recorded, seen):
                self.learn(left, right)
        elif key in IDENTITIES and isinstance(recorded, str) and isinstance(seen, str):
            self.known[recorded] = seen

    def learn_version(self, recorded, seen):
        """An object's version (it has a uid) counts before that of a collection, which the whole store moves."""
        pair = [each.get("resourceVersion") for each in (recorded, seen)]
        if not all(isinstance(version, str) for version in pair):
            return
        if "uid" in recorded or pair[0] not in self.known:
            self.known[pair[0]] = pair[1]
        self.newest = pair[1]

    def translated(self, body):
        value = parsed(body)
        return body if value is None else json.dumps(self.with_own_identities(value))

    def with_own_identities(self, value, key=None):
        if isinstance(value, dict):
            return {name: self.with_own_identities(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.with_own_identities(item) for item in value]
        return self.known.get(value, value) if key in IDENTITIES else value


class Plain:
    """An API server of the harness, with whole answers."""

    def __init__(self, server):
        self.server = server

    def exchange(self, method, path, body=None, headers=None, timeout=30):
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=timeout,
                                                 context=self.server.tls)
        try:
            token = {"Authorization": f"Bearer {self.server.plane.tokens['admin']}"}
            connection.request(method, path, body=body, headers={**(headers or {}), **token})
            got = connection.getresponse()
            return got.status, got.headers, got.read()
        finally:
            connection.close()


def leaves(value, path=""):
    if isinstance(value, (dict, list)) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {at: leaf for key, item in items for at, leaf in leaves(item, f"{path}/{key}").items()}
    return {path: value}


def difference(expected, found, most=12):
    """Where two answers differ, a line each; empty if they do not."""
    left, right = leaves(expected), leaves(found)
    lines = [f"{path}: real {left.get(path, '(nothing)')!r}, model {right.get(path, '(nothing)')!r}"[:400]
             for path in {**left, **right} if left.get(path, ...) != right.get(path, ...)]
    return "\n".join([*lines[:most], *([f"and {len(lines) - most} more"] if len(lines) > most else [])])
