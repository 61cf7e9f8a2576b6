"""A job."""

from __future__ import annotations

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
