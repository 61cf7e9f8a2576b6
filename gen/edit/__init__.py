"""Editing job files: fields in, a text out that differs where it must and nowhere else."""

from gen.edit.change import Change, EditError
from gen.edit.command import SetRequest, set_fields

__all__ = ["Change", "EditError", "SetRequest", "set_fields"]
