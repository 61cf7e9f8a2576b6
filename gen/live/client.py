"""Requests to an API server by the official client: the only file that imports it. Every request is a GET.

The client has no types that mypy can use, and its generated methods differ between releases. So gen uses the parts that
are the same in all releases: contexts with their credentials, TLS and proxies (`kubernetes.config`), the pool of
connections, and port forwarding. `docs/decisions.md` has the reasons.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote, urlencode

import orjson

from gen import LIVE_EXTRA
from gen.base import Code, UsageError, at
from gen.base.codes import clusters as codes
from gen.kubernetes.objects import Body


class ClusterError(Exception):
    """No answer, as a finding: its code, message and hint. No message contains a credential."""

    def __init__(self, code: Code, message: str, hint: str) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint


class NotFoundError(Exception):
    """The server has no such object, resource or API version."""


class ExpiredError(Exception):
    """The server has forgotten the version of a list that a page or a watch continues."""

    def __init__(self, fresh: str = "") -> None:
        super().__init__(fresh)
        self.fresh = fresh
        """A token that continues with the present version; empty without one."""


_BUSY: Final = frozenset({429, 500, 502, 503, 504})
_ATTEMPTS: Final = 3
_PAUSE_S: Final = 0.3
_LONGEST_ERROR: Final = 300
_LONGEST_LINE: Final = 16 << 20
_CHUNK: Final = 1 << 16
_MOST_CONNECTIONS: Final = 256
"""A watch holds one for each kind and namespace."""


def require_client() -> None:
    """UsageError if the client is not installed."""
    try:
        import kubernetes  # noqa: F401 - an extra
    except ImportError:
        raise UsageError(f"this command needs the Kubernetes client: {LIVE_EXTRA}") from None


def contexts(kubeconfig: str | None) -> tuple[dict[str, str], str]:
    """Server by name of the context, and the name of the current one. Without a file, there are none.

    UsageError if the file that the user named cannot be read.
    """
    from kubernetes.config import ConfigException, kube_config

    try:  # list_kube_config_contexts needs a current context, which a file may lack
        merged = kube_config.KubeConfigMerger(kubeconfig or kube_config.KUBE_CONFIG_DEFAULT_LOCATION).config
        listed = [one.value for one in merged["contexts"]]
        active = merged.safe_get("current-context")
    except (ConfigException, OSError, TypeError):  # there is no file, or it has no list
        if kubeconfig is not None:
            raise UsageError(
                f"--kubeconfig {kubeconfig}: the file cannot be read, or is not a kubeconfig file"
            ) from None
        return {}, ""
    names = {str(one["name"]): str(at(one, "context", "cluster") or "") for one in listed}
    return names, str(active) if active in names else ""


class Api:
    """One context of a kubeconfig file: a server and credentials."""

    def __init__(self, context: str, kubeconfig: str | None, seconds: float) -> None:
        self.context, self._kubeconfig, self._seconds = context, kubeconfig, seconds
        self._long: set[Any] = set()

    @cached_property
    def _client(self) -> Any:
        from kubernetes import client, config

        logging.getLogger("urllib3").setLevel(logging.ERROR)  # it warns on the terminal of the user
        settings = client.Configuration()
        settings.connection_pool_maxsize = _MOST_CONNECTIONS
        try:
            config.load_kube_config(config_file=self._kubeconfig, context=self.context, client_configuration=settings)
            return client.ApiClient(configuration=settings)
        except (config.ConfigException, OSError) as error:
            # the message may contain the output of a credential program
            program = "exec" in str(error)
            what = "the program that gets its credentials fails" if program else "its kubeconfig file is not valid"
            hint = f"run `kubectl --context {self.context} version`"
            raise ClusterError(codes.CLUSTER_CONTEXT, f"cannot use context `{self.context}`: {what}", hint) from None

    def get(
        self, path: str, query: Mapping[str, str] | None = None, read: Callable[[bytes], Body] | None = None
    ) -> Body:
        """The body of an answer, with the limit of time for all of it. `read` decodes it, or only a part of it."""
        for attempt in range(1, _ATTEMPTS + 1):
            status, raw = self._answer(path, query)
            if status not in _BUSY or attempt == _ATTEMPTS:
                break
            time.sleep(_PAUSE_S * attempt)
        if status != HTTPStatus.OK:
            raise self._error(status, parsed(raw))
        return (read or parsed)(raw)

    def lines(self, path: str, query: Mapping[str, str] | None = None, idle: float | None = None) -> Iterator[bytes]:
        """Lines of a long answer as they come. It ends when the server ends it, is cut off, or is silent for `idle`."""
        response = self._request(path, query, idle or self._seconds, long=True)
        self._long.add(response)
        try:
            if response.status != HTTPStatus.OK:
                raise self._error(response.status, parsed(response.read()))
            yield from _lines(response)
        finally:
            self._long.discard(response)
            response.close()

    def stop(self) -> None:
        """End all long answers, so that no thread waits for them."""
        for response in list(self._long):
            if hasattr(response, "shutdown"):  # since urllib3 2.3; before, they end with the process
                with suppress(ValueError, OSError):
                    response.shutdown()

    def text(self, path: str, query: Mapping[str, str] | None = None, most: int | None = None) -> bytes:
        """An answer that is not JSON, such as the log of a container; only about its first `most` bytes."""
        status, raw = self._answer(path, query, most)
        if status != HTTPStatus.OK:
            raise self._error(status, parsed(raw))
        return raw

    def forward(self, namespace: str, pod: str, port: int) -> socket.socket:
        """A connection to a port of a pod."""
        from kubernetes import client, stream

        try:
            call = client.CoreV1Api(self._client).connect_get_namespaced_pod_portforward
            forwarded = stream.portforward(call, pod, namespace, ports=str(port))
        except client.ApiException as error:
            status = int(error.status or 0)
            if status:
                raise self._error(status, {}) from None
            message = f"cannot forward a port of pod `{pod}`: {_short(error.reason)}"
            hint = "the user of the context needs `get` and `create` on `pods/portforward`"
            raise ClusterError(codes.CLUSTER_FORBIDDEN, message, hint) from None
        connection = forwarded.socket(port)
        connection.setblocking(True)
        return connection  # type: ignore[no-any-return] # the client has no types

    def _answer(self, path: str, query: Mapping[str, str] | None, most: int | None = None) -> tuple[int, bytes]:
        deadline = time.monotonic() + self._seconds
        response = self._request(path, query, self._seconds)
        try:
            parts, size = [], 0
            for part in response.stream(_CHUNK):
                parts.append(part)
                size += len(part)
                if most is not None and size > most:
                    response.close()
                    break
                if time.monotonic() > deadline:
                    raise self._timeout()
            return int(response.status), b"".join(parts)
        except self._errors as error:
            raise self._no_answer(error) from None
        finally:
            response.release_conn()

    def _request(self, path: str, query: Mapping[str, str] | None, seconds: float, *, long: bool = False) -> Any:
        import urllib3

        client = self._client
        url = f"{client.configuration.host}{quote(path)}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Accept": "*/*" if long else "application/json", "User-Agent": "gitops-gen"}
        for one in client.configuration.auth_settings().values():
            headers[one["key"]] = one["value"]
        try:
            return client.rest_client.pool_manager.request(
                "GET",
                url,
                headers={name: value for name, value in headers.items() if value},
                timeout=urllib3.Timeout(connect=self._seconds, read=seconds),
                retries=urllib3.Retry(total=0, redirect=False),
                redirect=False,
                preload_content=False,
            )
        except self._errors as error:
            raise self._no_answer(error) from None

    @cached_property
    def _errors(self) -> tuple[type[Exception], ...]:
        import urllib3

        return (urllib3.exceptions.HTTPError, OSError)

    def _no_answer(self, error: Exception) -> ClusterError:
        import urllib3

        cause = getattr(error, "reason", None) or error
        slow = (urllib3.exceptions.TimeoutError, TimeoutError)
        refused = isinstance(cause, urllib3.exceptions.NewConnectionError)  # a time-out in some releases
        if not refused and (isinstance(error, slow) or isinstance(cause, slow)):
            return self._timeout()
        hint = "check the network, and `server` of the context in the kubeconfig file"
        if isinstance(cause, urllib3.exceptions.SSLError):
            hint = "check `certificate-authority` and `server` of the context in the kubeconfig file"
        return ClusterError(codes.CLUSTER_UNREACHABLE, f"cannot reach context `{self.context}`: {_cause(cause)}", hint)

    def _timeout(self) -> ClusterError:
        message = f"context `{self.context}` did not answer within {self._seconds:g} s"
        return ClusterError(codes.CLUSTER_TIMEOUT, message, "run the command again, or raise `--request-timeout`")

    def _error(self, status: int, body: Body) -> Exception:
        reason = _short(str(body.get("message") or f"status {status}"))
        if status == HTTPStatus.NOT_FOUND:
            return NotFoundError(reason)
        if status == HTTPStatus.GONE:
            return ExpiredError(str(at(body, "metadata", "continue") or ""))
        if status == HTTPStatus.UNAUTHORIZED:
            message = f"context `{self.context}` does not accept the credentials: {reason}"
            return ClusterError(codes.CLUSTER_LOGIN, message, "log in as for kubectl, and run the command again")
        if status == HTTPStatus.FORBIDDEN:
            message = f"context `{self.context}`: {reason}"
            return ClusterError(codes.CLUSTER_FORBIDDEN, message, "grant the permissions in docs/live.md")
        message = f"context `{self.context}` answers with an error: {reason}"
        return ClusterError(codes.CLUSTER_ANSWER, message, "run the command again")


def parsed(raw: bytes) -> Body:
    """All of an answer; empty if it is not a JSON object."""
    try:
        body = orjson.loads(raw)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _lines(response: Any) -> Iterator[bytes]:
    """Complete lines. An incomplete last line of a cut connection is dropped."""
    import urllib3

    rest = b""
    try:
        for part in response.stream(_CHUNK):
            *whole, rest = (rest + part).split(b"\n")
            yield from whole
            if len(rest) > _LONGEST_LINE:  # a program that ends no line must not fill the memory
                yield rest
                rest = b""
    except (urllib3.exceptions.HTTPError, OSError):
        return
    if rest:
        yield rest


def _cause(error: BaseException) -> str:
    """The innermost reason, without the text around it."""
    inner = error.__cause__ or error.__context__
    while inner is not None and not isinstance(error, (socket.gaierror, ConnectionError)):
        error, inner = inner, inner.__cause__ or inner.__context__
    return _short(str(getattr(error, "strerror", None) or error))


def _short(text: object) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= _LONGEST_ERROR else f"{line[:_LONGEST_ERROR]}…"
