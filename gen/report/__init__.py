"""Results of commands as text, JSON, SARIF, Markdown and HTML. `formats` has the registries of formats."""
