"""The steps of a pipeline: reading them, their order, and the findings about them."""
