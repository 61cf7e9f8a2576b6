"""How findings and changes are shown; `reporters` lists the ways."""
