"""The sizes of classes: how many private methods and data members each one has."""

import re

PRIVATE_METHODS_MAX = 15
MEMBERS_MAX = 20
FOLDERS = ("engine/", "connectors/", "replay/", "snapshots/", "schema/")

_REASON = re.compile(r"\bLarge: \w")
_HEAD = re.compile(r"\b(?<!enum )(?P<kind>class|struct)\s+(?:\[\[[^\]]*\]\]\s*)?(?P<name>(?:\w+::)*\w+)(?:\s+final)?"
                   r"\s*(?::(?!:)[^;{]*)?$")
_TEMPLATE = re.compile(r"\btemplate\s*<[^{}]*?>(?=\s*(?:class|struct|union|\w))")
_NO_MEMBER = re.compile(r"(?:friend|using|typedef|static_assert|enum)\b|(?:class|struct|union) \w+$")
_PART = re.compile(r"[{};]|\b(?:public|protected|private)\s*:(?!:)")


class _Class:
    """A class whose body is being read. `text` is what was read of the declaration at hand, without the insides of
    braces."""

    def __init__(self, line, head):
        self.line, self.name = line, head.group("name")
        self.private = head.group("kind") == "class"
        self.methods = self.members = 0
        self.text = ""

    def end_declaration(self):
        text, self.text = " ".join(self.text.split()), ""
        text = re.sub(r"\[\[.*?\]\]", "", _TEMPLATE.sub("", text)).strip()
        if not text or _NO_MEMBER.match(text):
            return
        before = None
        while before != text:  # template arguments, from the inside
            before, text = text, re.sub(r"<[^<>;{}]*>", "", text)
        declared = text if re.search(r"\boperator\b", text) else text.split("=")[0]
        if "(" not in declared:
            self.members += 0 if re.match(r"(?:inline |constexpr )*static\b", text) else 1 + declared.count(",")
        elif self.private and not re.search(r"=\s*(?:default|delete)$", text):
            self.methods += 1


def sizes(source):
    """(first line, name, private methods, data members) of each class of a cpp_source.Source."""
    code = re.sub(r"^[ \t]*#.*$", lambda match: " " * len(match.group(0)), source.code, flags=re.MULTILINE)
    stack, begin = [], 0  # a _Class, or None for any other braces
    for match in _PART.finditer(code):
        inner, sign = stack[-1] if stack else None, match.group(0)
        piece, begin = code[begin:match.start()], match.end()
        if inner:
            inner.text += piece
        if sign == "{":
            text = inner.text if inner else piece
            head = _HEAD.search(_TEMPLATE.sub(" ", text).strip()) if "class" in text or "struct" in text else None
            line = source.line_at(match.start() - len(piece.lstrip()))
            stack.append(_Class(line, head) if head else None)
            if inner and head:
                inner.text = ""
        elif sign == "}":
            closed = stack.pop() if stack else None
            if closed:
                yield closed.line, closed.name, closed.methods, closed.members
            outer = stack[-1] if stack else None
            # A function's body ends its declaration; a member's braces are followed by more of it.
            if outer and not closed and "(" in outer.text and not re.match(r"\s*[;,{)]", code[begin:]):
                outer.end_declaration()
        elif inner and sign == ";":
            inner.end_declaration()
        elif inner:
            inner.text, inner.private = "", sign.startswith("private")


def _comment_above(source, line):
    lines, above = source.text.split("\n"), []
    for text in reversed(lines[:line - 1]):
        if not text.lstrip().startswith(("//", "template")):
            break
        above.append(text)
    return "\n".join(reversed(above))


def check(source):
    """A class has few private methods and members, or the comment in front of it says why not: `Large: ...`."""
    if not source.path.startswith(FOLDERS):
        return
    for line, name, methods, members in sizes(source):
        large = methods > PRIVATE_METHODS_MAX or members > MEMBERS_MAX
        if large and not _REASON.search(_comment_above(source, line)):
            yield line, (f"a class has at most {PRIVATE_METHODS_MAX} private methods and {MEMBERS_MAX} members, {name} "
                         f"has {methods} and {members}: make several of it, or say why in front of it (Large: ...)")
