"""Output of findings, file changes and plans; `formats` lists the formats."""
