"""A job with volumes, and the engines of its overlay."""

from __future__ import annotations

JOB = "kind: {kind}\nimage: a:1\ncommand: x\ndata: {{nas: /data}}\ntensorboard: true\nfiles: {{/etc/a: b}}\n"
ENGINES = {
    "": "",
    "argocd": "gitops: {argocd: {repoURL: https://git.example.com/a.git}}\n",
    "flux": "gitops: {flux: {repoURL: https://git.example.com/a.git}}\n",
}
