"""Parse an expression into a syntax tree. From the grammar in `doc/langdef.md` of the CEL specification."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from gen.cel.errors import CompileError, NotEvaluatedError
from gen.cel.escaping import RESERVED
from gen.cel.macros import expand
from gen.cel.tokens import Token, tokens_of
from gen.cel.tree import Call, Ident, ListOf, Literal, MapOf, Message, Node, Select, children, dotted_name

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


def parse(text: str) -> Node:
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


def _check_depth(tree: Node) -> None:
    level = [tree]
    left = _MAX_NODES
    for _ in range(_MAX_DEPTH):
        level = list(islice((child for node in level for child in children(node)), left))
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
        return CompileError(f"Syntax error: unexpected '{self.token.text}'", self.token.at)

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

    def expression(self) -> Node:
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            raise NotEvaluatedError("the expression is nested too deeply")
        condition = self._binary(1)
        if self._is("?"):
            at = self._next().at
            then = self._binary(1)
            self._expect(":")
            condition = Call(at, "_?_:_", [condition, then, self.expression()])
        self._nesting -= 1
        return condition

    def _binary(self, level: int) -> Node:
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
                left = Call(sign.at, operator(sign.text), [left, right])
        return left

    def _unary(self) -> Node:
        signs: list[Token] = []
        while self._is("!") or self._is("-"):
            if signs and signs[-1].text != self.token.text:
                raise self.unexpected()
            signs.append(self._next())
        node: Node
        if signs and signs[-1].text == "-" and self.token.kind in {"int", "double"}:
            token = self._next()
            signs.pop()
            node = self._members(Literal(token.at, -token.value))
        else:
            node = self._members(self._primary())
        if len(signs) % 2:  # two cancel each other
            node = Call(signs[0].at, "!_" if signs[0].text == "!" else "-_", [node])
        return node

    def _members(self, node: Node) -> Node:
        while True:
            at = self.token.at
            if self._take("."):
                optional = self._take("?")
                node = self._member(node, at, optional=optional)
            elif self._take("["):
                function = "_[?_]" if self._take("?") else "_[_]"
                node = Call(at, function, [node, self.expression()])
                self._expect("]")
            elif self._is("{") and (name := dotted_name(node)) is not None:
                self._next()
                node = self._message(name, at)
            else:
                return node

    def _member(self, node: Node, at: int, *, optional: bool) -> Node:
        token = self._next()
        if token.kind == "quoted":
            field = str(token.value)
        elif token.kind == "name" and token.text not in {"in", *_CONSTANTS}:
            field = token.text
            if not optional and self._take("("):
                return self._expanded(Call(at, field, self._arguments(")"), node))
        else:
            raise CompileError(f"Syntax error: unexpected '{token.text}'", token.at)
        return Call(at, "_?._", [node, Literal(at, field)]) if optional else Select(at, node, field)

    def _primary(self) -> Node:
        token = self._next()
        if token.kind in {"int", "uint", "double", "string", "bytes"}:
            if token.kind == "int" and token.value > 2**63 - 1:
                raise CompileError("invalid int literal", token.at)
            return Literal(token.at, token.value)
        if token.text in _CONSTANTS and token.kind == "name":
            return Literal(token.at, _CONSTANTS[token.text])
        if token.text == "(":
            node = self.expression()
            self._expect(")")
            return node
        if token.text in {"[", "{"} and token.kind == "sign":
            return self._list(token.at) if token.text == "[" else self._map(token.at)
        return self._name(token)

    def _name(self, token: Token) -> Node:
        dot = token.text == "."
        name = self._next() if dot else token
        if name.kind != "name" or name.text == "in":
            raise CompileError(f"Syntax error: unexpected '{name.text}'", name.at)
        if self._take("("):
            return self._expanded(Call(token.at, name.text, self._arguments(")")))
        if name.text in RESERVED:
            raise CompileError(f"reserved identifier: {name.text}", name.at)
        return Ident(token.at, f".{name.text}" if dot else name.text)

    def _expanded(self, call: Call) -> Node:
        if call.target is None and call.function in RESERVED:
            raise CompileError(f"reserved identifier: {call.function}", call.at)
        return expand(call)

    def _arguments(self, end: str) -> list[Node]:
        found: list[Node] = []
        while not self._take(end):
            found.append(self.expression())
            if not self._is(end):
                self._expect(",")
                if self._is(end):
                    raise self.unexpected()
        return found

    def _list(self, at: int) -> Node:
        items: list[Node] = []
        optional = set()
        while not self._take("]"):
            if self._take("?"):
                optional.add(len(items))
            items.append(self.expression())
            if not self._is("]"):
                self._expect(",")
        return ListOf(at, items, frozenset(optional))

    def _map(self, at: int) -> Node:
        entries = []
        while not self._take("}"):
            optional = self._take("?")
            key = self.expression()
            self._expect(":")
            entries.append((key, self.expression(), optional))
            if not self._is("}"):
                self._expect(",")
        return MapOf(at, entries)

    def _message(self, name: str, at: int) -> Node:
        fields: list[tuple[str, Node, bool]] = []
        while not self._take("}"):
            optional = self._take("?")
            token = self._next()
            if token.kind not in {"name", "quoted"}:
                raise CompileError(f"Syntax error: unexpected '{token.text}'", token.at)
            self._expect(":")
            fields.append((str(token.value or token.text), self.expression(), optional))
            if not self._is("}"):
                self._expect(",")
        return Message(at, name, fields)


def _balanced(function: str, terms: list[Node], at: int) -> Node:
    """A tree of low depth, as long chains would otherwise be nested."""
    if len(terms) == 1:
        return terms[0]
    middle = (len(terms) + 1) // 2
    parts: list[Any] = [_balanced(function, terms[:middle], at), _balanced(function, terms[middle:], at)]
    return Call(at, function, parts)
