"""Values of Dynamic Resource Allocation: quantities, versions, tolerations, node selectors, and selectors of devices.

A selector is CEL. The generator of worlds writes a small part of it, and only that part is read here: literals,
`device.driver`, `device.attributes[domain].id`, `device.capacity[domain].id`, `device.allowMultipleAllocations`,
comparisons, `! && ||`, `has`, `quantity`, `semver`, `compareTo isGreaterThan isLessThan`.
"""
import re
from fractions import Fraction

SUFFIXES = {"": 1, "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "k": 10**3, "M": 10**6,
            "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40,
            "Pi": 2**50, "Ei": 2**60}
QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)")


def quantity(value):
    """The exact value of a Kubernetes quantity, as text or as a JSON number."""
    found = QUANTITY.fullmatch(str(value))
    if not found:
        raise ValueError("no quantity: %r" % value)
    number, exponent, suffix = found.groups()
    return Fraction(number) * (Fraction(10) ** int(exponent[1:]) if exponent else SUFFIXES[suffix or ""])


def tolerates(toleration, taint):
    """Of a node's taint and of a device's alike; the operator is Equal where none is given."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    operator = toleration.get("operator") or "Equal"
    return operator == "Exists" or operator == "Equal" and toleration.get("value", "") == taint.get("value", "")


def tolerated(taints, tolerations):
    return all(any(tolerates(t, taint) for t in tolerations) for taint in taints
               if taint["effect"] in ("NoSchedule", "NoExecute"))


# ------------------------------------------------------------------------------------------ which nodes


def name_of(obj):
    return obj["metadata"]["name"]


def labels_of(obj):
    return obj["metadata"].get("labels", {})


def requirement_holds(requirement, values):
    """`values`: what the node has under the requirement's key; None where it has nothing."""
    operator, wanted = requirement["operator"], requirement.get("values", [])
    if operator == "In":
        return values is not None and values in wanted
    if operator == "NotIn":
        return values is None or values not in wanted
    if operator == "Exists":
        return values is not None
    if operator == "DoesNotExist":
        return values is None
    if operator in ("Gt", "Lt") and values is not None and len(wanted) == 1:
        try:
            return int(values) > int(wanted[0]) if operator == "Gt" else int(values) < int(wanted[0])
        except ValueError:
            return False
    return False


def term_matches(term, node):
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    return (all(requirement_holds(e, labels_of(node).get(e["key"])) for e in expressions)
            and all(f["key"] == "metadata.name" and requirement_holds(f, name_of(node)) for f in fields))


def node_matches(selector, node):
    return any(term_matches(term, node) for term in selector["nodeSelectorTerms"])


# ------------------------------------------------------------------------------------------ versions


class Version:
    """A semver 2 version, by precedence: what is after the `+` does not count."""

    def __init__(self, text):
        found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?", text)
        if not found:
            raise Failed("no version: %s" % text)
        self.numbers = tuple(map(int, found.groups()[:3]))
        self.before = found.group(4)

    def order(self):
        if self.before is None:
            return (*self.numbers, 1, [])
        # A number is below a text, and numbers are compared as such.
        parts = [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in self.before.split(".")]
        return (*self.numbers, 0, parts)

    def __eq__(self, other):
        return self.order() == other.order()

    def __lt__(self, other):
        return self.order() < other.order()


class Failed(Exception):
    """A selector ended in an error."""


# ------------------------------------------------------------------------------------------ selectors


TOKENS = re.compile(r"""\s*(?:(?P<text>"[^"\\]*"|'[^'\\]*')|(?P<number>\d+)|(?P<name>[A-Za-z_]\w*)"""
                    r"""|(?P<sign>&&|\|\||==|!=|<=|>=|[-!<>()\[\].,]))""")


FUNCTIONS, METHODS = ("has", "quantity", "semver"), ("compareTo", "isGreaterThan", "isLessThan")


class Unsupported(Exception):
    """The text is none that is read here."""


def tokens_of(text):
    found, at = [], 0
    text = text.strip()
    while at < len(text):
        match = TOKENS.match(text, at)
        if not match:
            raise Unsupported(text[at:])
        at = match.end()
        found.append((match.lastgroup, match.group(match.lastgroup)))
    return found


class Reader:
    """Reads an expression into nested tuples (operation, operands...)."""

    def __init__(self, text):
        self.tokens = tokens_of(text)

    def take(self, *signs):
        """The next token's text if it is one of `signs`."""
        if self.tokens and self.tokens[0][0] in ("sign", "name") and self.tokens[0][1] in signs:
            return self.tokens.pop(0)[1]
        return None

    def need(self, sign):
        if not self.take(sign):
            raise Unsupported("%s is missing" % sign)

    def whole(self):
        tree = self.disjunction()
        if self.tokens:
            raise Unsupported("more text")
        return tree

    def disjunction(self):
        tree = self.conjunction()
        while self.take("||"):
            tree = ("||", tree, self.conjunction())
        return tree

    def conjunction(self):
        tree = self.comparison()
        while self.take("&&"):
            tree = ("&&", tree, self.comparison())
        return tree

    def comparison(self):
        tree = self.unary()
        operator = self.take("==", "!=", "<", "<=", ">", ">=")
        return (operator, tree, self.unary()) if operator else tree

    def unary(self):
        if self.take("!"):
            return ("!", self.unary())
        if self.take("-"):
            kind, text = self.tokens.pop(0)
            if kind != "number":
                raise Unsupported("- of no number")
            return ("value", -int(text))
        return self.postfix()

    def postfix(self):
        tree = self.primary()
        while True:
            if self.take("["):
                tree = ("at", tree, self.disjunction())
                self.need("]")
            elif self.take("."):
                name = self.tokens.pop(0)[1]
                tree = self.called(name, METHODS, tree) if self.take("(") else ("at", tree, ("value", name))
            else:
                return tree

    def called(self, name, known, *operands):
        if name not in known:
            raise Unsupported("function " + name)
        return ("call", name, *operands, *self.arguments())

    def arguments(self):
        found = []
        while not self.take(")"):
            found.append(self.disjunction())
            self.take(",")
        return found

    def primary(self):
        if self.take("("):
            tree = self.disjunction()
            self.need(")")
            return tree
        if not self.tokens:
            raise Unsupported("the text ends too early")
        kind, text = self.tokens.pop(0)
        if kind == "text":
            return ("value", text[1:-1])
        if kind == "number":
            return ("value", int(text))
        if text in ("true", "false"):
            return ("value", text == "true")
        if text == "device":
            return ("device",)
        if kind == "name" and self.take("("):
            return self.called(text, FUNCTIONS)
        raise Unsupported(text)


def attribute_value(attribute):
    """An attribute as a value of CEL; None where its type is none of the four."""
    if "int" in attribute:
        return attribute["int"]
    if "bool" in attribute:
        return attribute["bool"]
    if "string" in attribute:
        return attribute["string"]
    return Version(attribute["version"]) if "version" in attribute else None


def by_domain(driver, named):
    """{domain: {id: value}} of {name: value}; an unqualified name belongs to the driver's domain."""
    found = {}
    for name, value in named.items():
        domain, _, identifier = name.rpartition("/")
        found.setdefault(domain or driver, {})[identifier] = value
    return found


def device_value(driver, device):
    attributes = {name: attribute_value(a) for name, a in device.get("attributes", {}).items()}
    return {"driver": driver, "allowMultipleAllocations": bool(device.get("allowMultipleAllocations")),
            "attributes": by_domain(driver, {n: v for n, v in attributes.items() if v is not None}),
            "capacity": by_domain(driver, {n: quantity(c["value"]) for n, c in device.get("capacity", {}).items()})}


def compare(operator, a, b):
    if operator in ("==", "!="):
        return (type(a) is type(b) and a == b) == (operator == "==")
    if type(a) is not type(b) or isinstance(a, (bool, dict)) or isinstance(a, (Fraction, Version)):
        raise Failed("%s %s %s" % (a, operator, b))  # quantities and versions have compareTo
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


def call(name, values):
    if name == "quantity" and len(values) == 1 and isinstance(values[0], str):
        try:
            return quantity(values[0])
        except ValueError as problem:
            raise Failed(str(problem)) from None
    if name == "semver" and len(values) == 1 and isinstance(values[0], str):
        return Version(values[0])
    if name in METHODS and len(values) == 2:
        a, b = values
        if type(a) is not type(b) or not isinstance(a, (Fraction, Version)):
            raise Failed("%s of what has no order" % name)
        order = -1 if a < b else 0 if a == b else 1
        return {"compareTo": order, "isGreaterThan": order > 0, "isLessThan": order < 0}[name]
    raise Failed("no %s of these" % name)


def entry(container, key, tree):
    if not isinstance(container, dict):
        raise Failed("no map")
    if key in container:
        return container[key]
    # Every domain exists; one that the device does not have is empty.
    if tree[0] == "at" and tree[1] == ("device",) and tree[2] in (("value", "attributes"), ("value", "capacity")):
        return {}
    raise Failed("no such key: %s" % key)


def evaluate(tree, device):
    operation = tree[0]
    if operation == "value":
        return tree[1]
    if operation == "device":
        return device
    if operation == "at":
        return entry(evaluate(tree[1], device), evaluate(tree[2], device), tree[1])
    if operation == "!":
        return not boolean(evaluate(tree[1], device))
    if operation in ("&&", "||"):
        return absorbed(operation == "||", [tree[1], tree[2]], device)
    if operation == "call" and tree[1] == "has":
        container, key = evaluate(tree[2][1], device), evaluate(tree[2][2], device)
        return key in container
    if operation == "call":
        return call(tree[1], [evaluate(operand, device) for operand in tree[2:]])
    return compare(operation, evaluate(tree[1], device), evaluate(tree[2], device))


def boolean(value):
    if not isinstance(value, bool):
        raise Failed("no bool")
    return value


def absorbed(decides, operands, device):
    """`||` is true where one side is (decides=True), `&&` false where one side is, whatever the other one is."""
    failed, values = None, []
    for operand in operands:
        try:
            values.append(boolean(evaluate(operand, device)))
        except Failed as problem:
            failed = problem
    if decides in values:
        return decides
    if failed:
        raise failed
    return not decides


_trees = {}


def parsed(text):
    if text not in _trees:
        _trees[text] = Reader(text).whole()
    return _trees[text]


def supported(text):
    try:
        parsed(text)
        return True
    except Unsupported:
        return False


def selected(text, driver, device):
    """Whether the expression is true of the device of a slice; raises Failed."""
    if not supported(text):
        return False
    return boolean(evaluate(parsed(text), device_value(driver, device)))
