"""The patch stage: the overlay's patches applied to built objects."""
