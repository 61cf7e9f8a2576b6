"""Base classes of the models of user input, short and long forms, and descriptions of fields.

A field's docstring is its description in schemas, scaffolds and docs. It is parsed from the source on demand, each
module once; pydantic's own option would parse every class at each start.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from functools import cache
from itertools import pairwise
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Self, TypeGuard, TypeVar, Union, get_args, get_origin

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Discriminator, Tag, ValidationError
from pydantic.alias_generators import to_camel

from gen.base import Route

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


class CurrentName(Struct, frozen=True):
    """The name of today of a field, as files have it."""

    name: str
    since: str
    """The version of gen that renamed it, and its date."""


class Model(BaseModel):
    """Strict and immutable, with camelCase aliases. A field's docstring is its description in schemas and docs."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=cache(to_camel),  # subclasses ask again for the names of inherited fields
        defer_build=True,
        protected_namespaces=(),  # fields may begin with `model_`, which pydantic would look for
    )

    synonyms: ClassVar[Mapping[str, str]] = {}
    """Names of other tools for these fields, from `gen.job.synonyms`."""
    main: ClassVar[str] = ""
    """Field that a scalar instead of the mapping is probably meant for; only used for hints."""
    listed_as: ClassVar[str] = ""
    """Name for `gen explain` that lists the fields."""

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Itself, because nothing changes a model: pydantic copies a default for every job that does not set it."""
        return self


RENAMED: Final[dict[type[Model], Mapping[str, CurrentName]]] = {}
"""The fields of models that had another name, by that. `gen.job.suggest` reads them under both for a year."""


def renamed_fields(model: type[BaseModel]) -> dict[str, CurrentName]:
    """Those of a model and of the models that it extends."""
    return {old: new for base, names in RENAMED.items() if issubclass(model, base) for old, new in names.items()}


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
        if issubclass(cls, BaseModel) and cls is not BaseModel:
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


class Form(Enum):
    """Form of a composite value."""

    FIELDS = auto()
    KEYS = auto()
    """A mapping with keys chosen by the author."""
    LIST = auto()


def fields_at(model: type[BaseModel], route: Route) -> list[str]:
    """Names of the fields at `route` in a model."""
    return [field.alias or name for found in _at(model, route) for name, field in _fields(found)]


def accepts(model: type[BaseModel], route: Route, value: object) -> bool:
    """Whether the field at `route` can have the value."""
    from pydantic import TypeAdapter

    for annotation in _at(model, route):
        try:
            TypeAdapter(annotation).validate_python(value)
        except ValidationError:
            continue
        return True
    return False


def models_at(model: type[BaseModel], route: Route) -> list[type[BaseModel]]:
    """The models that the value at `route` can have."""
    return [found for outer in _at(model, route) for found in _alternatives(outer) if _is_model(found)]


def form_at(model: type[BaseModel], route: Route) -> Form:
    """Form of the value at `route` in a model."""
    origins = [get_origin(candidate) for found in _at(model, route) for candidate in _alternatives(found)]
    return Form.KEYS if dict in origins else Form.LIST if tuple in origins else Form.FIELDS


def _at(model: type[BaseModel], route: Route) -> list[Any]:
    annotations: list[Any] = [model]
    for step in route:
        annotations = [inner for outer in annotations for inner in _step(outer, step)]
    return annotations


def reachable(models: Iterable[type[BaseModel]]) -> list[type[BaseModel]]:
    """The models and all models nested in their fields, each once."""
    seen: list[type[BaseModel]] = []
    todo = list(models)
    while todo:
        model = todo.pop(0)
        if model not in seen:
            seen.append(model)
            todo += [inner for field in model.model_fields.values() for inner in models_in(field.annotation)]
    return seen


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """Models in an annotation."""
    for candidate in _alternatives(annotation):
        if _is_model(candidate):
            yield candidate
        elif get_origin(candidate) in (dict, tuple):
            for inner in get_args(candidate):
                yield from models_in(inner)


def _alternatives(annotation: object) -> Iterator[object]:
    """Members of a union, without `Annotated`."""
    if get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif get_origin(annotation) in (UnionType, Union):
        for member in get_args(annotation):
            yield from _alternatives(member)
    else:
        yield annotation


def _is_model(annotation: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _fields(annotation: object) -> Iterator[tuple[str, "FieldInfo"]]:
    for candidate in _alternatives(annotation):
        if _is_model(candidate):
            yield from candidate.model_fields.items()


def _step(annotation: object, step: str | int) -> Iterator[object]:
    for candidate in _alternatives(annotation):
        if get_origin(candidate) is dict:
            yield get_args(candidate)[1]
        elif get_origin(candidate) is tuple:
            yield get_args(candidate)[0]
        else:
            yield from (field.rebuild_annotation() for name, field in _fields(candidate) if step in (field.alias, name))
