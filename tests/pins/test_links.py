"""Links to comparisons of commits."""

from __future__ import annotations

from gen.pins.git import comparison
from tests.cases import for_each


@for_each(
    ("url", "page"),
    [
        ("https://github.com/team/train.git", "https://github.com/team/train/compare/a1...b2"),
        ("git@github.com:team/train.git", "https://github.com/team/train/compare/a1...b2"),
        ("ssh://git@gitlab.example.com:2222/a/b/c.git", "https://gitlab.example.com/a/b/c/-/compare/a1...b2"),
        ("https://bitbucket.org/a/b", "https://bitbucket.org/a/b/branches/compare/b2..a1"),
        ("https://git.example.com/a/b", ""),
        ("https://github.com/a b", ""),
        ("https://github.com/a/b?c=](https://evil.example.com)", ""),
    ],
)
def test_the_page_of_a_server(url: str, page: str) -> None:
    assert comparison(url, "a1", "b2") == page
