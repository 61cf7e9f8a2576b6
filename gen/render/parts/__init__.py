"""Features of a run, a file each: decisions of the plan stage, then the objects that the build stage makes of them."""
