"""Effects of the installation on the settings of Argo CD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.controllers.argocd import argo_cd as argo
from tests.controllers.argocd.delivery import JOB, Delivery

if TYPE_CHECKING:
    from pathlib import Path

    from tests.controllers.argocd.argo_cd import ArgoCD
    from tests.controllers.programs import Programs

OWN = {"argocd-cm": {"oidc.config": "name: SSO\n", "url": "https://argocd.example.com"}}
"""Settings of the owner of Argo CD."""
INSTALLED = {"client": (), "server": ("--server-side", "--force-conflicts")}


def data(cd: ArgoCD, namespace: str) -> dict[str, dict[str, Any]]:
    names = ("argocd-cm", "argocd-notifications-cm")
    return {
        name: yaml.safe_load(cd.kubectl("get", "configmap", name, "-n", namespace, "-o", "yaml")).get("data", {})
        for name in names
    }


@pytest.mark.parametrize("installed", INSTALLED)
def test_settings(delivery: Delivery, argo_cd: ArgoCD, controllers: Programs, tmp_path: Path, installed: str) -> None:
    """The ConfigMaps keep all that the release and its owner set, also after an upgrade and an uninstallation."""
    namespace = f"argocd-{installed}"
    argo_cd.cluster.add_namespaces([namespace])
    release = argo.write(tmp_path / "release.yaml", argo.settings(argo.installation(controllers)))
    apply = ("apply", "--namespace", namespace, *INSTALLED[installed], "-f", release)
    argo_cd.kubectl(*apply)
    for name, values in OWN.items():
        patch = yaml.safe_dump({"data": values})
        argo_cd.kubectl("patch", "configmap", name, "-n", namespace, "--type=merge", f"--patch={patch}")
    before = data(argo_cd, namespace)
    assert "resource.exclusions" in before["argocd-cm"]

    overlay = delivery.repository.root / f"overlays/{delivery.name}/overlay.yaml"
    text = overlay.read_text("utf-8").replace("{argocd: {", f"{{argocd: {{namespace: {namespace}, ")
    overlay.write_text(text, "utf-8")
    delivery.job(JOB.replace("batch", "pytorch"))
    delivery.commit()
    delivery.install(namespace)
    after = data(argo_cd, namespace)
    for name, values in before.items():
        assert after[name].items() >= values.items(), name
        assert after[name].keys() > values.keys(), name

    argo_cd.kubectl(*apply)
    assert data(argo_cd, namespace) == after, "an upgrade of Argo CD applies its release again"

    delivery.install(namespace)
    assert data(argo_cd, namespace) == after
    argo_cd.kubectl("delete", "--ignore-not-found", "-f", str(delivery.bundle))
    assert data(argo_cd, namespace) == after, "the settings stay when the bundle is removed"
