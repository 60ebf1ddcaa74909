"""The ways to sign in that ``portal.yaml`` opens, and where the facts that rules ask for are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from auth.chain.contract_signatures import ContractWallets
from auth.chain.ens import EnsNames
from auth.chain.followers import Followers
from auth.chain.rpc import Rpc
from auth.fact_sources.github import GithubSource
from auth.fact_sources.hats import HatsSource
from auth.fact_sources.passport import PassportSource
from auth.fact_sources.tokens import TokensSource
from auth.facts import Question, Source
from auth.portal_addresses import Site
from auth.sealer import Sealer
from auth.sign_in.github import GithubSignIn
from auth.sign_in.oidc import OidcSignIn
from auth.sign_in.redirects import RedirectSignIn
from auth.sign_in.wallet import WalletSignIn
from auth.stores import Stores
from gateway.config.portal import Portal
from gateway.contract.config_types import safe_url
from gateway.errors import ConfigError
from gateway.services.secrets import address, resolve

if TYPE_CHECKING:
    from gateway.config.yaml_source import Location


Forget = Callable[[Iterable[str]], Awaitable[None]]


class SignInMethods:
    """The ways to sign in, and where facts come from.

    Everything is made at once, so that a secret that cannot be read is told at the start;
    nothing is connected to before it is needed.

    Args:
        portal: the configuration.
        site: the portal's own addresses.
        key: the portal's signing key.
        stores: remembers which nonces were spent, and what wallets are called.

    Attributes:
        wallet: signing in with a wallet, or None where it is turned off.
        redirects: signing in elsewhere, by the path below ``/signin/``, in the order of the
            buttons.
        chains: the chains that are configured, by their ids.

    Raises:
        ConfigError: a secret that ``portal.yaml`` names cannot be read.
    """

    def __init__(self, portal: Portal, site: Site, key: bytes, stores: Stores) -> None:
        self._portal = portal
        self._root = portal.root
        self.chains = self._rpcs()
        self._hats = self._hats_source()
        self.wallet = self._wallet(site, key, stores)
        self.redirects = dict(self._redirects())

    @property
    def any(self) -> bool:
        """Whether there is a way to sign in at all."""
        return self.wallet is not None or bool(self.redirects)

    def sources(self) -> dict[str, Source]:
        """Where the facts that rules ask for come from, by the sources' names."""
        config = self._portal.config
        found: dict[str, Source] = {"tokens": TokensSource(self.chains)}
        if self._hats:
            found["hats"] = self._hats
        if github := config.sign_in.github:
            token = self._secret(github.token, "sign_in", "github", "token")
            found["github"] = GithubSource(github.api_url, token)
        if passport := config.roles.passport:
            key = self._secret(passport.key, "roles", "passport", "key")
            found["passport"] = PassportSource(passport.url, passport.scorer, key or "")
        return found

    def followers(
        self, stores: Stores, forget: Forget, failed: Callable[[int, Exception], None]
    ) -> Followers:
        """The followers of the chains that rules read.

        Args:
            stores: keep the place.
            forget: makes all replicas forget what carries some tags.
            failed: told of a look that failed, and of which chain.
        """
        roles = self._portal.config.roles
        return Followers(
            self.chains,
            (roles.hats.chain, roles.hats.contract),
            stores.followed,
            forget,
            roles.events.every.total_seconds() if roles.events.enabled else None,
            self._is_by_module,
            failed,
        )

    async def close(self) -> None:
        """Release the connections to chains."""
        for rpc in self.chains.values():
            await rpc.close()

    def _hats_source(self) -> HatsSource | None:
        hats = self._portal.config.roles.hats
        rpc = self.chains.get(hats.chain)
        return HatsSource(rpc, hats.contract) if rpc else None

    def _is_by_module(self, question: Question) -> bool:
        hats = self._hats
        return hats is not None and question.source == "hats" and hats.is_by_module(question)

    def _rpcs(self) -> dict[int, Rpc]:
        return {
            chain.id: Rpc(
                chain.id,
                [self._address(url, place, at) for at, url in enumerate(chain.rpc)],
                chain.name,
            )
            for place, chain in enumerate(self._portal.config.chains)
        }

    def _wallet(self, site: Site, key: bytes, stores: Stores) -> WalletSignIn | None:
        config = self._portal.config
        wallet = config.sign_in.wallet
        if not wallet.enabled:
            return None
        ens = self.chains.get(config.roles.ens) if config.roles.ens else None
        return WalletSignIn(
            site,
            Sealer(key, "wallet"),
            stores.spent,
            {*wallet.chains, *self.chains},
            wallet.statement.replace("{name}", config.name),
            ContractWallets(self.chains),
            EnsNames(ens, remembered=partial(_known_name, stores)) if ens else None,
        )

    def _redirects(self) -> Iterator[tuple[str, RedirectSignIn]]:
        if github := self._portal.config.sign_in.github:
            secret = self._secret(github.client_secret, "sign_in", "github", "client_secret")
            yield "github", GithubSignIn(github.client_id, secret or "", github.url, github.api_url)
        for place, oidc in enumerate(self._portal.config.sign_in.oidc):
            secret = self._secret(oidc.client_secret, "sign_in", "oidc", place, "client_secret")
            yield (
                f"oidc/{oidc.slug}",
                OidcSignIn(oidc.name, oidc.issuer, oidc.client_id, secret, oidc.scopes),
            )

    def _secret(self, reference: str | None, *location: str | int) -> str | None:
        if reference is None:
            return None
        return self._read(lambda: resolve(reference, self._root).get_secret_value(), location)

    def _address(self, url: str, chain: int, at: int) -> str:
        # One that env: or file: keeps is read here first.
        return self._read(lambda: safe_url(address(url, self._root)), ("chains", chain, "rpc", at))

    def _read(self, value: Callable[[], str], location: Location) -> str:
        try:
            return value()
        except ValueError as error:
            raise ConfigError([self._portal.source.problem(location, str(error))]) from None


async def _known_name(stores: Stores, address: str) -> str | None:
    """The name that a wallet had when it last signed in."""
    people = await stores.people.by_address(address)
    theirs = [account for person in people for account in person.accounts]
    return next((each.name for each in theirs if each.address == address), None)
