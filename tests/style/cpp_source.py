"""Just enough understanding of C++ text for the style rules: what is code, and where functions begin and end."""

import bisect
import re

_TOKEN = re.compile(
    r'(?P<line_comment>//[^\n]*)'
    r'|(?P<block_comment>/\*.*?\*/)'
    r'|(?P<raw>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")'
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<separator>(?<=[0-9a-fA-F])'(?=[0-9a-fA-F]))"
    r"|(?P<char>'(?:[^'\\\n]|\\.)+')",
    re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|\bextern\s*$")
_MEMBER_INITIALIZER = re.compile(r"\)[^:;]*(?<!:):(?!:)(?:.*,)?\s*[\w:<>]+\s*$", re.DOTALL)
_CONTROL = re.compile(r"^\s*(?:\}\s*)?(if|for|while|switch|do|else|try|catch|return|case|default)\b")


def _blank(match):
    """White space of the same shape, so that positions and lines stay; strings keep their quotes."""
    text = match.group(0)
    if match.lastgroup == "separator":
        return text
    blank = re.sub(r"[^\n]", " ", text)
    if text[0] in "\"'" or text[0] == "R":
        return blank[0] + blank[1:] if len(text) < 2 else '"' + blank[1:-1] + '"'
    return blank


class Source:
    """One C++ file: `text` as it is, `code` without comments and the insides of literals."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.code = _TOKEN.sub(_blank, text)
        self._literals = [(m.start(), m.end(), m.lastgroup) for m in _TOKEN.finditer(text)
                          if m.lastgroup in ("raw", "string")]
        self._starts = [0] + [m.end() for m in re.finditer("\n", text)]

    def comments(self):
        """(first line, text) of each comment."""
        for match in _TOKEN.finditer(self.text):
            if match.lastgroup in ("line_comment", "block_comment"):
                yield self.line_at(match.start()), match.group(0)

    def line_at(self, position):
        return bisect.bisect_right(self._starts, position)

    def literal_at(self, line, column):
        """"raw", "string" or None: the literal that reaches over `column` (from 1) of `line`."""
        position = self._starts[line - 1] + column - 1
        return next((kind for first, end, kind in self._literals if first <= position < end), None)

    def includes(self):
        """(line, name) of each include directive; those inside comments and strings are none."""
        for match in _INCLUDE.finditer(self.text):
            if self.code[match.start():match.end()].lstrip().startswith("#"):
                yield self.line_at(match.start()), match.group(1) or match.group(2)

    def functions(self):
        """(first line, last line, signature) of each function body that is not inside another one."""
        code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), self.code,
                      flags=re.MULTILINE)
        stack, begins, begin, open_function = [], [], 0, None
        for match in re.finditer(r"[{};]", code):
            at, symbol = match.start(), match.group(0)
            if symbol == "{":
                head = code[begin:at]
                kind = self._kind(head, stack)
                if kind == "function":
                    lead = len(head) - len(head.lstrip())
                    open_function = (self.line_at(begin + lead), len(stack), " ".join(head.split()))
                stack.append(kind)
                begins.append(begin)
            elif symbol == "}" and stack:
                kind, before = stack.pop(), begins.pop()
                if kind == "expression":
                    begin = before
                    continue
                if open_function and len(stack) == open_function[1]:
                    yield open_function[0], self.line_at(at), open_function[2]
                    open_function = None
            begin = at + 1

    @staticmethod
    def _kind(head, stack):
        if "function" in stack:
            return "block"
        # Braces inside an argument list, or that initialise a member before a constructor's body.
        if head.count("(") > head.count(")") or _MEMBER_INITIALIZER.search(head):
            return "expression"
        if _SCOPE.search(re.sub(r"\btemplate\s*<[^{}]*?>(?=\s*(?:class|struct|union|\w))", " ", head)) and not (
                re.search(r"\)\s*(?:const|noexcept|override|final|->.*)?\s*$", head)):
            return "scope"
        if stack and stack[-1] == "block":
            return "block"
        if "(" in head and not _CONTROL.search(head) and not re.search(r"=\s*$|,\s*$|\(\s*$|return\s*$", head):
            return "function"
        return "block"
