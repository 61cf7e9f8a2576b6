"""Estimated costs of expressions, before any value is known. An API server rejects expensive rules of definitions.

`estimate.py` follows the tree of an expression, `calls.py` and `builtin.py` know the functions, and `declared.py` the
sizes that a schema allows. The numbers are those of `checker/cost.go` of cel-go and of
`apiserver/pkg/cel/library/cost.go`. `gen/cel/frame.py` counts the real cost of an evaluation.
"""
