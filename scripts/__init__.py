"""Scripts for developers. They are not part of the package."""
