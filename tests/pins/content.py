"""A good answer of a registry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.pins import servers
from tests.pins.servers import INDEX, reply

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler

BODY = json.dumps(
    {"schemaVersion": 2, "mediaType": INDEX, "manifests": [{"platform": {"os": "linux", "architecture": "amd64"}}]}
)
DIGEST = servers.digest_of(BODY.encode())


def good(handler: BaseHTTPRequestHandler) -> None:
    reply(handler, 200, BODY.encode(), Docker_Content_Digest=DIGEST, Content_Type=INDEX)
