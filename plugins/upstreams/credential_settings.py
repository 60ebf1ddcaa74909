"""What ``portal.yaml`` says of the credential that a server is asked with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from gateway.contract import PluginConfig, SafeUrl, SecretRef

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def named_credential(value: Any) -> Any:
    """The credentials that a word names."""
    words: dict[str, Any] = {"none": None, "member-oauth": {"member_oauth": {}}}
    return words.get(value, value) if isinstance(value, str) else value


def _header(value: str) -> str:
    if not re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", value):
        raise ValueError("is not the name of a header")
    return value


WithVariables = str
"""A text in which ``${NAME}`` stands for an environment variable."""


def variables_of(text: WithVariables) -> list[str]:
    """The environment variables that a text names."""
    return _VARIABLE.findall(text)


def filled(text: WithVariables, environment: Mapping[str, str]) -> str:
    """A text with its variables' values; raises ``KeyError`` where there is no such variable."""
    return _VARIABLE.sub(lambda found: environment[found[1]], text)


Headers = dict[Annotated[str, AfterValidator(_header)], WithVariables]
"""Headers by their names."""


def _without_secrets(headers: Headers) -> Headers:
    for name, value in headers.items():
        if name.lower() == "authorization" and not variables_of(value):
            raise ValueError(
                "a secret is never written here; write ${NAME} and keep it in the environment"
            )
    return headers


class MemberOAuth(PluginConfig):
    """Each member's own account at a server, by OAuth; all of it is found out where it is empty."""

    client_id: str | None = Field(
        None,
        description="The portal's client id at the server's authorization server, where it has to "
        "be registered there by hand.",
    )
    client_secret: SecretRef | None = Field(None, description="Its secret, as env:NAME.")
    scopes: tuple[str, ...] = Field(
        (), description="What is asked for; what the server names, if none."
    )
    list: Annotated[Headers, AfterValidator(_without_secrets)] = Field(
        default_factory=dict,
        description="Headers of yours with which the server is asked what it offers. Without them "
        "that is done as the member who has been connected longest.",
    )

    @model_validator(mode="after")
    def _has_an_id(self) -> Self:
        if self.client_secret and not self.client_id:
            raise ValueError("client_secret is of no use without client_id")
        return self


class TokenExchange(PluginConfig):
    """Each member's own token, in exchange for the portal's word about them (RFC 8693)."""

    token_endpoint: SafeUrl = Field(
        description="The token endpoint of the server's authorization server."
    )
    issuer: str = Field(
        "",
        description="What the authorization server calls itself: what the portal says of members "
        "is for this audience alone. Its token endpoint, if none.",
    )
    client_id: str = Field(min_length=1, description="The portal's client id there.")
    client_secret: SecretRef | None = Field(None, description="Its secret, as env:NAME.")
    token_endpoint_auth_method: Literal["client_secret_basic", "client_secret_post"] = Field(
        "client_secret_basic", description="How the secret is sent."
    )
    audience: str | None = Field(
        None, description="What the authorization server calls the server, where it has a name."
    )
    resource: str | None = Field(
        None, description="The server's address, as it calls it; url, if there is no audience."
    )
    scope: str = Field("", description="What is asked for, separated by spaces.")
    list: Annotated[Headers, AfterValidator(_without_secrets)] = Field(
        default_factory=dict,
        description="Headers of yours with which the server is asked what it offers. Without them "
        "that is done with a token of the portal's own (client_credentials).",
    )

    @model_validator(mode="after")
    def _can_list(self) -> Self:
        if self.client_secret is None and not self.list:
            raise ValueError(
                "give client_secret, or headers in list: with neither the portal cannot ask the "
                "server what it offers"
            )
        return self

    @property
    def audience_of_assertions(self) -> str:
        """Whom the portal's word about members is for."""
        return self.issuer or self.token_endpoint


class Credential(PluginConfig):
    """Whose credential a server is asked with."""

    header: Annotated[Headers | None, AfterValidator(lambda h: h and _without_secrets(h))] = Field(
        None,
        description="Headers of every request, such as {Authorization: 'Bearer ${TOKEN}'}; the "
        "values of ${...} are in the environment, and a program finds them in its own.",
    )
    member_oauth: MemberOAuth | None = Field(
        None, description="Each member's own account there; member-oauth, if nothing is to be set."
    )
    exchange: TokenExchange | None = Field(
        None, description="Each member's own token, in exchange for the portal's word about them."
    )

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if [self.header, self.member_oauth, self.exchange].count(None) != 2:
            raise ValueError("give one of header, member_oauth and exchange")
        return self

    @property
    def is_personal(self) -> bool:
        """Whether each member has another one."""
        return self.header is None
