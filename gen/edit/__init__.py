"""Changes of job files and overlays as text, without a change to comments, order or layout.

`change` applies a change to data, `splice` to text; `fixes` applies the fixes of findings, `checks` finds errors before
a text is written.
"""
