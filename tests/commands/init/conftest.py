"""What machines of CI share."""

from __future__ import annotations

import pytest

from tests.commands.init.support import quick_environments


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables of a machine of CI that makes environments of Python in little time."""
    return quick_environments(tmp_path_factory.mktemp("quick"))
