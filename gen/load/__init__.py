"""Reading: bytes of a file into plain data whose every value has a place. The only stage that reads inputs."""

from gen.load.layers import Layer, Layers, lay_over
from gen.load.source import Source, read, source_of
from gen.load.text import Data, Plain, forbidden_character
from gen.load.typed import typed

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
