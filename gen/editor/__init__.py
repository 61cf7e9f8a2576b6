"""A language server: the stages of a render over the files of a repository as they are in an editor.

`workspace` has the files with unsaved texts, `checker` renders them and has the findings, `server` speaks the protocol.
Each feature of an editor is a module: completion, hover, references, actions, effects.
"""
