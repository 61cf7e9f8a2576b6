"""Labels and annotations of gen's own, on runs and their pods."""

from __future__ import annotations

OWN = "gen/"
"""Prefix of our own labels and annotations."""

JOB_LABEL = "gen/job"
RUN_LABEL = "gen/run"
STEP_LABEL = "gen/step"
"""On the objects and pods of a step. All steps of a pipeline have the same run."""
WORKFLOW_LABEL = "gen/workflow"
"""On the objects and pods of a step of a scheduled pipeline: the name of the workflow. All have the same `gen/run`."""
VOLUME_LABEL = "gen/volume"
ACCELERATOR_LABEL = "gen/accelerator"
"""On pods: the accelerator of the overlay that they request."""
DEVICES_LABEL = "gen/devices"
"""On pods: the number of devices that they get by claims."""
METRICS = "gen/metrics"
"""On the workload of a run: how its program prints its metrics, as JSON."""
VALUES = "gen/values"
"""On the workload of a run of a sweep: the values of its parameters, as JSON."""
QUEUE = "gen/queue"
"""The queue of the overlay that a run uses. Without declared queues, a run only has the label of Kueue."""
