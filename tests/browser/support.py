"""Pages in Chromium, with everything that they log or request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


_PAINTED = """\
() => new Promise(done => {
  const look = () => {
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    paint ? done(paint.startTime) : setTimeout(look, 20);
  };
  look();
})"""
_SEARCH = """\
text => {
  const start = performance.now();
  const field = document.getElementById('search');
  field.value = text;
  field.dispatchEvent(new Event('input'));
  document.body.offsetHeight;
  return performance.now() - start;
}"""


def painted(page: Any) -> float:
    """Milliseconds until the page shows something: the least of three times."""
    times = []
    for _ in range(3):
        page.reload()
        times.append(page.evaluate(_PAINTED))
    return float(min(times))


def searched(page: Any, text: str) -> float:
    """Milliseconds that a search takes."""
    return float(page.evaluate(_SEARCH, text))


class Browser:
    """Contexts of Chromium without network."""

    def __init__(self, chromium: Any, folder: Path) -> None:
        self.chromium, self.folder = chromium, folder
        self.noise: list[str] = []
        """Console messages, errors, and requests besides that of the page."""
        self.blocked: list[str] = []
        """Requests that failed, with the reason."""
        self._contexts: list[Any] = []

    def open(self, text: str, *, scheme: str = "light", width: int = 1280, bypass_csp: bool = False) -> Any:
        """A page with this text, opened from a file. `bypass_csp` is for tests that add a script of their own."""
        file = self.folder / f"page-{len(self._contexts)}.html"
        file.write_text(text, "utf-8")
        context = self.chromium.new_context(
            color_scheme=scheme, viewport={"width": width, "height": 900}, offline=True, bypass_csp=bypass_csp
        )
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self.noise.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.noise.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self._requested(request.url, file.as_uri()))
        page.on("requestfailed", lambda request: self.blocked.append(f"{request.url}: {request.failure}"))
        page.goto(file.as_uri())
        return page

    def _dialog(self, dialog: Any) -> None:
        self.noise.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _requested(self, url: str, own: str) -> None:
        if url.partition("#")[0] != own and not url.startswith("data:"):
            self.noise.append(f"request: {url}")

    def close(self) -> None:
        for context in self._contexts:
            context.close()
