"""From job files to `rendered/`. `pipeline` has the list of the stages, `run` renders the jobs of a repository.

`parts/` plans and builds one feature per file, `starters/` the objects that start runs; `write/` updates `rendered/`.
"""
