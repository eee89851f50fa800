"""Random selectors in CEL, and random devices to ask: cases for tests/conformance/test_cel.py.

An expression is made of what Fairlead understands, so that neither side may refuse it for its syntax. Types mostly fit:
a checker refuses the rest before anything is evaluated. What the two sides are known to say otherwise is not made here,
and each such place says why.
"""
import random

DOMAINS = ("gpu.example.com", "dra.example.com", "a", "none")
IDS = ("model", "index", "ready", "version", "Mem", "slots", "_x1", "package")
STRINGS = ("", "a", "A100", "H100-SXM5-80GB", "gpu 7", "abc", "äöü", "日本", "x.y", "1", "-17", "1Gi", "1.2.3",
           "tab\tend", "quote'\"", "back\\slash", "line\nfeed", "\u00ad\U0001f600", "true", "9223372036854775807")
INTS = (0, 1, -1, 2, 3, 7, 80, 4096, -4096, 9223372036854775807, -9223372036854775808)
NUMBERS = ("+5", "007", "1_0", " 1", "-", "--1", "0x1", "1e3")
# apimachinery also reads texts without a digit as zero: "+", ".", "m". They are malformed here.
QUANTITIES = ("0", "1", "1000m", "1k", "1Ki", "1Gi", "1.5Gi", "80Gi", "100Ti", "0.5", "1e3", "1E", "1.0", "10", "-1",
              "+5", "123456789012345678", "12345678901234567890", "1n", "0.0000000001", "8Ei", "100m", ".5", "5.", "00",
              "0.0", "2Ei", "7Pi", "1e-3", "1e+2", "999999999999999", "15Ti", "9223372036854775807",
              "9223372036854775808")
NO_QUANTITIES = ("", "abc", "1ki", "1 Gi", "1e", "Gi1", "1,5", "0x10", "--1", "1Gi ", "1.2.3")
VERSIONS = ("0.0.0", "1.0.0", "1.2.3", "1.10.0", "1.2.3-rc.1", "1.2.3-rc.2", "1.2.3-rc", "1.2.3-1", "1.2.3+build.7",
            "1.2.3-alpha.beta", "1.0.0-0", "1.0.0-x.7.z.92", "535.104.5", "1.2.3--", "1.2.3+001", "0.0.0-a-b",
            "18446744073709551615.0.0", "1.0.0-18446744073709551615")
NO_VERSIONS = ("", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3+", "1.2.3-01", "1.2.3-a..b", "1.2.03", "a.b.c",
               "1.2.3.4",
               "18446744073709551616.0.0", "1.0.0-18446744073709551616", " 1.2.3", "1.2.3-ä", "v1", "v01.002.0003-rc",
               "1-rc", "1.2+b", "v", "1.2.00", "1.2.0-00", "1.x", "-1.2.3", "1..3")
PATTERNS = ("", "a", "^A", "0$", "^[A-Z][0-9]+$", "a|b", "(?i)h100", "\\d{3}", "x?y*", ".", "^.{3}$", "[äö]", "\\.",
            "^$", "SXM[45]", "(a)(b)", "\\w+\\s\\w+", "[^a]", "a{0,2}", "\\bgpu\\b", "(?s).", "\\x41", "\\p{L}+",
            "\\Qa.b\\E")
# As literals a checker refuses them, so they come from attributes and lists.
NO_PATTERNS = ("(", "[", "a**", "\\", "a{2,1}", "(?P<n", "*", "a{1001}", "[z-a]", "\\8")


def device(chosen):
    """A device with some of the names published, each in one spelling: of two the library takes either, as it comes."""
    attributes, capacity = {}, {}
    driver = chosen.choice(("gpu.example.com", "dra.example.com"))
    for domain in DOMAINS[:3]:
        for name in IDS:
            spelled = name if domain == driver and chosen.random() < 0.5 else f"{domain}/{name}"
            if chosen.random() < 0.35:
                attributes[spelled] = attribute(chosen)
            if chosen.random() < 0.25:
                capacity[spelled] = chosen.choice(QUANTITIES)
    return {"driver": driver, "attributes": attributes, "capacity": capacity,
            "allowMultipleAllocations": chosen.random() < 0.5}


def attribute(chosen):
    kind = chosen.choice(("int", "bool", "string", "string", "version"))
    if kind == "string":
        pool = chosen.choice((STRINGS, STRINGS, PATTERNS, NO_PATTERNS, QUANTITIES, VERSIONS))
    else:
        pool = {"int": INTS, "bool": (True, False), "version": VERSIONS}[kind]
    return {kind: chosen.choice(pool)}


def value_of(described, domain, name):
    """The type of an attribute and its value; None if it is not published."""
    spelled = described["attributes"].get(f"{domain}/{name}")
    if spelled is None and domain == described["driver"]:
        spelled = described["attributes"].get(name)
    return next(iter(spelled.items())) if spelled else None


class Expressions:
    """Makes expressions of each type. `left` bounds their size."""

    def __init__(self, seed):
        self.chosen = random.Random(seed)
        self.device = device(self.chosen)
        self.variables = []  # (name, type)
        self.left = self.chosen.choice((1, 2, 3, 5, 8, 13))

    def case(self):
        return {"expression": self.boolean(), **self.device}

    # ---- choosing ----

    def one(self, *makers):
        """One of the makers, the first (a leaf) when the expression is large enough."""
        self.left -= 1
        return makers[0]() if self.left < 0 else self.chosen.choice(makers)()

    def named(self, kind, else_):
        names = [name for name, type_ in self.variables if type_ == kind]
        # An inner variable hides an outer one of its name.
        names = [name for name in names if dict(self.variables)[name] == kind]
        return self.chosen.choice(names) if names and self.chosen.random() < 0.7 else else_()

    def grouped(self, text):
        return f"({text})" if self.chosen.random() < 0.6 else text

    def blank(self):
        return self.chosen.choice((" ", " ", " ", "", "  ", "\n", "\t")) if self.chosen.random() < 0.2 else " "

    # ---- leaves ----

    def quoted(self, text):
        if "\\" in text and self.chosen.random() < 0.5 and "\n" not in text and '"' not in text:
            return f'{self.chosen.choice("rR")}"{text}"'
        quote = self.chosen.choice("'\"")
        return quote + "".join(self.escaped(one, quote) for one in text) + quote

    def escaped(self, one, quote):
        plain = {"\n": "\\n", "\t": "\\t", "\\": "\\\\", quote: "\\" + quote}.get(one, one)
        if self.chosen.random() < 0.85:
            return plain
        forms = [f"\\U{ord(one):08x}"]
        forms += [f"\\u{ord(one):04X}"] if ord(one) < 0x10000 else []
        forms += [f"\\x{ord(one):02x}", f"\\{ord(one):03o}"] if ord(one) < 0x100 else []
        return self.chosen.choice(forms)

    def integer_literal(self):
        number = self.chosen.choice(INTS)
        if self.chosen.random() < 0.15:
            return f"{'-' if number < 0 else ''}0x{abs(number):X}"
        return str(number)

    def domain(self):
        return self.quoted(self.chosen.choice(DOMAINS))

    def path(self, field="attributes"):
        domain = self.domain()
        name = self.chosen.choice(IDS)
        access = f".{name}" if self.chosen.random() < 0.8 else f"[{self.quoted(name)}]"
        return f"device.{field}[{domain}]{access}"

    def attribute(self, *kinds):
        """A path whose value mostly has one of these types. It is a version only where one is wanted: compared with
        another type it is an error there (or worse: in a list it is equal), and not equal here."""
        for _ in range(40):
            domain, name = self.chosen.choice(DOMAINS), self.chosen.choice(IDS)
            found = value_of(self.device, domain, name)
            kind = found[0] if found else ""
            if kind in kinds or ({kind, *kinds}.isdisjoint({"", "version"}) and self.chosen.random() < 0.02):
                access = f".{name}" if self.chosen.random() < 0.8 else f"[{self.quoted(name)}]"
                return f"device.attributes[{self.quoted(domain)}]{access}"
        return self.missing()

    def missing(self):
        return "device.attributes['none']." + self.chosen.choice(IDS)

    # ---- bool ----

    def boolean(self):
        return self.one(
            lambda: self.named("bool", lambda: self.chosen.choice(("true", "false"))),
            lambda: self.attribute("bool"), lambda: self.attribute("bool", "string", "int"), self.missing,
            self.comparison, self.comparison, self.logic, self.logic, self.logic, self.presence,
            lambda: "!" * self.chosen.choice((1, 1, 1, 2, 3)) + self.tight(self.boolean),
            lambda: self.choice(self.boolean), self.membership, self.membership, self.text_question,
            self.text_question, self.amount_question, self.amount_question, self.quantified, self.quantified,
            lambda: self.bound(self.boolean), lambda: "device.allowMultipleAllocations",
            lambda: f"isQuantity({self.text_of((QUANTITIES, NO_QUANTITIES))})",
            lambda: f"isSemver({self.text_of((VERSIONS, NO_VERSIONS))}{self.normalize()})",
            lambda: f"{self.tight(self.quantity)}.isInteger()")

    def tight(self, maker):
        """An operand that a method or `!` may follow."""
        text = maker()
        return text if text.replace("_", "").isalnum() or text.startswith(("quantity(", "semver(")) and \
            text.count("(") == 1 else f"({text})"

    def logic(self):
        operator = self.chosen.choice(("&&", "||"))
        parts = [self.grouped(self.boolean()) for _ in range(self.chosen.choice((2, 2, 3)))]
        return f"{self.blank()}{operator}{self.blank()}".join(parts)

    def comparison(self):
        kind = self.chosen.choice(("int", "int", "text", "text", "bool", "any", "quantity", "version", "list"))
        equality = kind in ("any", "quantity", "version", "list") or self.chosen.random() < 0.5
        operator = self.chosen.choice(("==", "!=") if equality else ("<", "<=", ">", ">="))
        maker = {"int": self.integer, "text": self.text, "bool": self.boolean, "quantity": self.quantity,
                 "version": self.version, "list": self.list, "any": self.anything}[kind]
        return f"{self.grouped(maker())}{self.blank()}{operator}{self.blank()}{self.grouped(maker())}"

    def anything(self):
        """What may be compared with any other thing. No version: compared with another type it is an error there."""
        return self.one(lambda: self.attribute("int", "bool", "string"), self.integer, self.text)

    def presence(self):
        field = self.chosen.choice(("attributes", "attributes", "capacity"))
        domain, name = self.domain(), self.chosen.choice(IDS)
        return self.chosen.choice((
            f"has(device.{field}[{domain}].{name})", f"has(device.{field}[{domain}].{name})",
            f"has((device.{field}[{domain}].{name}))", f"has(device.{field}.{name})", "has(device.driver)",
            f"has({self.attribute('string')}.{name})"))

    def membership(self):
        # In an empty list the library finds nothing without asking what: an error is none there.
        return self.chosen.choice((
            lambda: f"{self.grouped(self.integer())} in {self.literal_list(self.integer, 1)}",
            lambda: f"{self.grouped(self.text())} in {self.literal_list(self.text, 1)}",
            lambda: f"{self.attribute('string', 'int')} in {self.literal_list(self.text, 1)}",
            lambda: f"{self.quoted(self.chosen.choice(IDS))} in device.attributes[{self.domain()}]",
            lambda: f"{self.domain()} in device.{self.chosen.choice(('attributes', 'capacity'))}",
            lambda: f"{self.grouped(self.list())} in [{self.list()}, {self.list()}]"))()

    def text_question(self):
        if self.chosen.random() < 0.05:
            return f"{self.attribute('version')}.startsWith({self.text()})"
        asked = self.chosen.choice(("startsWith", "endsWith", "contains", "matches"))
        if asked != "matches":
            return f"{self.tight(self.text)}.{asked}({self.text()})"
        if self.chosen.random() < 0.7:
            return f"{self.tight(self.text)}.matches({self.quoted(self.chosen.choice(PATTERNS))})"
        patterns = [self.quoted(self.chosen.choice(PATTERNS + NO_PATTERNS)) for _ in range(3)]
        return f"[{', '.join(patterns)}].exists(p, {self.tight(self.text)}.matches(p))"

    def amount_question(self):
        maker = self.chosen.choice((self.quantity, self.quantity, self.version))
        asked = self.chosen.choice(("isGreaterThan", "isLessThan", "compareTo"))
        text = f"{self.tight(maker)}.{asked}({maker()})"
        return text if asked != "compareTo" else f"{text} {self.chosen.choice(('==', '<', '>='))} {self.integer()}"

    def choice(self, maker):
        return f"{self.grouped(self.logic())} ? {self.grouped(maker())} : {self.grouped(maker())}"

    # ---- macros ----

    def quantified(self):
        kind, maker = self.chosen.choice((("int", self.integer), ("text", self.text), ("list", self.list)))
        name = self.chosen.choice(("x", "y", "device1"))
        items = self.literal_list(maker)
        self.variables.append((name, kind))
        condition = self.boolean()
        self.variables.pop()
        return f"{items}.{self.chosen.choice(('exists', 'all'))}({name}, {condition})"

    def bound(self, maker):
        if self.chosen.random() < 0.25:
            domain, name = self.chosen.choice(DOMAINS), self.chosen.choice(IDS)
            if (value_of(self.device, domain, name) or ("",))[0] == "version":
                domain = "none"
            return f"cel.bind(dra, device.attributes[{self.quoted(domain)}], dra.{name})"
        kind, value = self.chosen.choice((("int", self.integer), ("text", self.text), ("bool", self.boolean)))
        name, text = self.chosen.choice(("x", "y")), value()
        self.variables.append((name, kind))
        inner = maker()
        self.variables.pop()
        return f"cel.bind({name}, {text}, {inner})"

    # ---- the other types ----

    def integer(self):
        return self.one(
            lambda: self.named("int", self.integer_literal), self.integer_literal, self.integer_literal,
            lambda: self.attribute("int"), lambda: f"size({self.text()})", lambda: f"size({self.list()})",
            lambda: f"{self.tight(self.text)}.size()", lambda: f"int({self.text_of((STRINGS, STRINGS, NUMBERS))})",
            lambda: f"int({self.integer()})", lambda: f"{self.tight(self.quantity)}.asInteger()",
            lambda: f"{self.literal_list(self.integer)}[{self.index()}]", lambda: self.choice(self.integer),
            lambda: f"size(device.{self.chosen.choice(('attributes', 'capacity'))})",
            lambda: f"size(device.attributes[{self.domain()}])",
            lambda: self.bound(self.integer))

    def index(self):
        return self.integer() if self.chosen.random() < 0.2 else str(self.chosen.choice((0, 0, 1, 2, -1)))

    def text(self):
        literal = lambda: self.quoted(self.chosen.choice(STRINGS))
        return self.one(
            lambda: self.named("text", literal), literal, literal, lambda: self.attribute("string"),
            lambda: self.attribute("string"), lambda: "device.driver",
            lambda: f"string({self.chosen.choice((self.integer, self.boolean, self.text))()})",
            lambda: f"{self.tight(self.text)}.{self.chosen.choice(('lowerAscii', 'upperAscii'))}()",
            lambda: f"{self.tight(self.text)}.substring({self.index()})",
            lambda: f"{self.tight(self.text)}.substring({self.index()}, {self.chosen.choice((0, 1, 2, 3, 14))})",
            lambda: f"{self.literal_list(self.text)}[{self.index()}]", lambda: self.choice(self.text))

    def text_of(self, pools):
        return self.quoted(self.chosen.choice(self.chosen.choice(pools))) if self.chosen.random() < 0.8 else self.text()

    def normalize(self):
        return self.chosen.choice(("", "", ", true", ", false", f", {self.attribute('bool')}"))

    def quantity(self):
        return self.one(lambda: f"quantity({self.text_of((QUANTITIES, QUANTITIES, QUANTITIES, NO_QUANTITIES))})",
                        lambda: self.path("capacity"), lambda: self.path("capacity"))

    def version(self):
        pools = (VERSIONS, VERSIONS, VERSIONS, NO_VERSIONS)
        return self.one(lambda: f"semver({self.text_of(pools)}{self.normalize()})",
                        lambda: self.attribute("version"), lambda: self.attribute("version"))

    def list(self):
        return self.one(lambda: self.named("list", lambda: self.literal_list(self.integer)),
                        lambda: self.literal_list(self.text), lambda: self.literal_list(self.integer),
                        lambda: self.choice(lambda: self.literal_list(self.integer)))

    def literal_list(self, maker, least=0):
        items = [maker() for _ in range(max(least, self.chosen.choice((0, 1, 1, 2, 3))))]
        return f"[{', '.join(items)}{',' if items and self.chosen.random() < 0.1 else ''}]"
