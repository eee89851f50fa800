"""The MultiKueue path: what the page says about membership, conditions and Workloads, once more and plainly.

At each moment all lines of that time are taken in, the windows are brought up to date, and everything is judged anew;
what is written comes back as an observation of the same moment. A window is "since when this has been so without a
break". The moments are the times of the lines and every instant at which some window of some length ends: judging at
an instant at which nothing happens changes nothing, so more of them than needed do no harm.

`Hub(settings).run(lines)` gives the writes: {"time", "verb", "kind", "namespace", "name", "body"}.
"""
import copy

from multikueue_world import (ANNOTATION, DURATIONS, FINALIZER, KUEUE, MARK, OUR_CONDITIONS, OWNER, World, condition,
                              deleting, duration, instant, is_true, marked, meta, subdomain)

GC_INTERVAL = 60000
GENERATED = "MultiKueueConfig and MultiKueueCluster generated"


def at(ms):
    seconds = ms // 1000
    return "1970-01-%02dT%02d:%02d:%02dZ" % (1 + seconds // 86400, seconds // 3600 % 24, seconds // 60 % 60,
                                             seconds % 60)


class Since:
    """Since when each of some things has been so without a break."""

    def __init__(self):
        self.start = {}

    def keep(self, those, now):
        self.start = {key: self.start.get(key, now) for key in sorted(those)}

    def lasted(self, key, length, now):
        return key in self.start and now - self.start[key] >= length


class Hub(World):
    def __init__(self, settings):
        super().__init__(settings)
        self.writes = []
        self.now = None
        self.seen_clusters, self.had_credential = set(), set()
        self.last_good, self.came_from = {}, {}    # check: its last good Placement; those before it
        self.left_from = {}                        # the first, kept while it is being deleted
        self.cluster_of = {}                       # (placement, name): cluster
        self.previous = {}                         # placement: the list as it was last
        self.put_back = {}                         # placement: names that a hand took out at this moment
        self.running = {}                          # (placement, name): [unfinished holders of then, when it lets go]
        self.source = {}                           # MultiKueueCluster: the clusterSource that we last took
        self.chosen = {}                           # placement: the names that are selected now
        self.judged = {}                           # workload: (list, long absent) when it was last nominated
        for name in ("selected", "absent", "frozen", "unused", "order", "lost", "profile", "no_profile", "nothing",
                     "used"):
            setattr(self, name, Since())

    # Time

    def run(self, lines, until=None):
        self.read_ahead(lines)
        for time in sorted({line["time"] for line in lines}):
            self.advance(time)
            self.moment([line for line in lines if line["time"] == time], time)
        self.advance(until)
        return self.writes

    def advance(self, before):
        """Every deadline before that time; to the end of all with None."""
        while self.now is not None:
            due = self.deadline()
            if due is None or before is not None and due >= before:
                return
            self.moment([], due)

    def deadline(self):
        lengths = {self.settings[name] for name in DURATIONS}
        for check in self.checks():
            for key, value in meta(check).get("annotations", {}).items():
                if key.startswith(ANNOTATION) and duration(value) is not None:
                    lengths.add(duration(value))
        windows = [v for v in vars(self).values() if isinstance(v, Since)]
        due = {start + length for w in windows for start in w.start.values() for length in lengths}
        due |= {until for _, until in self.running.values() if until is not None}
        due |= {instant(o["status"]["validUntil"]) for o in self.all("AddOnPlacementScore")
                if "validUntil" in o.get("status", {})}
        return min((t for t in due if t > self.now), default=None)

    def moment(self, lines, now):
        self.now = now
        for line in lines:
            self.take(copy.deepcopy(line))
        self.observe(by_hand=True)
        for _ in range(5):
            writes = self.config_writes()
            if not writes:
                break
            self.accept(self.last_words(writes) + writes)
            self.observe(by_hand=False)
        else:
            raise AssertionError("the lists do not come to rest at %d: %s" % (now, writes))
        self.accept(self.condition_writes())
        self.accept(self.workload_writes())
        self.accept(self.finalizer_writes())

    # What is so, and since when

    def observe(self, by_hand):
        now, places = self.now, sorted(set(self.placements()) | set(self.previous))
        self.observe_checks()
        self.observe_credentials(places)
        for p in places:
            self.observe_list(p, by_hand)
        waiting = self.unfinished()
        for entry in self.running.values():
            entry[0] &= waiting
            entry[1] = None if entry[0] else now + GC_INTERVAL if entry[1] is None else entry[1]
        self.chosen = {p: {self.name(p, c) for c in self.decided(p) if self.usable(p, c) and self.credentialed(p, c)}
                       for p in places}
        selected = {(p, n) for p in places for n in self.chosen[p]}
        self.selected.keep(selected, now)
        self.absent.keep({(p, n) for p in places for n in self.members(p) if (p, n) not in selected}, now)
        self.frozen.keep({p for p in places if self.members(p) and self.freezes(p)}, now)
        self.unused.keep({p for p in places if self.config(p) and not self.users(p) and not self.pinned(p)}, now)
        live = [p for p in places if self.members(p) and self.users(p) and not self.freezes(p)]
        self.order.keep({(p, self.in_order(p, self.members(p))) for p in live
                         if self.in_order(p, self.members(p)) != self.members(p)}, now)

    def observe_checks(self):
        present = {meta(c)["name"] for c in self.checks() if not deleting(c)}
        kept, self.left_from = self.left_from, {}
        for name, p in ((meta(c)["name"], self.parameter(c)) for c in self.checks()):
            self.left_from[name] = p if p and name in present else kept.get(name, p)
        for name in set(self.last_good) - present:
            del self.last_good[name]
            self.came_from.pop(name, None)
        for check in self.checks():
            p, name = self.parameter(check), meta(check)["name"]
            if p and name in present:
                if self.last_good.get(name) not in (None, p):
                    self.came_from.setdefault(name, set()).add(self.last_good[name])
                self.last_good[name] = p
                self.came_from.get(name, set()).discard(p)

    def observe_credentials(self, places):
        for p in places:
            for cluster in self.decided(p):
                self.cluster_of[(p, self.name(p, cluster))] = cluster
            for name in self.members(p):
                if (p, name) not in self.cluster_of and self.cluster_behind(p, name):
                    self.cluster_of[(p, name)] = self.cluster_behind(p, name)
            self.seen_clusters |= self.decided(p)
        self.seen_clusters |= self.credential_clusters()
        have = {c for c in self.seen_clusters if self.credential(c)}
        self.had_credential |= have
        self.lost.keep(self.had_credential - have, self.now)
        profiled = {c for c in self.seen_clusters if self.profile_of(c)}
        self.profile.keep(profiled, self.now)
        self.no_profile.keep(self.seen_clusters - profiled, self.now)

    def observe_list(self, p, by_hand):
        members = self.members(p)
        gone = [n for n in self.previous.get(p, ()) if n not in members]
        self.put_back[p] = gone if by_hand and self.config(p) else []
        for n in gone:
            holders = self.holders(p, n)
            if holders:
                self.running.setdefault((p, n), [set(), None])[0].update(holders)
        self.previous[p] = members

    def credentialed(self, p, cluster):
        """It has a credential, or is a member that lost it not long ago."""
        if self.credential(cluster):
            return True
        return (self.name(p, cluster) in self.members(p) and cluster in self.lost.start
                and not self.lost.lasted(cluster, self.setting(p, "credentialGrace"), self.now))

    def freezes(self, p):
        return not self.chosen[p] or self.get("Placement", p, self.namespace) is None

    def pinned(self, p):
        """Some check of it has parameters that turned bad, so that its list stays."""
        return any(self.last_good.get(meta(c)["name"]) == p for c in self.checks() if not self.parameter(c))

    def waits(self, p, name):
        """The no-return rule holds it out of the list."""
        holders, until = self.running.get((p, name), (set(), 0))
        return name not in self.members(p) and (bool(holders) or self.now < until)

    def in_order(self, p, names):
        def key(name):
            cluster = self.cluster_of.get((p, name), "")
            rank = self.rank(p, cluster, self.now)
            return (name not in self.chosen[p], rank is None, -(rank or 0), name)
        return tuple(sorted(names, key=key))

    # The membership rule

    def may_go(self, p, name):
        if not self.absent.lasted((p, name), self.setting(p, "moveWindow"), self.now):
            return False
        return not self.holders(p, name) or self.absent.lasted((p, name), self.setting(p, "drainTimeout"), self.now)

    def next_list(self, p):
        """The list that the rule wants now, of a config that is neither frozen nor in the way."""
        old, selected = self.members(p), self.chosen[p]
        back = [n for n in self.put_back.get(p, []) if n in selected and not self.waits(p, n)]
        members = set(old) | set(self.in_order(p, back)[:max(0, self.max_clusters() - len(old))])
        newcomers = {n for n in selected - members if not self.waits(p, n)}
        settled = {n for n in newcomers if self.selected.lasted((p, n), self.setting(p, "settle"), self.now)}
        moved = {n for n in newcomers if self.selected.lasted((p, n), self.setting(p, "moveWindow"), self.now)}
        leavers = members - selected
        going = {n for n in leavers if self.may_go(p, n)}
        if leavers - going:
            entering = moved
        elif going and going == members:
            going = going if moved else set()
            entering = newcomers if moved else set()
        else:
            entering = newcomers if settled else moved if leavers else set()
        staying = members - going
        places = max(0, self.max_clusters() - len(staying))
        names = staying | set(self.in_order(p, entering)[:places])
        wanted = self.in_order(p, names)
        if names != set(old) or self.order.lasted((p, wanted), self.setting(p, "moveWindow"), self.now):
            return wanted
        return old

    def next_state(self, p):
        """The list that the config is to have, () for none; what it has if nothing is to be written."""
        old = self.members(p)
        if not self.users(p):
            return () if old and not self.pinned(p) and self.unused_may_go(p) else old
        if self.foreign(p):
            return old
        if self.freezes(p):
            over = self.frozen.lasted(p, self.setting(p, "emptyGrace"), self.now)
            held = any(self.holders(p, n) for n in old)
            drained = not held or self.frozen.lasted(p, self.setting(p, "drainTimeout"), self.now)
            return () if over and drained else old
        return self.next_list(p)

    def unused_may_go(self, p):
        if self.unused.lasted(p, self.settings["drainTimeout"], self.now):
            return True
        awaited = [c for c in self.checks() if p in self.came_from.get(meta(c)["name"], ()) and self.parameter(c)]
        return (not any(self.holders(p, n) for n in self.members(p))
                and all(self.members(self.parameter(c)) for c in awaited))

    # Configs and clusters

    def config_writes(self):
        states = {p: self.next_state(p) for p in self.placements()}
        configs, deletes = [], []
        for p, names in states.items():
            there = self.get("MultiKueueConfig", p)
            if names and self.users(p) and (names != self.members(p) or not marked(there)):
                configs.append(self.write("apply", "MultiKueueConfig", p, self.body(
                    "MultiKueueConfig", p, "placement/" + p, {"clusters": list(names)})))
            elif not names and self.config(p):
                deletes.append(self.write("delete", "MultiKueueConfig", p))
        foreign = {n for o in self.all("MultiKueueConfig") if meta(o)["name"] not in states
                   for n in o["spec"].get("clusters", [])}
        foreign |= {n for p in states if self.foreign(p)
                    for n in self.get("MultiKueueConfig", p)["spec"].get("clusters", [])}
        listed = set().union(foreign, *states.values(), *[self.members(p) for p in states])
        unlisted = [self.write("delete", "MultiKueueCluster", meta(o)["name"]) for o in self.all("MultiKueueCluster")
                    if marked(o) and meta(o)["name"] not in listed]
        for w in unlisted:
            self.source.pop(w["name"], None)
        return self.cluster_writes(states) + configs + deletes + unlisted

    def cluster_writes(self, states):
        out, done = [], set()
        for p, names in states.items():
            for name in names if self.users(p) else ():
                cluster = self.cluster_of.get((p, name))
                there = self.get("MultiKueueCluster", name)
                if name in done or cluster is None or self.name(p, cluster) != name or self.name_taken(p, cluster):
                    continue
                before = any(name in self.members(q) for q in states)
                if before and there is None and name not in self.source and name not in self.chosen[p]:
                    continue  # a name that a hand added
                source = self.next_source(name, cluster, there, before, states)
                if source is None:
                    continue
                done.add(name)
                self.source[name] = source
                if there is None or not marked(there) or there["spec"].get("clusterSource") != source:
                    owner = "cluster/" + name if self.settings["profile"] == "cluster" else "placement/" + p
                    out.append(self.write("apply", "MultiKueueCluster", name, self.body(
                        "MultiKueueCluster", name, owner, {"clusterSource": source})))
        return out

    def next_source(self, name, cluster, there, before, states):
        """A member changes its source only after the windows; one that enters takes what there is now."""
        old, now = self.source.get(name), self.credential(cluster)
        if old is None and before and there is not None:
            old = there["spec"].get("clusterSource")
        if old is None or not before or now is None:
            return now or old
        users = [p for p in states if name in self.members(p)]
        if "clusterProfileRef" in old and "kubeConfig" in now:
            grace = max(self.setting(p, "credentialGrace") for p in users)
            return now if self.no_profile.lasted(cluster, grace, self.now) else old
        if "kubeConfig" in old and "clusterProfileRef" in now:
            settle = max(self.setting(p, "settle") for p in users)
            return now if self.profile.lasted(cluster, settle, self.now) else old
        return now

    # Conditions

    def false_reason(self, check):
        """Why there is nothing to dispatch to, or None."""
        p = self.parameter(check)
        if p is None:
            return "BadParameters"
        if self.get("Placement", p, self.namespace) is None:
            return "PlacementNotFound"
        left = self.decided(p)
        if not left:
            return "NoClustersAvailable"
        left = {c for c in left if self.credentialed(p, c)}
        if not left:
            return "CredentialsMissing"
        if self.foreign(p):
            return "MultiKueueConfigError"
        left = {c for c in left if self.usable(p, c)}
        if not left:
            return "NameTaken"
        if all(self.waits(p, self.name(p, c)) for c in left):
            return "WaitingForRunningCopies"
        return None

    def use(self, p):
        """(status, reason) of AllClustersUsed."""
        decided = self.decided(p)
        if not all(self.credentialed(p, c) for c in decided):
            return ("False", "CredentialsMissing")
        if any(subdomain(self.name(p, c)) and self.name_taken(p, c) for c in decided):
            return ("False", "NameTaken")
        if not all(subdomain(self.name(p, c)) for c in decided):
            return ("False", "NameInvalid")
        return ("False", "TooManyClusters") if len(decided) > self.max_clusters() else ("True", "AllClustersUsed")

    def condition_writes(self):
        checks = [c for c in self.checks() if not deleting(c)]
        self.nothing.keep({meta(c)["name"] for c in checks if self.false_reason(c)}, self.now)
        self.used.keep({(meta(c)["name"], *self.use(self.parameter(c))) for c in checks if self.parameter(c)}, self.now)
        out = []
        for check in checks:
            before = {t: condition(check, t) for t in OUR_CONDITIONS}
            after = {"Active": self.next_active(check, before["Active"])}
            after["AllClustersUsed"] = self.next_used(check, before["AllClustersUsed"], after["Active"])
            after["DispatcherReady"] = self.dispatcher_ready()
            if (after["Active"] or after["AllClustersUsed"]) and any(self.brief(before[t]) != after[t] for t in before):
                name = meta(check)["name"]
                out.append(self.write("apply-status", "AdmissionCheck", name, {
                    "apiVersion": KUEUE, "kind": "AdmissionCheck", "metadata": {"name": name}, "status": {
                        "conditions": [self.full(check, t, before[t], after[t]) for t in after if after[t]]}}))
        return out

    def last_words(self, writes):
        """What checks that are being deleted say before their config goes."""
        out, going = [], {w["name"] for w in writes if w["kind"] == "MultiKueueConfig" and w["verb"] == "delete"}
        for check in (c for c in self.checks() if deleting(c)):
            name, active = meta(check)["name"], condition(check, "Active")
            said = active and active["status"] == "True" or condition(check, "AllClustersUsed")
            if self.left_from.get(name) in going and said:
                value = ("False", "NoClustersAvailable")
                out.append(self.write("apply-status", "AdmissionCheck", name, {
                    "apiVersion": KUEUE, "kind": "AdmissionCheck", "metadata": {"name": name}, "status": {
                        "conditions": [self.full(check, "Active", active, value)]}}))
        return out

    def full(self, check, type_, before, value):
        same = before is not None and before["status"] == value[0]
        return {"type": type_, "status": value[0], "reason": value[1],
                "message": GENERATED if value[1] == "Active" else value[1],
                "observedGeneration": meta(check).get("generation", 0),
                "lastTransitionTime": before["lastTransitionTime"] if same else at(self.now)}

    def next_active(self, check, before):
        reason, p = self.false_reason(check), self.parameter(check)
        if reason:
            settle = self.setting(p, "settle") if p else self.own_setting(check, "settle")
            said = before is not None and before["status"] == "False"
            if said or self.nothing.lasted(meta(check)["name"], settle, self.now):
                return ("False", reason)
        elif self.members(p):
            return ("True", "Active")
        return self.brief(before)

    def next_used(self, check, before, active):
        p = self.parameter(check)
        if p is None:
            return self.brief(before) if self.config(self.last_good.get(meta(check)["name"], "")) else None
        if not self.config(p):
            return None
        value = self.use(p)
        if before is None:
            return value if active else None
        held = self.used.lasted((meta(check)["name"], *value), self.setting(p, "settle"), self.now)
        return value if held else self.brief(before)

    # Workloads

    def workload_writes(self):
        ours = {meta(c)["name"]: c for c in self.checks()}
        self.judged = {w: seen for w, seen in self.judged.items() if self.get("Workload", w[1], w[0])}
        out = []
        for w in self.all("Workload"):
            states = [a for a in w.get("status", {}).get("admissionChecks", []) if a["name"] in ours]
            if not states or is_true(w, "Finished") or deleting(w):
                continue
            before = tuple(w["status"].get("nominatedClusterNames", ()))
            after = self.nomination(w, before, ours[min(a["name"] for a in states)])
            if all(a.get("state") == "Ready" for a in states) and before == after:
                continue
            status = {"admissionChecks": [{"name": a["name"], "state": "Ready"} for a in states]}
            if after:
                status["nominatedClusterNames"] = list(after)
            key = {"namespace": meta(w)["namespace"], "name": meta(w)["name"]}
            out.append(self.write("apply-status", "Workload", key["name"], {
                "apiVersion": KUEUE, "kind": "Workload", "metadata": key, "status": status}, key["namespace"]))
        return out

    def nomination(self, w, before, check):
        """What nominatedClusterNames should be; what they are where they are not ours to change."""
        p, status = self.parameter(check), w["status"]
        if (not self.nominates() or p is None or not is_true(w, "QuotaReserved")
                or status.get("clusterName") or is_true(w, "Evicted")):
            return before
        members, key = self.members(p), (meta(w)["namespace"], meta(w)["name"])
        window = self.setting(p, "moveWindow")
        away = {n for n in members if self.absent.lasted((p, n), window, self.now)}
        then, away_then = self.judged.get(key, (members, away))
        self.judged.setdefault(key, (members, away))
        self.judged[key] = (self.judged[key][0], self.judged[key][1] & away)
        if before and then == members and not away - away_then:
            return before
        self.judged[key] = (members, away)
        return tuple(n for n in members if n in self.chosen[p])

    def finalizer_writes(self):
        out = []
        for check in self.checks():
            finalizers = meta(check).get("finalizers", [])
            p = self.parameter(check) or self.last_good.get(meta(check)["name"], "")
            gone = not self.config(p) or self.users(p)  # one that others use is theirs
            if self.settings["adoptOcmAddon"] and deleting(check) and FINALIZER in finalizers and gone:
                out.append(self.write("patch", "AdmissionCheck", meta(check)["name"], {
                    "metadata": {"finalizers": [f for f in finalizers if f != FINALIZER]}}))
        return out

    # Writing

    def body(self, kind, name, owner, spec):
        return {"apiVersion": KUEUE, "kind": kind, "metadata": {
            "name": name, "labels": dict([MARK]), "annotations": {OWNER: owner}}, "spec": spec}

    def write(self, verb, kind, name, body=None, namespace=""):
        return {"time": self.now, "verb": verb, "kind": kind, "namespace": namespace, "name": name, "body": body}

    def accept(self, writes):
        """Writes come back as observations."""
        self.writes += writes
        self.answers.clear()
        for w in writes:
            key = (w["kind"], w["namespace"], w["name"])
            obj = self.objects.get(key)
            if w["verb"] == "delete":
                del self.objects[key]
            elif w["verb"] == "patch":
                meta(obj)["finalizers"] = w["body"]["metadata"]["finalizers"]
                if not meta(obj)["finalizers"]:
                    del self.objects[key]
            elif w["verb"] == "apply":
                obj = self.objects.setdefault(key, {"kind": w["kind"], "metadata": {"name": w["name"]}, "spec": {}})
                for part in ("labels", "annotations"):
                    meta(obj).setdefault(part, {}).update(meta(w["body"])[part])
                obj.update(apiVersion=KUEUE)
                obj["spec"].update(w["body"]["spec"])
            elif w["kind"] == "AdmissionCheck":
                conditions = obj.setdefault("status", {}).setdefault("conditions", [])
                conditions[:] = [c for c in conditions if c["type"] not in OUR_CONDITIONS]
                conditions += w["body"]["status"]["conditions"]
            else:
                self.accept_workload(obj["status"], w["body"]["status"])

    @staticmethod
    def accept_workload(status, applied):
        ready = {a["name"] for a in applied["admissionChecks"]}
        for entry in status["admissionChecks"]:
            if entry["name"] in ready:
                entry["state"] = "Ready"
        status.pop("nominatedClusterNames", None)
        if "nominatedClusterNames" in applied:
            status["nominatedClusterNames"] = applied["nominatedClusterNames"]
