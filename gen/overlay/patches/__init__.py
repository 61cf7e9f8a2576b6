"""Patches of an overlay, read and checked without an object. `gen.render.patch` applies them."""
