"""Reading files: bytes into plain data, with the place of every value."""

from gen.base.yaml.layers import Layer, Layers, lay_over
from gen.base.yaml.source import Source, read, source_of
from gen.base.yaml.strict import Data, Plain, forbidden_character, typed

__all__ = [
    "Data",
    "Layer",
    "Layers",
    "Plain",
    "Source",
    "forbidden_character",
    "lay_over",
    "read",
    "source_of",
    "typed",
]
