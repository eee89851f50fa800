"""Names of files in comments and in Markdown: each is a file or a folder of the tree; and the steps of a walk."""

import fnmatch
import io
import posixpath
import re
import tokenize

import cpp_source
import tree

PAGE = "ARCHITECTURE.md"
PAGE_LINES_MAX = 120
RECORDS = "docs/decisions/"
SECTIONS = ["Context", "Decision", "Rejected", "Rests on"]
_RECORD = re.compile(RECORDS + r"\d{4}-[a-z0-9-]+\.md$")

# A path from the root, perhaps with `*` in it. Not `snapshots/SEQ.snapshot` of a data directory, a bench (`replay/100k
# nodes`), or a name with NNNN for a number.
_PATH = re.compile(r"(?<![\w./~$}>*-])(?:engine|schema|connectors|deploy|replay|snapshots|tests|docs|scripts|cmake)/"
                   r"(?!\d|[\w./*-]*(?:\.snapshot\b|NNNN))[\w./*-]*[\w*/](?![\w<])")
# A source or a page by its name, perhaps with folders before it: `log/pack.h`.
_FILE = re.compile(r"(?<![\w./~$}>*:-])(?!NNNN|[\w/]*/NNNN)(?:[\w.-]+/)*[\w.-]*\w\.(?:h|cpp|py|capnp|md)\b(?![\w.(/-])")
# A scenario by its number: two digits behind the folder.
_SCENARIO = re.compile(r"\bscenarios/(\d\d)(?![\w-])")
# A step of a walk through the code: `engine/fold/evolve.cpp: evolve`, `engine/log/pack.cpp: Pack::close`.
_STEP = re.compile(r"`([\w./-]+\.(?:h|cpp)): ([\w:~]+)`")
_LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([\w-]+))?\)")


def anchors(page):
    """What GitHub calls the headings of a page."""
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", page, re.MULTILINE)}


def _hash_comments(text):
    for match in re.finditer(r"(?:^|(?<=\s))#.*$", text, re.MULTILINE):
        yield text.count("\n", 0, match.start()) + 1, match.group(0)


def _python_comments(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and token.string.startswith('"""')):
            yield token.start[0], token.string


def comments(path, text):
    """(first line, text) of each piece of `text` that a person wrote for a person."""
    if path.endswith((".h", ".cpp")):
        yield from cpp_source.Source(path, text).comments()
    elif path.endswith(".md"):
        yield 1, text
    elif path.endswith(".py"):
        yield from _python_comments(text)
    elif path.endswith((".cmake", "CMakeLists.txt")) or text.startswith("#!"):
        yield from _hash_comments(text)


class References:
    """Asked of every file in turn. `files` are all paths of the tree, from its root; `read` gives the text of one."""

    def __init__(self, files, read=lambda name: (tree.ROOT / name).read_text()):
        self.read = read
        self.files = set(files)
        self.folders = {name[:at] for name in self.files for at, c in enumerate(name) if c == "/"}
        self.folder_names = {name.rsplit("/", 1)[-1] for name in self.folders}

    def has(self, name):
        name = name.rstrip("/")
        if "*" in name:
            return any(fnmatch.fnmatch(file, name) for file in self.files)
        return name in self.files or name in self.folders

    def _has_file(self, name):
        first, *rest = name.split("/")
        # <kj/string.h> and the like are headers of a library: their folder is none of ours.
        foreign = rest and first not in self.folder_names
        return foreign or name in self.files or any(file.endswith("/" + name) for file in self.files)

    def _defines(self, file, function):
        bodies = cpp_source.Source(file, self.read(file)).functions()
        return any(re.search(rf"(?<![\w:]){function}\s*\(", signature) for _, _, signature in bodies)

    def steps(self, path, text):
        """Each names a file and a function that has its body there."""
        found = list(_STEP.finditer(text)) if path.endswith(".md") else []
        for match in found:
            file, function = match.groups()
            if file not in self.files:
                yield text.count("\n", 0, match.start()) + 1, f"{file} is not in the tree"
            elif not self._defines(file, function):
                yield text.count("\n", 0, match.start()) + 1, f"{file} has no function {function}"
        if path == PAGE and not found:
            yield 1, "the walk from socket to patch is gone"
        if path == PAGE and text.count("\n") > PAGE_LINES_MAX:
            yield PAGE_LINES_MAX, f"the one page has at most {PAGE_LINES_MAX} lines, this one has {text.count(chr(10))}"

    def records(self, path, text):
        """A decision record has a date and its sections, and the index of the folder has it."""
        if path == RECORDS + "README.md":
            for file in sorted(self.files):
                if _RECORD.match(file) and f"({file.removeprefix(RECORDS)})" not in text:
                    yield 1, f"{file} is not in the index"
        elif path.startswith(RECORDS):
            if not _RECORD.match(path):
                yield 1, "a decision record is called NNNN-name.md"
            if not re.search(r"\A# \d{4} .+\n\nDate: 2\d{3}-\d\d-\d\d\n", text):
                yield 1, "a decision record begins with its number and title, and its date"
            if re.findall(r"^## (.*)$", text, re.MULTILINE) != SECTIONS:
                yield 1, f"a decision record has the sections {', '.join(SECTIONS)}"

    def links(self, path, text):
        """A link of a page leads to a file or folder, and to a heading where it names one."""
        for match in _LINK.finditer(text) if path.endswith(".md") else ():
            beside = posixpath.join(posixpath.dirname(path), match.group(1))
            file = posixpath.normpath(beside) if match.group(1) else path
            page = text if file == path else self.read(file) if file in self.files and match.group(2) else ""
            if not self.has(file) or (match.group(2) and match.group(2) not in anchors(page)):
                yield text.count("\n", 0, match.start()) + 1, f"the link {match.group(0)[2:-1]} leads nowhere"

    def check(self, path, text):
        yield from self.steps(path, text)
        yield from self.links(path, text)
        yield from self.records(path, text)
        sources = path.endswith((".h", ".cpp", ".py", ".md"))
        for first, comment in comments(path, text):
            def line(match):
                return first + comment.count("\n", 0, match.start())
            for match in _PATH.finditer(comment):
                if not self.has(match.group(0)) and not self._has_file(match.group(0)):
                    yield line(match), f"{match.group(0)} is not in the tree"
            for match in _FILE.finditer(comment) if sources else ():
                if not self._has_file(match.group(0)):
                    yield line(match), f"{match.group(0)} is not in the tree"
            for match in _SCENARIO.finditer(comment):
                if not self.has(f"tests/scenarios/{match.group(1)}-*"):
                    yield line(match), f"{match.group(0)} is not in the tree"
