"""Finding codes with their explanations: one constant each, collected in `registry`."""
