"""Plugins: Python packages that add kinds, storage profiles and network profiles through entry points.

A plugin is used only by overlays that name its distribution under `plugins`. `docs/extending.md` describes how to
write one.
"""
