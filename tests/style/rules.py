"""The rules, each a function from a file to (line, message) pairs. Layering is in layering.py."""

import ast
import re

import classes
from cpp_source import Source
from layering import CORE, STATE_IS_PARTS, check_include, folder_of, takes_all_of_state

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
SCENARIO_COLUMNS_MAX = 100
COLUMNS_MAX = {".h": 100, ".cpp": 100, ".py": 120, "": 120}

# What the core may not mention, and why. Matched in code, not in comments and strings.
IMPURE = [
    (r"#\s*include\s*<(chrono|ctime|time\.h|sys/time\.h)>|\b(system|steady|high_resolution)_clock\b|\bclock_gettime\b",
     "a clock: time is the record's log_time"),
    (r"\bClock\b", "a clock: time is the record's log_time"),
    (r"#\s*include\s*<random>|\b(s?rand|random_device|mt19937\w*)\b\s*[({]", "randomness"),
    (r"\b(secure_)?getenv\b", "the environment"),
    (r"\b(float|double)\b|\blong\s+double\b", "floating point: sums are integers"),
    (r"#\s*include\s*<(thread|mutex|shared_mutex|atomic|future|condition_variable|semaphore|stop_token)>"
     r"|\bstd::(jthread|thread|mutex|atomic|async)\b", "threads: one thread owns State"),
    (r"#\s*include\s*<(fstream|iostream|filesystem|cstdio|stdio\.h|unistd\.h|fcntl\.h|sys/\w+\.h)>",
     "files and streams"),
    (r"#\s*include\s*<(locale|clocale|regex)>|\bstd::(locale|regex)\b|\bsetlocale\b", "the locale"),
    (r"\bspdlog\b", "logging: its account is the event and the reason in intents"),
]

RESULT = "engine/base/result.h"

WORDS_OF_NO_MEANING = ("utils", "util", "common", "manager", "helper", "helpers", "misc")
_NAMED = re.compile(r"\b(?:class|struct|namespace)\s+(\w*?(?:[Uu]tils?|[Cc]ommon|[Mm]anager|[Hh]elpers?))\b")

# Split, so that this file does not break its own rule.
_MARKERS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
_PLACES = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)/"
                     r"|\b(?:pypi\." r"org|files\.pythonhosted\." r"org|proxy\.golang\." r"org|sum\.golang\." r"org"
                     r"|deb\.debian\." r"org|registry\.npmjs\." r"org|crates\." r"io|repo1?\.maven)\b")


def suffix_of(path):
    name = path.rsplit("/", 1)[-1]
    return "." + name.rsplit(".", 1)[1] if "." in name[1:] else ""


def _is_test_data(path):
    return path.startswith("tests/") and path.endswith(".txt") and not path.endswith("CMakeLists.txt")


def any_text(path, text):
    """Rules for every file that a person reads."""
    for number, line in enumerate(text.split("\n"), 1):
        if _MARKERS.search(line):
            yield number, "unfinished work is an issue, not a comment"
        if _PLACES.search(line):
            yield number, "a path or host of one particular machine"
        if line.endswith((" ", "\t")) and not path.endswith(".md") and not _is_test_data(path):
            yield number, "white space at the end of a line"
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "no newline at the end of the file"
    for part in re.split(r"[/.]", path.replace("cert-manager", "")):  # the name of a product
        if part in WORDS_OF_NO_MEANING or set(re.split(r"[_-]", part)) & set(WORDS_OF_NO_MEANING):
            yield 1, f"the name {part} says nothing: name what it does"


def size(path, text):
    """A file is a sitting, a line a line."""
    suffix = suffix_of(path)
    if suffix not in COLUMNS_MAX or (suffix == "" and not text.startswith("#!")):
        return
    source = Source(path, text) if suffix in (".h", ".cpp") else None
    columns = COLUMNS_MAX[suffix]
    lines = text.split("\n")
    if len(lines) - 1 > FILE_LINES_MAX:
        yield len(lines) - 1, f"a file has at most {FILE_LINES_MAX} lines, this one has {len(lines) - 1}"
    for number, line in enumerate(lines, 1):
        if len(line) > columns and not (source and _unbreakable(path, source.literal_at(number, columns))):
            yield number, f"a line has at most {columns} columns, this one has {len(line)}"


def scenario(path, text):
    """A scenario reads as a document, and its diff side by side."""
    if not path.startswith("tests/scenarios/") or not _is_test_data(path):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > SCENARIO_COLUMNS_MAX:
            yield number, (f"a scenario's line has at most {SCENARIO_COLUMNS_MAX} columns, this one has {len(line)}: "
                           "see tests/scenarios/README.md")


def _unbreakable(path, literal):
    """A raw literal cannot be broken, and a test's data reads better in one piece."""
    return literal == "raw" or (literal == "string" and path.startswith("tests/"))


def _function_length(first, last, name):
    if last - first + 1 > FUNCTION_LINES_MAX:
        yield first, (f"a function has at most {FUNCTION_LINES_MAX} lines, this one has {last - first + 1}: "
                      f"{name[-60:]}")


def cpp(path, text):
    source = Source(path, text)
    for line, name in source.includes():
        why = check_include(path, name)
        if why:
            yield line, why
    for offset in takes_all_of_state(path, source.code):
        yield source.line_at(offset), STATE_IS_PARTS
    for first, last, name in source.functions():
        yield from _function_length(first, last, name)
    for match in _NAMED.finditer(source.code):
        if match.group(1) != "FieldManager":
            yield source.line_at(match.start()), f"the name {match.group(1)} says nothing: name what it does"
    if path.endswith(".h") and not re.search(r"^#pragma once$", source.code, re.MULTILINE):
        yield 1, "a header has #pragma once"
    if path.endswith(".h") and not text.startswith("//"):
        yield 1, "a header opens with its idea in a few sentences"
    if path.endswith(".cpp"):
        yield from _own_header_first(path, source)
    if path.endswith(".h"):
        yield from _boolean_parameters(source)
    if path == RESULT and not re.search(r"\bclass \[\[nodiscard\]\] Result\b", source.code):
        yield 1, "Result is [[nodiscard]]: a caller that drops one does not compile"
    for match in re.finditer(r"\[\s*=\s*[\],]", source.code):
        yield source.line_at(match.start()), "a lambda names what it captures: no [=]"
    yield from _defaults_over_enums(source)
    yield from classes.check(source)
    if folder_of(path) in CORE:
        yield from core(source)


# An assertion's condition is no flag: it chooses nothing.
_BOOLEAN = re.compile(r"(?<=[(,])\s*(?:const\s+)?bool\b\s*&?\s*(?!holds\b)\w*\s*(?:=[^,()]*)?(?=[,)])")
_OPENERS = {")": "(", "]": "[", "}": "{", ">": "<"}


def _opener(code, position):
    """The bracket around `position`: "(", "[", "{", "<" or "" at the top."""
    closed = 0
    for at in range(position - 1, -1, -1):
        if code[at] in _OPENERS and code[at - 1:at + 1] != "->":
            closed += 1
        elif code[at] in _OPENERS.values():
            if closed == 0:
                return code[at]
            closed -= 1
    return ""


def _boolean_parameters(source):
    for match in _BOOLEAN.finditer(source.code):
        before = source.code[:match.start()]
        if _opener(source.code, match.start()) == "(" and not re.search(r"\b(sizeof|alignof|decltype)\s*\($", before):
            yield (source.line_at(match.start() + len(match.group(0)) - len(match.group(0).lstrip())),
                   "no boolean parameter: an enum or two functions say at the call what is meant")


# Ours are CamelCase types with lower_case values; a foreign enum may grow, so a default over it is allowed.
_LABEL = re.compile(r"\bcase\s+(?P<label>(?:[^:;{}]|::)+):(?!:)|\bdefault\s*:|\bswitch\b|[{}]")
_OURS = re.compile(r"(?:\w+::)*[A-Z]\w*::[a-z][a-z0-9_]*\s*$")


def _defaults_over_enums(source):
    """A `default:` hides the place that a new value is missing from; without one the compiler names it."""
    stack, opens_switch = [], False
    for match in _LABEL.finditer(source.code):
        text = match.group(0)
        if text == "switch":
            opens_switch = True
        elif text == "{":
            stack.append({"ours": False, "default": None} if opens_switch else None)
            opens_switch = False
        elif text == "}":
            switch = stack.pop() if stack else None
            if switch and switch["ours"] and switch["default"]:
                yield switch["default"], "no default over an enum of ours: name the cases"
        elif switch := next((one for one in reversed(stack) if one), None):
            if match.group("label") is None:
                switch["default"] = source.line_at(match.start())
            elif _OURS.match(match.group("label").strip()):
                switch["ours"] = True


def _own_header_first(path, source):
    own = path[:-len(".cpp")] + ".h"
    names = list(source.includes())
    if own in [name for _, name in names] and names[0][1] != own:
        yield names[0][0], f"the own header {own} comes first: that proves that it compiles alone"


def core(source):
    """The core is a function of the log: nothing else may reach it."""
    for pattern, what in IMPURE:
        for match in re.finditer(pattern, source.code):
            yield source.line_at(match.start()), f"the core is pure: no {what}"
    names = re.findall(r"\bunordered_(?:multi)?(?:map|set)\s*<[^;{}()]*>\s+(\w+)", source.code)
    for name in set(names):
        walks = rf":\s*(?:\w+(?:\.|->))*{name}\s*\)|\b{name}\s*\.\s*c?begin\s*\("
        for match in re.finditer(walks, source.code):
            yield source.line_at(match.start()), f"the core is pure: no walk over the hash table {name}"


def python(path, text):
    for node in ast.walk(ast.parse(text, path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _function_length(node.lineno, node.end_lineno, node.name)


class TypesOfHeaders:
    """Types of two headers under one name are one to the linker, which keeps either's inline members: a crash that only
    a sanitizer explains. Asked of every file in turn; a namespace inside `fairlead` makes another name."""

    DEFINITION = re.compile(r"^(?:struct|(?:enum )?class) (\w+)\b(?!::)[^;]*\{")
    NAMESPACE = re.compile(r"^namespace ([\w:]+) \{")

    def __init__(self):
        self.first = {}

    def check(self, path, text):
        if not path.endswith(".h"):
            return
        namespace = ""
        for number, line in enumerate(text.splitlines(), 1):
            if opened := self.NAMESPACE.match(line):
                namespace = opened.group(1)
            if defined := self.DEFINITION.match(line):
                name = f"{namespace}::{defined.group(1)}"
                where = self.first.setdefault(name, path)
                if where != path:
                    yield number, f"{name} is also a type of {where}"


def check(path, text):
    """Every breach in `text`, which is at `path` (from the root): sorted (line, message) pairs."""
    found = list(any_text(path, text)) + list(size(path, text)) + list(scenario(path, text))
    if path.endswith((".h", ".cpp")):
        found += cpp(path, text)
    elif path.endswith(".py"):
        found += python(path, text)
    return sorted(set(found))
