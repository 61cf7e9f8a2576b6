"""Reading files: bytes into plain data, with the place of every value."""

import gen.load.pyyaml  # noqa: F401 - before a module imports PyYAML itself
from gen.load.layers import Layer, Layers, lay_over
from gen.load.source import Source, read, source_of
from gen.load.strict import Data, Plain, forbidden_character
from gen.load.yaml12 import typed

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
