"""CEL, the expression language of policies and definitions, as API servers evaluate it.

An expression is parsed (`parser.py`), type-checked (`program.py`) and turned into Python closures (`evaluate.py`). The
functions are in `library/`: the checker and the evaluator choose one by its signature.
"""
