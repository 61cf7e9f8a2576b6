"""Base classes of the models of user input, short and long forms, and descriptions of fields.

A field's docstring is its description in schemas, scaffolds and docs. It is parsed from the source on demand, each
module once; pydantic's own option would parse every class at each start.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Tag
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """Strict and immutable, with camelCase aliases. A field's docstring is its description in schemas and docs."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        defer_build=True,
        protected_namespaces=(),  # fields may begin with `model_`, which pydantic would look for
    )

    synonyms: ClassVar[Mapping[str, str]] = {}
    """Names of other tools for these fields, from `gen.job.synonyms`."""
    main: ClassVar[str] = ""
    """Field that a scalar instead of the mapping is probably meant for; only used for hints."""

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Itself, because nothing changes a model: pydantic copies a default for every job that does not set it."""
        return self


class Part(Model):
    """A model that many others contain. It is built when it is defined, so that they share its validator."""

    model_config = ConfigDict(defer_build=False)


M = TypeVar("M", bound=BaseModel)


def default(model: type[M]) -> M:
    """A model without any field of a file, made without building it: most files need no other."""
    return model.model_construct()


@cache
def alias_of(model: type[Model], field: str) -> str:
    """Name of a field in files."""
    return str(model.model_fields[field].alias)


@cache
def aliases_of(model: type[Model]) -> Mapping[str, str]:
    """Names in files of all fields of a model, by field, in the order of the model."""
    return {field: alias_of(model, field) for field in model.model_fields}


@cache
def default_of(model: type[Model], field: str) -> object:
    """The value of a field that is not set."""
    return model.model_fields[field].get_default(call_default_factory=True)


SHORT, LONG = "\ufdd1", "\ufdd2"
"""Tags of the two forms of a value. They appear in the route of an error. No key in a file can equal them."""


def _by_mapping(value: object) -> str:
    return LONG if isinstance(value, (dict, BaseModel)) else SHORT


def _by_list(value: object) -> str:
    return LONG if isinstance(value, (list, tuple)) else SHORT


# With a discriminator, pydantic reports errors only for the form that was used.
ShortForm = Tag(SHORT)
LongForm = Tag(LONG)
ScalarOrMapping = Discriminator(_by_mapping)
ScalarOrList = Discriminator(_by_list)

Short = TypeVar("Short")
Long = TypeVar("Long")
OrMapping = Annotated[Annotated[Short, ShortForm] | Annotated[Long, LongForm], ScalarOrMapping]
"""A scalar, or a model with all fields."""


@cache
def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Description by Python field name, for the fields of a model and its base classes."""
    docs: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if not cls.__module__.startswith("pydantic.") and "__annotations__" in vars(cls):
            docs |= _own(cls)
    for name, field in model.model_fields.items():
        if field.description:
            docs[name] = " ".join(field.description.split())
    return docs


def _own(cls: type) -> dict[str, str]:
    body = _classes(cls.__module__).get(cls.__qualname__)  # none for a class that `create_model` made
    statements = body.body if body is not None else []
    return {
        statement.target.id: " ".join(text.value.value.split())
        for statement, text in pairwise(statements)
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """The classes in the source of a module by their qualified names; none without its source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, KeyError):
        return {}
    return dict(_named(tree, ""))


def _named(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield f"{prefix}{child.name}", child
            yield from _named(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef):
            yield from _named(child, f"{prefix}{child.name}.<locals>.")
