"""Pages, signing in with a wallet, OAuth from registration to revocation, and their refusals."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
from eth_account import Account
from eth_account.messages import encode_defunct

from tests.answers import world
from tests.answers.recorder import Recorder

KEY = Account.from_key("0x" + "4b" * 32)
CALLBACK = "http://127.0.0.1:7777/callback"
VERIFIER = "a-verifier-that-is-as-long-as-the-specification-asks-for"
_HTML = {"accept": "text/html,application/xhtml+xml", "sec-fetch-site": "none"}
_FORM = {"accept": "text/html", "origin": world.ADDRESS, "sec-fetch-site": "same-origin"}


def pages(recorder: Recorder) -> None:
    """What a browser sees: as a stranger, signing in, and signed in."""
    ask = recorder.ask
    for path in ("/", "/signin", "/signin?next=/account", "/account", "/consent", "/nothing"):
        ask(f"01 stranger {path}", "GET", path, headers=_HTML)
    ask("01 a page as JSON", "GET", "/")
    ask("01 a signed-in tier", "GET", "/", "member", headers=_HTML)
    for name in ("tokens.css", "porch.css", "porch.svg", "porch.js", "wallet.js", "nothing.css"):
        ask(f"01 asset {name}", "GET", f"/assets/{name}")
    for path in ("/signout", "/account/tokens", "/consent", "/signin/wallet"):
        ask(f"02 form {path} without a token", "POST", path, headers=_FORM, data={})
        foreign = {**_FORM, "origin": "https://evil.example.org", "sec-fetch-site": "cross-site"}
        ask(f"02 form {path} from elsewhere", "POST", path, headers=foreign, data={})
    ask("03 wallet page", "GET", f"/signin/wallet?address={KEY.address}&chain=1", headers=_HTML)
    ask("03 wallet on no chain", "GET", f"/signin/wallet?address={KEY.address}&chain=x")
    ask("03 wallet on another chain", "GET", f"/signin/wallet?address={KEY.address}&chain=5")
    ask("03 wallet without an address", "GET", "/signin/wallet?address=0x12&chain=1")
    _sign_in(recorder)
    for path in ("/", "/account", "/signin", "/account/export"):
        ask(f"05 person {path}", "GET", path, headers=_HTML)
    _tokens(recorder)


def _sign_in(recorder: Recorder) -> None:
    page = recorder.ask("04 sign-in page", "GET", "/signin?next=/account", headers=_HTML)
    fields = form(page.text, "/signin/wallet")
    path = f"/signin/wallet?address={KEY.address}&chain=1"
    message = recorder.ask("04 message to sign", "GET", path).json()["message"]
    signed = KEY.sign_message(encode_defunct(text=message)).signature.hex()
    sent = {**fields, "message": message, "signature": "0x" + signed.removeprefix("0x")}
    bad = {**sent, "signature": "0x" + "11" * 65}
    recorder.ask("04 a bad signature", "POST", "/signin/wallet", headers=_FORM, data=bad)
    recorder.ask("04 signed in", "POST", "/signin/wallet", headers=_FORM, data=sent)


def _tokens(recorder: Recorder) -> None:
    page = recorder.http.get("/account", headers=_HTML)
    fields = form(page.text, "/account/tokens")
    for case, name in (("made", "ci"), ("of the same name", "ci"), ("of no name", "")):
        data = {**fields, "name": name, "expires": "30"}
        path = "/account/tokens"
        recorder.ask(f"06 token {case}", "POST", path, headers=_FORM, data=data)
    recorder.ask("06 account with a token", "GET", "/account", headers=_HTML)


def oauth(recorder: Recorder) -> None:
    """What an MCP client does to be let in, and what it is told where it errs."""
    ask = recorder.ask
    for path in (
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/oauth-authorization-server/nothing",
        "/.well-known/openid-configuration",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource/members/mcp",
        "/.well-known/oauth-protected-resource/mcp/knowledge",
        "/.well-known/oauth-protected-resource/nothing",
    ):
        ask(f"01 GET {path}", "GET", path)
    keys = recorder.http.get("/.well-known/jwks.json")
    shapes = [sorted(key) for key in keys.json()["keys"]]
    recorder.keep("01 shape of the keys", {"status": keys.status_code, "keys": shapes})
    client = {"redirect_uris": [CALLBACK], "client_name": "Answers"}
    public = {**client, "token_endpoint_auth_method": "none"}
    for case, body in (
        ("without addresses", {"client_name": "Answers"}),
        ("with a bad address", {**public, "redirect_uris": ["javascript:alert(1)"]}),
        ("with http elsewhere", {**public, "redirect_uris": ["http://example.org/cb"]}),
        ("with a bad method", {**public, "token_endpoint_auth_method": "magic"}),
    ):
        ask(f"02 register {case}", "POST", "/register", json=body)
    ask("02 register no JSON", "POST", "/register", content=b"{")
    id_ = ask("02 register", "POST", "/register", json=public).json()["client_id"]
    ask("02 register with a secret", "POST", "/register", json=client)
    _authorize(recorder, id_)


def _authorize(recorder: Recorder, client: str) -> None:
    ask = recorder.ask
    digest = hashlib.sha256(VERIFIER.encode()).digest()
    wanted = {
        "response_type": "code",
        "client_id": client,
        "redirect_uri": CALLBACK,
        "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
        "code_challenge_method": "S256",
        "state": "a-state",
        "resource": f"{world.ADDRESS}/mcp",
    }
    for case, change in (
        ("an unknown client", {"client_id": "nobody"}),
        ("another address", {"redirect_uri": "http://127.0.0.1:7777/other"}),
        ("no challenge", {"code_challenge": ""}),
        ("a plain challenge", {"code_challenge_method": "plain"}),
        ("a token at once", {"response_type": "token"}),
        ("another resource", {"resource": "https://evil.example.org/mcp"}),
        ("an unknown scope", {"scope": "everything"}),
    ):
        query = urlencode({**wanted, **change})
        ask(f"03 authorize {case}", "GET", f"/authorize?{query}", headers=_HTML)
    sent = ask("03 authorize", "GET", f"/authorize?{urlencode(wanted)}", headers=_HTML)
    where = sent.headers["location"].removeprefix(world.ADDRESS)
    page = ask("04 consent page", "GET", where, headers=_HTML)
    fields = form(page.text, "/consent")
    ask("04 deny", "POST", "/consent", headers=_FORM, data={**fields, "answer": "deny"})
    allow = {**fields, **buttons(page.text)}
    answer = ask("04 allow", "POST", "/consent", headers=_FORM, data=allow)
    code = parse_qs(urlsplit(answer.headers.get("location", "")).query).get("code", [""])[0]
    _exchange(recorder, client, code)


def _exchange(recorder: Recorder, client: str, code: str) -> None:
    ask = recorder.ask
    right = {
        "grant_type": "authorization_code",
        "code": code,
        "client_id": client,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
        "resource": f"{world.ADDRESS}/mcp",
    }
    for case, change in (
        ("an unknown client", {"client_id": "nobody"}),
        ("an unknown code", {"code": "nonsense"}),
        ("another grant", {"grant_type": "password"}),
        ("no grant", {"grant_type": ""}),
    ):
        ask(f"05 token {case}", "POST", "/token", data={**right, **change})
    ask("05 token as JSON", "POST", "/token", json=right)
    tokens = ask("05 token", "POST", "/token", data=right).json()
    access = {"authorization": f"Bearer {tokens.get('access_token', 'none')}"}
    recorder.modern("06 a call with it", "server/discover", {}, "open", headers=access)
    recorder.modern("06 a call below", "tools/call", _CALL, "open", headers=access)
    renew = {"grant_type": "refresh_token", "client_id": client}
    refresh = {**renew, "refresh_token": tokens.get("refresh_token", "none")}
    ask("07 refresh with nonsense", "POST", "/token", data={**renew, "refresh_token": "x"})
    renewed = ask("07 refresh", "POST", "/token", data=refresh).json()
    gone = {"client_id": client, "token": renewed.get("refresh_token", "none")}
    ask("08 revoke nonsense", "POST", "/revoke", data={"client_id": client, "token": "x"})
    ask("08 revoke without a client", "POST", "/revoke", data={"token": "x"})
    ask("08 revoke", "POST", "/revoke", data=gone)
    again = {**renew, "refresh_token": gone["token"]}
    ask("08 refresh what is revoked", "POST", "/token", data=again)
    _sign_out(recorder)


def _sign_out(recorder: Recorder) -> None:
    page: httpx2.Response = recorder.ask("09 account", "GET", "/account", headers=_HTML)
    fields = form(page.text, "/signout")
    recorder.ask("09 sign out", "POST", "/signout", headers=_FORM, data=fields)
    recorder.ask("09 account after it", "GET", "/account", headers=_HTML)


_CALL = {"name": "search_with_documents", "arguments": {"query": "soil"}}


def form(html: str, action: str) -> dict[str, str]:
    """The hidden fields of the first form that leads to an address."""
    for found in re.findall(r"<form\b.*?</form>", html, re.DOTALL):
        if f'action="{action}"' in found and 'method="post"' in found.lower():
            return _fields(r"<input\b[^>]*type=\"hidden\"[^>]*>", found)
    return {}


def buttons(html: str) -> dict[str, str]:
    """The name and value of the first button that has them."""
    found = re.findall(r"<button\b[^>]*name=\"[^>]*>", html)
    return _fields(r"<button\b[^>]*>", found[0]) if found else {}


def _fields(pattern: str, html: str) -> dict[str, str]:
    found = {}
    for tag in re.findall(pattern, html):
        said = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        found[said["name"]] = unescape(said.get("value", ""))
    return found
