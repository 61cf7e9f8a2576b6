"""What humans write, checked: the only package that knows pydantic, with the kinds and profiles over it."""
