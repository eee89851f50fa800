"""The rounds of the pool: free, overflow, decide. Nothing is kept between two rounds but placements."""
import pool_values as v


def times(n, unit):
    return tuple(n * u for u in unit)


def maximum(*amounts):
    return tuple(max(x) for x in zip(*amounts))


def plus(a, b):
    return tuple(x + y for x, y in zip(a, b))


def minus(a, b):
    return tuple(x - y for x, y in zip(a, b))


def within(a, b):
    return all(x <= y for x, y in zip(a, b))


class Rounds:
    """`hub` answers what is true now (pool.Hub); the methods change placements."""

    def __init__(self, hub, now):
        self.hub, self.now = hub, now

    def run(self):
        for _ in range(1000):
            before = self.picture()
            self.hub.track_unknown(self.now)
            self.free()
            self.overflow()
            self.decide_all()
            if self.picture() == before:
                self.hub.track_unknown(self.now)
                return
        raise RuntimeError("rounds without an end")

    def picture(self):
        return [(s.key(), dict(s.n), s.unit, s.edit) for s in self.hub.taken_up()]

    # 1

    def free(self):
        for s in self.hub.taken_up():
            if not s.active():
                continue
            self.unit_without_slices(s)
            n, _, fresh = self.hub.wish(s)
            if n == 0:
                s.edit = None
                s.n = dict.fromkeys(s.n, 0)
            elif s.total() > n and s.edit is None and fresh is None:
                s.n = self.reduce(s, s.n, n, s.n, s.unit, self.hub.state)
            s.n = {i: k for i, k in s.n.items() if k or self.hub.pods_there(s, i)}
            self.unit_without_slices(s)

    def unit_without_slices(self, s):
        if s.total() == 0:
            s.unit = s.good  # the annotation, or the last one that could be read

    def reduce(self, s, n, total, standing, unit, state):
        """`n` with one slice after the other taken, until it sums to `total`; unused counts of `standing`."""
        n, standing = dict(n), dict(standing)
        while sum(n.values()) > total:
            def order(i):
                unused = standing[i] - self.hub.needed(s, i, unit)
                rank = {"gone": 0, "away": 1, "closed": 1, "open": 2}[state(i)]
                return unused > 0, -rank, unused, i
            first = max((i for i in n if n[i] > 0), key=order)
            n[first] -= 1
            standing[first] -= 1
        return n

    # 2

    def overflow(self):
        for i in sorted(self.hub.ids()):
            member = self.hub.ids()[i]
            if not member.capacity.known or member.lost_at is not None or member.drain:
                continue
            shares = [s for s in self.hub.taken_up() if s.active() and s.n.get(i)]
            for s in sorted(shares, key=lambda s: (s.grown[i], s.key()), reverse=True):
                if self.fits(i):
                    break
                self.give_way(s, i)

    def fits(self, i):
        return within(self.hub.held(i), self.hub.pool(i))

    def give_way(self, s, i):
        unused = s.n[i] - self.hub.needed(s, i, s.unit)
        free = {j: f for j, f in self.frees(s, s.n, s.unit).items() if j != i}
        most = min(unused, sum(free.values()))
        moved = 0
        while moved < most and not self.fits(i):
            s.n[i] -= 1
            moved += 1
        if moved:
            self.grow(s, self.place(moved, s.n, free, s.policy(self.hub.config["policy"])))

    def frees(self, s, n, unit):
        return {i: max(0, self.hub.room(s, i, unit) - n.get(i, 0)) for i in self.hub.open_ids()}

    def place(self, k, n, free, policy):
        """`n` with k more slices."""
        n, free = dict(n), dict(free)
        while k > 0:
            at = [i for i in sorted(free) if free[i] >= 1]
            if policy == "spread":
                chosen, m = min(at, key=lambda i: (n.get(i, 0), -free[i], i)), 1
            else:
                at = [i for i in at if n.get(i, 0) > 0] or at
                whole = [i for i in at if free[i] >= k]
                chosen = min(whole, key=lambda i: (free[i], i)) if whole else min(at, key=lambda i: (-free[i], i))
                m = min(k, free[chosen])
            n[chosen] = n.get(chosen, 0) + m
            free[chosen] -= m
            k -= m
        return n

    def grow(self, s, n):
        for i, k in n.items():
            if k > s.n.get(i, 0):
                s.grown[i] = self.now
        s.n = n

    # 3

    def wants(self, s):
        n, _, fresh = self.hub.wish(s)
        return n > 0 and (s.edit is not None or fresh is not None or s.total() < n or self.on_gone(s))

    def on_gone(self, s):
        return any(k and self.hub.state(i) == "gone" for i, k in s.n.items())

    def decide_all(self):
        wanting = []
        for s in self.hub.taken_up():
            if s.active():
                if not self.wants(s):
                    s.wanting = None
                    continue
                s.wanting = self.now if s.wanting is None else s.wanting
                wanting.append(s)
        for s in sorted(wanting, key=lambda s: (not self.on_gone(s), s.wanting, s.key())):
            self.decide(s)

    def decide(self, s):
        n, _, fresh = self.hub.wish(s)
        self.cleared = s.edit is not None and not s.edit
        s.refused = None
        if fresh is not None:
            if self.renew(s, n, fresh):
                s.edit = None
                return
            n = self.hub.wish_of(s, s.unit)[0]
        if n > max(s.total(), self.hub.allowed(s, s.unit)):
            n = max(s.total(), self.hub.allowed(s, s.unit)) if self.hub.config["partial"] else s.total()
        placed = self.attempt(s, n, s.n, s.unit, self.hub.config["partial"], False)
        if placed is None:
            placed = self.attempt(s, s.total(), s.n, s.unit, False, False)
        self.grow(s, {**dict.fromkeys(s.n, 0), **placed})
        s.edit = None

    def renew(self, s, n, unit):
        """The new slice, whole or not at all."""
        s.refused = self.hub.passes_limit(s, n, unit) or "DoesNotFit"
        if s.refused != "DoesNotFit":
            return False
        old = {i: max(-(-k * a // b) for a, b in zip(s.unit, unit)) for i, k in s.n.items()}
        placed = self.attempt(s, n, old, unit, False, True)
        if placed is None:
            return False
        s.n, s.unit, s.refused = {**dict.fromkeys(s.n, 0), **placed}, unit, None
        s.grown = dict.fromkeys(s.n, self.now)
        return True

    def state(self, i):
        """Of this decision: a cleared placement leaves clusters that are away."""
        found = self.hub.state(i)
        return "gone" if found == "away" and self.cleared else found

    def attempt(self, s, n, old, unit, partial, renewed):
        """The placement, None where it does not fit."""
        room = {i: self.hub.room(s, i, unit) for i in self.hub.open_ids()}
        mandatory, wanted = {}, n
        for i, k in sorted((s.edit or {}).items()):
            if self.state(i) == "gone":
                continue
            bound = old.get(i, 0)
            if i in room:
                bound = room[i] if renewed else max(room[i], bound)
            mandatory[i] = min(k, wanted, bound)
            wanted -= mandatory[i]
        left = {}
        for i, k in old.items():
            left[i] = max(0, k - mandatory.get(i, 0))
            if renewed and i in room:
                left[i] = min(left[i], max(0, room[i] - mandatory.get(i, 0)))
        standing = {i: k + mandatory.get(i, 0) for i, k in left.items()}
        left = self.reduce(s, left, wanted, standing, unit, self.state) if sum(left.values()) > wanted else left
        moves = {i: k for i, k in left.items() if k and self.state(i) == "gone"}
        placed = {i: k for i, k in mandatory.items() if k}
        for i, k in left.items():
            if i not in moves:
                placed[i] = placed.get(i, 0) + k
        return self.place_rest(s, placed, moves, wanted - sum(left.values()), room, partial)

    def place_rest(self, s, placed, moves, new, room, partial):
        free = {i: max(0, r - placed.get(i, 0)) for i, r in room.items()}
        moving, total = sum(moves.values()), sum(free.values())
        if moving + new <= total:
            count, staying = moving + new, 0
        elif new == 0 or partial:
            count = total
            staying = moving - min(moving, total)
        else:
            return None
        placed = self.place(count, placed, free, s.policy(self.hub.config["policy"]))
        for i in sorted(moves):
            stays = min(staying, moves[i])
            placed[i] = placed.get(i, 0) + stays
            staying -= stays
        return placed
