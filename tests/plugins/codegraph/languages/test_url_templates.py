"""Paths of URLs in one spelling, and which routes a request fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.codegraph.languages.url_templates import joined, matched, url_template

SEGMENTS = st.lists(st.sampled_from(["users", "v1", "me", "*"]), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("written", "path", "host"),
    [
        ("/", "/", ""),
        ("/users/", "/users", ""),
        ("/users/{id}", "/users/*", ""),
        ("/users/{id:int}/files", "/users/*/files", ""),
        ("/users/:id", "/users/*", ""),
        ("articles/<int:year>/", "/articles/*", ""),
        (r"^articles/(?P<year>[0-9]{4})/$", "/articles/*", ""),
        ("/files/{name:path}", "/files/**", ""),
        ("/files/{rest...}", "/files/**", ""),
        ("/files/*rest", "/files/**", ""),
        ("/static/*", "/static/**", ""),
        ("${BASE}/users/${id}?page=${page}#top", "/users/*", ""),
        ("{base}/users/%s", "/users/*", ""),
        ("%s/users/%d", "/users/*", ""),
        ("/users/user-${id}.json", "/users/*", ""),
        ("/v1/users:batch", "/v1/users:batch", ""),
        ("http://localhost:8000/users", "/users", ""),
        ("http://${host}/users", "/users", ""),
        ("https://api.example.org/users/1", "/users/1", "api.example.org"),
        ("https://api.example.org", "/", "api.example.org"),
    ],
)
def test_every_spelling_of_a_path_is_one(written: str, path: str, host: str) -> None:
    assert url_template(written) == (path, host)


@pytest.mark.parametrize(
    ("route", "request_", "parts"),
    [
        ("/users", "/users", 1),
        ("/users/*", "/users/7", 2),
        ("/users/*", "/users/*", 2),
        ("/users/*", "/api/v2/users/7", 2),
        ("/users/me", "/users/me", 2),
        ("/", "/", 1),
        ("/files/**", "/files/a/b", 1),
        ("/users/me", "/users/*", 0),
        ("/users/*", "/users", 0),
        ("/users/*", "/groups/7", 0),
        ("/*", "/users", 0),
        ("/**", "/users", 0),
        ("/", "/users", 0),
        ("/files/**", "/files", 0),
    ],
)
def test_a_request_fits_a_route_whose_every_part_it_has(
    route: str, request_: str, parts: int
) -> None:
    assert matched(route, request_) == parts


@given(SEGMENTS, SEGMENTS)
def test_a_route_that_fits_below_a_prefix_fits_below_any(
    route: list[str], above: list[str]
) -> None:
    path = "/" + "/".join(route)
    below = matched(path, joined("/" + "/".join(above), path))
    assert below == (len(route) if any(each != "*" for each in route) else 0) or above == []


@given(SEGMENTS)
def test_a_spelling_is_its_own_spelling(parts: list[str]) -> None:
    path = url_template("/" + "/".join(each.replace("*", "{x}") for each in parts)).path
    assert url_template(path.replace("*", "{x}")).path == path
