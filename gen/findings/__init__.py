"""Finding codes with their explanations: one constant each, and `registry` with all of them."""
