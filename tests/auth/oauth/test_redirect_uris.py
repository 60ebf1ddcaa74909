import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AnyUrl, TypeAdapter

from auth.oauth.redirect_uris import matches, problem


@pytest.mark.parametrize(
    "uri",
    [
        "https://claude.ai/api/mcp/auth_callback",
        "https://app.example:8443/callback?tenant=1",
        "https://[2606:4700::1]/callback",
        "http://localhost:33418",
        "http://localhost/callback",
        "http://127.0.0.1:6274/oauth/callback",
        "http://[::1]:1234/",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "vscode://mcp/callback",
        "com.example.app:/callback",
        "claude:callback",
    ],
)
def test_a_client_may_have_it(uri):
    assert problem(uri) is None


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "callback",
        "/callback",
        "//app.example/callback",
        "https://",
        "https:/callback",
        "https:///callback",
        "https://:443/",
        "https://app.example:99999/",
        "https://someone@app.example/",
        "https://app.example\\@other.example/",
        "https://app.example/#part",
        "https://app.example/a b",
        "https://app.example/\r\nSet-Cookie:a=b",
        "https://äpp.example/",
        "https://*.example/callback",
        "https://app.example/" + "a" * 500,
        "http://app.example/callback",
        "http://localhost.example/callback",
        "http://localhost@app.example/callback",
        "http://localhost:80@app.example/callback",
        "http://127.0.0.1.example/",
        "http://192.168.1.1/",
        "javascript:alert(1)",
        "JavaScript://app.example/%0aalert(1)",
        "data:text/html,hello",
        "file:///callback",
        "about:blank",
        "blob:https://app.example/1",
        "vbscript:x",
        "ws://app.example/",
        "ms-msdt:/id",
        "cursor:",
    ],
)
def test_no_client_may_have_it(uri):
    assert problem(uri) is not None


@given(st.text(max_size=60))
def test_what_a_client_may_have_can_be_handed_to_the_sdk(text):
    for uri in (text, f"https://{text}", f"http://localhost{text}", f"app:{text}"):
        if problem(uri) is None:
            TypeAdapter(AnyUrl).validate_python(uri)


REGISTERED = ("https://app.example/callback", "http://localhost:1234/callback?a=b", "app:/back")


@pytest.mark.parametrize("uri", REGISTERED)
def test_what_was_registered_matches(uri):
    assert matches(REGISTERED, uri)


@pytest.mark.parametrize(
    "uri", ["http://localhost/callback?a=b", "http://localhost:65535/callback?a=b"]
)
def test_the_port_of_a_listener_on_the_users_machine_may_be_another(uri):
    assert matches(REGISTERED, uri)


@pytest.mark.parametrize(
    "uri",
    [
        "https://app.example/callback/",
        "https://app.example/callback?x=1",
        "https://app.example:8443/callback",
        "https://app.example/Callback",
        "https://APP.example/callback",
        "https://app.example/x/../callback",
        "https://app.example/%63allback",
        "https://app.example.evil.example/callback",
        "http://app.example/callback",
        "https://localhost:1234/callback?a=b",
        "http://127.0.0.1:1234/callback?a=b",
        "http://localhost:1234/callback",
        "http://localhost:1234/callback?a=b&c=d",
        "http://localhost:80@evil.example/callback?a=b",
        "http://localhost:/callback?a=b",
        "app:/back2",
        "",
    ],
)
def test_anything_else_does_not_match(uri):
    assert not matches(REGISTERED, uri)
