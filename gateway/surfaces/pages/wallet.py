"""Signing in with a wallet (EIP-4361): with the script of the sign-in page, or by hand.

``GET /signin/wallet`` makes the message for an address - for the script as JSON, for people as
a page that takes the signature of a wallet elsewhere. ``POST /signin/wallet`` takes it.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from auth.credentials import BadCredential
from gateway.surfaces.pages.forms import Fields, Refused
from gateway.surfaces.pages.frame import HEADERS, Frame
from gateway.surfaces.pages.proofs import Proofs
from gateway.surfaces.pages.visitors import Visitor


class WalletPages:
    """``/signin/wallet``.

    Args:
        frame: what all pages share.
        proofs: acts on what was proved.
    """

    def __init__(self, frame: Frame, proofs: Proofs) -> None:
        self._frame = frame
        self._proofs = proofs
        self._wallet = frame.parts.wallet

    def routes(self) -> list[Route]:
        """The routes, where wallets are turned on."""
        if self._wallet is None:
            return []
        path = "/signin/wallet"
        return [self._frame.page(path, self._message), self._frame.form(path, self._signed)]

    async def _message(self, request: Request, visitor: Visitor) -> Response:
        purpose = self._proofs.purpose(
            request.query_params.get("next", ""), request.query_params.get("link", "")
        )
        script = "application/json" in request.headers.get("accept", "")
        try:
            self._frame.count_attempt(request)
            message = self._challenge(request, visitor)
        except (BadCredential, Refused) as refused:
            if script:
                response = self._json_response(visitor, {"error": str(refused)}, 400)
                if isinstance(refused, Refused):
                    response.status_code = refused.status
                    response.headers.update(refused.headers)
                return response
            if isinstance(refused, Refused):
                raise
            return self._proofs.failed(visitor, purpose, "wallet", refused.reason)
        if script:
            return self._json_response(visitor, {"message": message})
        return self._frame.render(request, visitor, "wallet.html", purpose=purpose, message=message)

    def _challenge(self, request: Request, visitor: Visitor) -> str:
        assert self._wallet is not None  # noqa: S101 - there is no route without one
        address = request.query_params.get("address", "").strip()
        chain = request.query_params.get("chain", "")
        if not (chain.isascii() and chain.isdecimal() and len(chain) < 20):
            raise BadCredential("The chain's id must be a number, such as 1 for Ethereum.")
        return self._wallet.challenge(visitor.base, address, int(chain), visitor.browser)

    async def _signed(self, request: Request, visitor: Visitor, fields: Fields) -> Response:
        assert self._wallet is not None  # noqa: S101 - there is no route without one
        self._frame.count_attempt(request)
        purpose = self._proofs.purpose(fields.one("next"), fields.one("link"))
        # Browsers send a line's end in a form as CR LF; the wallet signed LF.
        message = fields.one("message").replace("\r\n", "\n")
        signature = fields.one("signature").strip()
        try:
            account = await self._wallet.verify(visitor.base, message, signature, visitor.browser)
        except BadCredential as bad:
            return self._proofs.failed(visitor, purpose, "wallet", bad.reason)
        return await self._proofs.proved(request, visitor, account, purpose)

    def _json_response(
        self, visitor: Visitor, value: dict[str, str], status: int = 200
    ) -> Response:
        """An answer to the script, with the cookie that the message is bound to."""
        headers = {**HEADERS, "vary": "Accept"}
        response = JSONResponse(value, status, headers)
        if visitor.is_new:
            self._frame.cookies.put(response, self._frame.cookies.browser, visitor.browser)
        return response
