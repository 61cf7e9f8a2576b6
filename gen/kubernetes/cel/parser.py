"""Parse an expression into a syntax tree. From the grammar in `doc/langdef.md` of the CEL specification.

The tokens of an expression. From the grammar in `doc/langdef.md` of the CEL specification.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from gen.base import regex
from gen.kubernetes.cel import tree as nodes
from gen.kubernetes.cel.tree import expand
from gen.kubernetes.cel.values import CelSyntaxError, CompileError, InvalidLiteralError, NotEvaluatedError, UInt

_STRING = r"""[rR]?(?:\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')"""
_RAW = r"""[rR](?:\"{3}.*?\"{3}|'{3}.*?'{3}|"[^"\n\r]*"|'[^'\n\r]*')"""
_TOKENS = regex(
    rf"""
    (?P<space>[ \t\n\r\f]+|//[^\n]*)
  | (?P<bytes>[bB][rR](?:\"{{3}}.*?\"{{3}}|'{{3}}.*?'{{3}}|"[^"\n\r]*"|'[^'\n\r]*')|[bB]{_RAW}|[bB]{_STRING})
  | (?P<string>{_RAW}|{_STRING})
  | (?P<double>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
  | (?P<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
  | (?P<int>0x[0-9a-fA-F]+|[0-9]+)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<quoted>`[A-Za-z0-9_.\-/ ]+`)
  | (?P<sign>&&|\|\||<=|>=|==|!=|[-+*/%<>!?:.,()\[\]{{}}])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPES: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    **{sign: sign for sign in "\\?\"'`"},
}
_ESCAPE = regex(
    r"\\(?:(?P<sign>[abfnrtv\\?\"'`])|[xX](?P<hex>[0-9a-fA-F]{2})|u(?P<short>[0-9a-fA-F]{4})"
    r"|U(?P<long>[0-9a-fA-F]{8})|(?P<octal>[0-3][0-7]{2})|(?P<other>.|$))",
    re.DOTALL,
)
_MAX_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_LIMITS = {"int": 2**63 - 1, "uint": 2**64 - 1}


class Token(Struct, frozen=True):
    """A token with its kind, its text, its value if it is a literal, and its offset."""

    kind: str
    text: str
    at: int
    value: Any = None


def tokens_of(text: str) -> list[Token]:
    """The tokens of an expression and one for its end. CompileError at the first character that begins none."""
    found: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKENS.match(text, position)
        if match is None:
            raise CelSyntaxError(f"token recognition error at: '{text[position]}'", position)
        kind = match.lastgroup or ""
        if kind != "space":
            found.append(Token(kind, match[0], position, _value(kind, match[0], position)))
        position = match.end()
    found.append(Token("end", "<EOF>", len(text)))
    return found


def _value(kind: str, text: str, at: int) -> Any:
    if kind in {"int", "uint"}:
        digits = text.rstrip("uU")
        if len(digits) > len(str(2**64)) + 2:
            raise InvalidLiteralError(kind, at)
        number = int(digits, 16 if digits.startswith("0x") else 10)
        if number > _LIMITS[kind] + (kind == "int"):  # the sign of the smallest integer is a token of its own
            raise InvalidLiteralError(kind, at)
        return UInt(number) if kind == "uint" else number
    if kind == "double":
        return float(text)
    if kind == "quoted":
        return text[1:-1]
    return _string(text, at, in_bytes=kind == "bytes") if kind in {"string", "bytes"} else None


def _string(text: str, at: int, *, in_bytes: bool) -> str | bytes:
    quote = min(position for sign in "\"'" if (position := text.find(sign)) >= 0)
    prefix, body = text[:quote].lower(), text[quote:]
    size = 3 if body[:3] in {'"""', "'''"} else 1
    body = body[size:-size].replace("\r\n", "\n").replace("\r", "\n")
    if "r" in prefix:
        return body.encode() if in_bytes else body
    if not in_bytes:
        return _ESCAPE.sub(lambda match: _character(match, at), body)
    parts = []
    last = 0
    for match in _ESCAPE.finditer(body):
        parts += [body[last : match.start()].encode(), _byte(match, at)]
        last = match.end()
    return b"".join([*parts, body[last:].encode()])


def _character(match: re.Match[str], at: int) -> str:
    if match["sign"]:
        return _ESCAPES[match["sign"]]
    if match["octal"]:
        return chr(int(match["octal"], 8))
    digits = match["hex"] or match["short"] or match["long"]
    code = int(digits, 16) if digits else -1
    if not 0 <= code <= _MAX_CODE_POINT or code in _SURROGATES:
        raise CelSyntaxError("invalid escape sequence in a string", at)
    return chr(code)


def _byte(match: re.Match[str], at: int) -> bytes:
    if match["octal"] or match["hex"]:
        return bytes([int(match["octal"], 8) if match["octal"] else int(match["hex"], 16)])
    if match["sign"]:
        return _ESCAPES[match["sign"]].encode()
    raise CelSyntaxError("invalid escape sequence in bytes", at)


_MAX_NESTING = 60
"""Brackets and macros inside each other. More could exceed Python's recursion limit."""
_MAX_DEPTH = 120
"""Levels of the tree, for the same reason."""
_MAX_CHARACTERS = 100_000
"""Of an expression (`parserExpressionSizeLimit` of cel-go)."""
_MAX_NODES: Final = 1_000_000
"""Of the tree. Macros that repeat their target inside each other double it each time."""
_BINARY: Final = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "in"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
}
_NAMES: Final = {"in": "@in"}
_CONSTANTS: Final = {"true": True, "false": False, "null": None}
_LOGICAL: Final = ("||", "&&")


def parse(text: str) -> nodes.Node:
    """The syntax tree of an expression.

    CompileError for wrong syntax; NotEvaluatedError if the expression is nested too deeply.
    """
    if len(text) > _MAX_CHARACTERS:
        raise CompileError(f"expression code point size exceeds limit: size: {len(text)}, limit {_MAX_CHARACTERS}")
    parser = _Parser(tokens_of(text))
    tree = parser.expression()
    if parser.token.kind != "end":
        raise parser.unexpected()
    _check_depth(tree)
    return tree


def _check_depth(tree: nodes.Node) -> None:
    level = [tree]
    left = _MAX_NODES
    for _ in range(_MAX_DEPTH):
        level = list(islice((child for node in level for child in nodes.children(node)), left))
        left -= len(level)
        if not level or not left:
            break
    if not left:
        raise NotEvaluatedError("the expression has too many parts")
    if not level:
        return
    raise NotEvaluatedError("the expression is nested too deeply")


def operator(sign: str) -> str:
    """The name of the function of a binary operator."""
    return _NAMES.get(sign, f"_{sign}_")


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._position = 0
        self._nesting = 0
        self.token = tokens[0]

    def unexpected(self) -> CompileError:
        return CelSyntaxError(f"unexpected '{self.token.text}'", self.token.at)

    def _next(self) -> Token:
        token = self.token
        self._position += 1
        self.token = self._tokens[min(self._position, len(self._tokens) - 1)]
        return token

    def _is(self, sign: str) -> bool:
        return self.token.text == sign and self.token.kind in {"sign", "name"}

    def _take(self, sign: str) -> bool:
        if self._is(sign):
            self._next()
            return True
        return False

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise self.unexpected()

    def expression(self) -> nodes.Node:
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            raise NotEvaluatedError("the expression is nested too deeply")
        condition = self._binary(1)
        if self._is("?"):
            at = self._next().at
            then = self._binary(1)
            self._expect(":")
            condition = nodes.Call(at, "_?_:_", [condition, then, self.expression()])
        self._nesting -= 1
        return condition

    def _binary(self, level: int) -> nodes.Node:
        left = self._unary()
        while self.token.kind in {"sign", "name"} and _BINARY.get(self.token.text, 0) >= level:
            sign = self._next()
            strength = _BINARY[sign.text]
            right = self._binary(strength + 1)
            if sign.text in _LOGICAL:
                terms = [left, right]
                while self._take(sign.text):
                    terms.append(self._binary(strength + 1))
                left = _balanced(operator(sign.text), terms, sign.at)
            else:
                left = nodes.Call(sign.at, operator(sign.text), [left, right])
        return left

    def _unary(self) -> nodes.Node:
        signs: list[Token] = []
        while self._is("!") or self._is("-"):
            if signs and signs[-1].text != self.token.text:
                raise self.unexpected()
            signs.append(self._next())
        node: nodes.Node
        if signs and signs[-1].text == "-" and self.token.kind in {"int", "double"}:
            token = self._next()
            signs.pop()
            node = self._members(nodes.Literal(token.at, -token.value))
        else:
            node = self._members(self._primary())
        if len(signs) % 2:  # two cancel each other
            node = nodes.Call(signs[0].at, "!_" if signs[0].text == "!" else "-_", [node])
        return node

    def _members(self, node: nodes.Node) -> nodes.Node:
        while True:
            at = self.token.at
            if self._take("."):
                optional = self._take("?")
                node = self._member(node, at, optional=optional)
            elif self._take("["):
                function = "_[?_]" if self._take("?") else "_[_]"
                node = nodes.Call(at, function, [node, self.expression()])
                self._expect("]")
            elif self._is("{") and (name := nodes.dotted_name(node)) is not None:
                self._next()
                node = self._message(name, at)
            else:
                return node

    def _member(self, node: nodes.Node, at: int, *, optional: bool) -> nodes.Node:
        token = self._next()
        if token.kind == "quoted":
            field = str(token.value)
        elif token.kind == "name" and token.text not in {"in", *_CONSTANTS}:
            field = token.text
            if not optional and self._take("("):
                return self._expanded(nodes.Call(at, field, self._arguments(")"), node))
        else:
            raise CelSyntaxError(f"unexpected '{token.text}'", token.at)
        return nodes.Call(at, "_?._", [node, nodes.Literal(at, field)]) if optional else nodes.Select(at, node, field)

    def _primary(self) -> nodes.Node:
        token = self._next()
        if token.kind in {"int", "uint", "double", "string", "bytes"}:
            if token.kind == "int" and token.value > 2**63 - 1:
                raise InvalidLiteralError("int", token.at)
            return nodes.Literal(token.at, token.value)
        if token.text in _CONSTANTS and token.kind == "name":
            return nodes.Literal(token.at, _CONSTANTS[token.text])
        if token.text == "(":
            node = self.expression()
            self._expect(")")
            return node
        if token.text in {"[", "{"} and token.kind == "sign":
            return self._list(token.at) if token.text == "[" else self._map(token.at)
        return self._name(token)

    def _name(self, token: Token) -> nodes.Node:
        dot = token.text == "."
        name = self._next() if dot else token
        if name.kind != "name" or name.text == "in":
            raise CelSyntaxError(f"unexpected '{name.text}'", name.at)
        if self._take("("):
            return self._expanded(nodes.Call(token.at, name.text, self._arguments(")")))
        if name.text in nodes.RESERVED:
            raise CompileError(f"reserved identifier: {name.text}", name.at)
        return nodes.Ident(token.at, f".{name.text}" if dot else name.text)

    def _expanded(self, call: nodes.Call) -> nodes.Node:
        if call.target is None and call.function in nodes.RESERVED:
            raise CompileError(f"reserved identifier: {call.function}", call.at)
        return expand(call)

    def _arguments(self, end: str) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        while not self._take(end):
            found.append(self.expression())
            if not self._is(end):
                self._expect(",")
                if self._is(end):
                    raise self.unexpected()
        return found

    def _list(self, at: int) -> nodes.Node:
        items: list[nodes.Node] = []
        optional = set()
        while not self._take("]"):
            if self._take("?"):
                optional.add(len(items))
            items.append(self.expression())
            if not self._is("]"):
                self._expect(",")
        return nodes.ListOf(at, items, frozenset(optional))

    def _map(self, at: int) -> nodes.Node:
        entries = []
        while not self._take("}"):
            optional = self._take("?")
            key = self.expression()
            self._expect(":")
            entries.append((key, self.expression(), optional))
            if not self._is("}"):
                self._expect(",")
        return nodes.MapOf(at, entries)

    def _message(self, name: str, at: int) -> nodes.Node:
        fields: list[tuple[str, nodes.Node, bool]] = []
        while not self._take("}"):
            optional = self._take("?")
            token = self._next()
            if token.kind not in {"name", "quoted"}:
                raise CelSyntaxError(f"unexpected '{token.text}'", token.at)
            self._expect(":")
            fields.append((str(token.value or token.text), self.expression(), optional))
            if not self._is("}"):
                self._expect(",")
        return nodes.Message(at, name, fields)


def _balanced(function: str, terms: list[nodes.Node], at: int) -> nodes.Node:
    """A tree of low depth, as long chains would otherwise be nested."""
    if len(terms) == 1:
        return terms[0]
    middle = (len(terms) + 1) // 2
    parts: list[Any] = [_balanced(function, terms[:middle], at), _balanced(function, terms[middle:], at)]
    return nodes.Call(at, function, parts)
