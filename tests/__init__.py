"""Tests mirror the package; folders of cases are tests too."""
