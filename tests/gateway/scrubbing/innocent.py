"""Lines without a secret that look as if they had one: hashes, ids, images, generated code."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Iterator
from random import Random

from tests.gateway.scrubbing.fakes import ALPHABETS, WORDS

EACH = 13
"""Lines of each generated kind."""


def _of(random: Random, kind: str, size: int) -> str:
    return "".join(random.choices(ALPHABETS[kind], k=size))


def _bytes(random: Random, size: int) -> str:
    return base64.b64encode(random.randbytes(size)).decode()


def _word(random: Random) -> str:
    return random.choice(WORDS)


def _png(random: Random, size: int) -> str:
    head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
    return base64.b64encode(head + random.randbytes(size)).decode()


GENERATED: dict[str, Callable[[Random], str]] = {
    "package lock": lambda r: f'      "integrity": "sha512-{_bytes(r, 64)}",',
    "old package lock": lambda r: f'      "integrity": "sha1-{_bytes(r, 20)}",',
    "resolved": lambda r: (
        f'      "resolved": "https://registry.example.org/{_word(r)}/-/'
        f'{_word(r)}-1.{r.randrange(99)}.0.tgz",'
    ),
    "pnpm lock": lambda r: f"    resolution: {{integrity: sha512-{_bytes(r, 64)}}}",
    "yarn lock": lambda r: f"  checksum: 10c0/{_of(r, 'hex', 128)}",
    "cargo lock": lambda r: f'checksum = "{_of(r, "hex", 64)}"',
    "go sum": lambda r: (
        f"example.org/{_word(r)}/{_word(r)} v1.{r.randrange(20)}.3 h1:{_bytes(r, 32)}"
    ),
    "poetry lock": lambda r: (
        f'    {{file = "{_word(r)}-2.0.whl", hash = "sha256:{_of(r, "hex", 64)}"}},'
    ),
    "pip hash": lambda r: f"    --hash=sha256:{_of(r, 'hex', 64)} \\",
    "flake lock": lambda r: f'        "narHash": "sha256-{_bytes(r, 32)}",',
    "nix hash": lambda r: f'    sha256 = "{_of(r, "lower", 52)}";',
    "git sha": lambda r: f"commit {_of(r, 'hex', 40)}",
    "quoted git sha": lambda r: f'  rev = "{_of(r, "hex", 40)}"',
    "short sha": lambda r: f"{_of(r, 'hex', 8)} gateway: {_word(r)} {_word(r)} {_word(r)}",
    "diff index": lambda r: f"index {_of(r, 'hex', 7)}..{_of(r, 'hex', 7)} 100644",
    "uuid": lambda r: f'  "id": "{uuid.UUID(int=r.getrandbits(128), version=4)}",',
    "uuid in a path": lambda r: f"GET /api/runs/{uuid.UUID(int=r.getrandbits(128), version=4)} 200",
    "digest": lambda r: f"image: example/app@sha256:{_of(r, 'hex', 64)}",
    "md5": lambda r: f"{_of(r, 'hex', 32)}  {_word(r)}.tar.gz",
    "png": lambda r: f'<img src="data:image/png;base64,{_png(r, 120)}">',
    "quoted png": lambda r: f'  icon: "{_png(r, 200)}",',
    "css image": lambda r: f".i{{background:url(data:image/gif;base64,R0lGODlh{_bytes(r, 60)})}}",
    "address": lambda r: f"address public owner = 0x{_of(r, 'hex', 40)};",
    "quoted address": lambda r: f'  token: "0x{_of(r, "hex", 40)}",',
    "transaction": lambda r: f"tx 0x{_of(r, 'hex', 64)} mined in block {r.randrange(10**8)}",
    "topic": lambda r: f"bytes32 constant ROLE = 0x{_of(r, 'hex', 64)};",
    "ipfs": lambda r: f'  "image": "ipfs://Qm{_of(r, "b58", 44)}",',
    "minified": lambda r: (
        f'!function(e,t){{var n=e.{_word(r)},o="{_word(r)}-{_word(r)}";'
        f"return t(n||o,{r.randrange(999)})}}(a,b);"
    ),
    "chunk": lambda r: f'<script src="/assets/{_word(r)}-{_of(r, "alnum", 8)}.js"></script>',
    "css": lambda r: (
        f".{_word(r)}__{_of(r, 'alnum', 5)}{{color:#{_of(r, 'hex', 6)};"
        f"margin:0 {r.randrange(9)}px}}"
    ),
    "url": lambda r: (
        f"See https://docs.example.org/{_word(r)}/{_word(r)}?page={r.randrange(99)}#{_word(r)}"
    ),
    "ci log": lambda r: (
        f"2026-02-{r.randrange(10, 28)}T09:12:{r.randrange(10, 59)}.4830167Z "
        f"##[group]Run {_word(r)}/{_word(r)}@v4"
    ),
    "etag": lambda r: f'ETag: "{_of(r, "hex", 32)}"',
    "trace": lambda r: f"traceparent: 00-{_of(r, 'hex', 32)}-{_of(r, 'hex', 16)}-01",
    "workflow id": lambda r: f'  "workflow_id": "{_of(r, "b32", 20).lower()}",',
    "ulid": lambda r: f'  "run": "01{_of(r, "upper", 24)}",',
}

WRITTEN = r"""
password = os.environ["DB_PASSWORD"]
password = getpass.getpass("Password: ")
password: str = Field(..., min_length=8)
    password=settings.database_password,
const token = await getToken(request, { audience: 'api' });
token = tokenizer.encode(text)[0]
self.token_type = "bearer"
if not token or token.expired:
secret = secrets.token_urlsafe(32)
api_key = os.getenv("OPENAI_API_KEY")
api_key: ${{ secrets.API_KEY }}
API_KEY=${API_KEY}
DB_PASSWORD=
PASSWORD=<your-password>
password: "{{ vault_db_password }}"
client_secret: env:GITHUB_CLIENT_SECRET
"secretName": "app-tls-secret",
secretKeyRef: {name: app, key: token}
<input type="password" autocomplete="current-password" placeholder="Your password">
"password": "Passwort vergessen?",
"passwordHint": "At least 12 characters",
password_reset_url = "/accounts/reset-password/"
label.password = Password
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
curl -H "Authorization: Bearer ${GITHUB_TOKEN}" https://api.example.org/user
curl -u "$USER:$PASSWORD" https://ci.example.org/job
Basic authentication is described in RFC 7617.
Basic types such as integers and strings
The bearer authentication scheme is case-insensitive.
export const TOKEN_HEADER = "x-session-token";
    "@octokit/auth-token": "^6.0.0",
    "js-tokens": "4.0.0-beta.1",
    token = client.get("ClientRequestToken", "a8ca07e4-61ec-4399-99f4-19853801bcd5")
next_page_token = response["nextPageToken"]
  "nextPageToken": "CAUQAA8f2bd91c"
![](https://files.example.com/v0/b/x/o/a.png?alt=media&token=3f2ac1de-9b7e-4c11-8d2a-0f6a1e5b7c9d)
csrf_token = "{{ csrf_token() }}"
tokens: 4096
max_tokens = 128000
"tokenizer_class": "PreTrainedTokenizerFast2",
--design-token: var(--color-blue-500);
  token: "color.blue.500",
public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH0bBq8 alice@example.org"
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
if line.startswith("-----BEGIN RSA PRIVATE KEY-----"):
PEM = re.compile(r"-----BEGIN (?:RSA )?PRIVATE KEY-----")
"-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"
postgresql://localhost:5432/app
postgresql://${DB_USER}:${DB_PASSWORD}@db:5432/app
redis://localhost:6379/0
http://localhost:8321/mcp?user=alice@example.org
git@github.com:example/app.git
ssh://git@github.com:22/example/app.git
https://user@example.org/path:with@signs
npm install @scope/package@1.2.3 --registry=https://registry.example.org
sk-learn is how nobody spells scikit-learn
sk_buff *skb = alloc_skb(len, GFP_ATOMIC);
AKIA is how an access key id of AWS begins
xoxb- is the prefix of bot tokens
ghp_ tokens are classic, github_pat_ tokens are fine-grained
the prefix glpat- followed by 20 characters
hf_hub_download(repo_id="sentence-transformers/all-MiniLM-L6-v2", filename="config.json")
porch_calls_in_flight_total_by_item_and_surface_and_kind 3
porch_codegraph_index_resolves_names_through_barrels = 1
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';
"com.example.enterprise.application.configuration.BeanFactoryLocator2"
import { useAuthenticationTokenRefreshInterval } from "@/hooks/authentication-token-refresh-2"
"src/components/dashboard/settings/notifications/EmailPreferences2.tsx"
name: "very-long-kebab-case-identifier-for-a-feature-flag-2026-01"
logger.info("user_signed_in", extra={"request_id": request_id})
UserAuthenticationTokenExpirationPolicyFactoryImplV2Test
assert response.headers["x-ratelimit-remaining"] == "59"
color: rgba(12, 34, 56, 0.78); transition: all 0.3s cubic-bezier(0.4, 0, 0.2, 1);
M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10 10-4.48 10-10S17.52 2 12 2zm0 18c-4.41 0-8-3.59-8-8
AAAA,SAASA,EAAMC,GACb,OAAOA,EAAEC,MAAM,IAAIC,KAAI,SAAUC,GAAK,OAAOA
@@ -120,7 +120,9 @@ async def _get_prompt(self, request: Request) -> bytes:
key = f"{namespace}:{identifier}:{version}"
primary_key = "id"
foreign_key="users.id"
cache_key = "user:1234:profile:v2"
sort_key = 'created_at'
idempotency_key = str(uuid4())
mnemonic = generate_mnemonic(strength=128)
seed_phrase: string[] = wallet.mnemonic.phrase.split(' ')
the mnemonic: twelve words that restore a wallet
pk_test_TYooMQauvdEDq54NiTphI7jx is Stripe's publishable key of the docs
"access_token": "string",
"refresh_token": null,
access_token_lifetime = 3600
credential = DefaultAzureCredential()
passwd: files systemd
pwd: /home
echo "pwd=$(pwd)" >> "$GITHUB_OUTPUT"
secret_santa = ["alice", "bob"]
vault: s.t.a.l.k.e.r
user_password_min_length = 12
SECRET_KEY_LENGTH=64
HASH_ALGORITHM=argon2id
""".strip().splitlines()


def lines(seed: int = 6) -> Iterator[str]:
    """At least 500 lines."""
    random = Random(seed)
    yield from WRITTEN
    for make in GENERATED.values():
        for _ in range(EACH):
            yield make(random)
