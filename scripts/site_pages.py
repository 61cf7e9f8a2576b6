"""MkDocs hook: files at the top of the repository are pages of the site, too, and links lead to the page of a file.

Pages link to files as they are in the repository, so that the same link works on a Git server and in the site. Each
code of `findings.md` and `rules.md` has a page of its own with an example, and these two list them.
`on_post_page` corrects pages of the theme where they fail the rules of axe, the checker of accessibility.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mkdocs.structure.files import File, Files, InclusionLevel

from scripts.examples import example

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

_ROOT = Path(__file__).parent.parent
TOP: Final = {
    f"{name}.md": f"project/{name.lower()}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")
}
"""Pages of files outside of `docs/`."""
_OF_PAGES: Final = {page: file for file, page in TOP.items()}
_LINK = re.compile(r"\]\(([^)\s:#]+)((?:#[^)]*)?)\)")


_CATALOGUES: Final = ("findings.md", "rules.md")
_BOOST: Final = 4
"""How much more the page of a code counts in a search than a section with the same title."""
_CODE = re.compile(r"(?ms)^### (\S+)\n\n(.*?)(?=^##|\Z)")
"""A code with its explanation."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for file, page in TOP.items():
        files.append(File.generated(config, page, content=(_ROOT / file).read_text("utf-8")))
    for catalogue in _CATALOGUES:
        for name, about in _CODE.findall((_ROOT / "docs" / catalogue).read_text("utf-8")):
            text = "\n".join(
                (f"# {name}\n", about.rstrip(), "", *example(name), f"[All codes](../{catalogue}#{name})\n")
            )
            page = f"findings/{name}.md"
            files.append(File.generated(config, page, content=text, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    if page.file.src_uri in _CATALOGUES:
        page.meta["search"] = {"exclude": True}
        markdown = _CODE.sub(_listed, markdown)
    elif page.file.src_uri.startswith("findings/"):
        page.meta["search"] = {"boost": _BOOST}
    return linked(markdown, page.file.src_uri)


def _listed(code: re.Match[str]) -> str:
    """A code in the list of all: a link to its page, and what it reports."""
    name, about = code.groups()
    summary = next(line for line in about.split("\n\n") if not _SEVERITY.match(line))
    return f"### [{name}](findings/{name}.md) {{ #{name} }}\n\n{summary.strip()}\n\n"


_SEVERITY = re.compile(r"(Error|Warning|Note)\b.*\.$")
"""The first line of a rule."""


def linked(markdown: str, page: str) -> str:
    """The text of a page with links between pages of the site instead of between files of the repository."""
    file = _OF_PAGES.get(page, f"docs/{page}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(file), link[1]))
        there = TOP.get(target, target.removeprefix("docs/"))
        if there == target:  # no page: MkDocs reports it
            return link[0]
        return f"]({posixpath.relpath(there, posixpath.dirname(page) or '.')}{link[2]})"

    return _LINK.sub(moved, markdown)


_STYLE: Final = """\
.md-typeset a:not(.headerlink, .md-button) { text-decoration: underline; text-underline-offset: 2px; }
.md-tabs__link { opacity: 1; }
[data-md-color-scheme="default"] { --md-default-fg-color--light: hsla(0, 0%, 0%, 0.66); }
[data-md-color-scheme="slate"][data-md-color-primary] {
  --md-typeset-a-color: #8fb4ff; --md-code-hl-constant-color: #b3a7f0; --md-code-hl-number-color: #f08b7f;
}
"""
"""Links in text differ not by their color alone, and texts have enough contrast."""
_SCRIPT: Final = """\
const mend = () => {
  for (const node of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) node.tabIndex = 0;
  document.querySelectorAll(".md-code__nav").forEach((node, index) => node.setAttribute("aria-label", `Code ${index}`));
};
addEventListener("load", () => {
  mend();
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
  const query = document.querySelector(".md-search__input"), list = document.querySelector(".md-search-result__list");
  const { base } = JSON.parse(document.getElementById("__config").textContent);
  let pages;
  const read = async () => {
    const { docs } = await (await fetch(`${base}/search/search_index.json`)).json();
    pages = new Map(docs.filter((doc) => !doc.location.includes("#")).map((doc) => [doc.title.toLowerCase(), doc]));
    lead();
  };
  const lead = () => {
    const page = pages?.get(query.value.trim().toLowerCase());
    const address = page && new URL(`${base}/${page.location}`, location.href).href;
    if (!page || list.querySelector("a")?.href.split(/[?#]/)[0] === address) return;
    const made = (tag, name, ...inside) => {
      const node = Object.assign(document.createElement(tag), { className: name });
      node.append(...inside);
      return node;
    };
    const article = made("article", "md-search-result__article md-typeset", made("h1", "", page.title));
    article.dataset.mdScore = "Infinity";
    const link = Object.assign(made("a", "md-search-result__link", article), { href: address });
    list.prepend(made("li", "md-search-result__item", link));
  };
  query.addEventListener("focus", () => read().catch(() => {}), { once: true });
  query.addEventListener("input", lead);
  new MutationObserver(lead).observe(list, { childList: true });
});
"""
"""Tables and texts that scroll can be reached with the keyboard, and buttons of code have names.

A search for the title of a page finds it first. The search of the theme splits names at their hyphens, and takes the
last word for the start of one.
"""
_SEARCH: Final = 'data-md-component="search" role="dialog"'
_SECTION = re.compile(r'aria-labelledby="__nav_([0-9_]+)_label"')
"""The label is empty where a page is the title of its section."""


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:  # noqa: ARG001
    """The page of a missing address is a template."""
    return mended(output_content) if template_name.endswith(".html") else output_content


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:  # noqa: ARG001
    return mended(output)


def mended(output: str) -> str:
    """A page of the theme that all people can use."""
    named = _SECTION.sub(lambda found: f'aria-label="Section {found[1].replace("_", ".")}"', output)
    named = named.replace(_SEARCH, f'{_SEARCH} aria-label="Search"')
    cells = named.replace("<th></th>", "<td></td>")
    styled = cells.replace("</head>", f"<style>{_STYLE}</style></head>", 1)
    return styled.replace("</body>", f"<script>{_SCRIPT}</script></body>", 1)
