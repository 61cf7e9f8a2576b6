"""A language server: the stages of a render over the files of a repository as they are in an editor.

`checker` renders the files with unsaved texts and has the findings, `server` implements the protocol, `document` and
`view` are a file and its meaning. Each feature of an editor is a module: completion, hover, names, actions, effects.
"""
