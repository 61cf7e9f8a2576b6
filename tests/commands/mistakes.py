"""A job, and common mistakes in it."""

from __future__ import annotations

JOB = """\
# Fine-tuning of the base model
kind: pytorch   # two nodes

image: registry.example.com/team/train:1.0
command: |
  python train.py  # gpu: 1
  echo done
workers: 2
gpus: 8
memory: 64Gi   # for the loader
timeout: 12h
restart: OnFailure
env:
  DEBUG: "on"
  HOME_DIR: "@home"
  LR: "{{ params.lr }}"
params: {lr: 1e-3}
data: {nas: {path: /data, readOnly: true}}
tensorboard: {logdir: /data/logs}
"""
MISTAKES = [
    ("workers: 2", "worker: 2"),
    ("gpus: 8", "gpu: 8"),
    ("gpus: 8", "gpus: 8.0"),
    ("memory: 64Gi", "memory: 64 GiB"),
    ("memory: 64Gi", "memroy: 64Gi"),
    ("timeout: 12h", "timeout: 12 hours"),
    ("timeout: 12h", "time_out: 12h"),
    ("restart: OnFailure", "restart: on-failure"),
    ('HOME_DIR: "@home"', "HOME_DIR: @home"),
    ('LR: "{{ params.lr }}"', "LR: {{ params.lr }}"),
    ("readOnly: true", "readOnly: yes"),
    ("readOnly: true", "readonly: true"),
    ("{logdir:", "{logDir:"),
    ("image:", "Image:"),
    ("params: {lr", "parms: {lr"),
    ("workers: 2", "workers:2"),
    ("workers: 2", "workers\uff1a2"),
    ("kind: pytorch", "kind: pytroch"),
]
"""Text of the job, and the mistake."""
UNCERTAIN = [
    ("gpus: 8", "cpus_or_gpus: 8"),
    ("timeout: 12h", "timeout: 12"),
    ("timeout: 12h", "timeout: 12 parsecs"),
    ("restart: OnFailure", "restart: sometimes"),
    ("workers: 2", "workers: two"),
    ("gpus: 8", "gpus: 8\ngpu: 4"),
    ("timeout: 12h", 'timeout: "{{ params.t }}"'),
    ("memory: 64Gi", "memory: 64GB"),
]
PRINTED = [
    ("memory: 64Gi", "memory: 64"),
    ("gpus: 8", "gpus: 8,000"),
    ("nas: {path", "nsa: {path"),
    ("workers: 2", "replicas: 2"),
]
"""Mistakes with one correction in their hint, although the author may have meant something else."""
