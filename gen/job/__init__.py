"""Job files: the fields that authors write, as models of pydantic, and the messages about invalid values.

`kinds` has the kinds of jobs, `fields` and `pods` the fields that all of them share, `scalars` and `names` the types of
values, `plan` the decisions about a job. `explain` turns errors of pydantic into findings. Only this room and overlays
use pydantic.
"""
