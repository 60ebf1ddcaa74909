"""Fakes of every kind of secret, made at run time so that no file of the project holds one.

A fake is written as its vendor documents the format: ``{hex:40}`` is 40 random characters of an
alphabet. What is the secret of it stands between ``<<`` and ``>>``, where it is not all of it. A
fake without a form of its own names the variable that it is assigned to.
"""

from __future__ import annotations

import base64
import re
from random import Random

LOWER = "abcdefghijklmnopqrstuvwxyz"
UPPER = LOWER.upper()
DIGITS = "0123456789"
ALPHABETS = {
    "digit": DIGITS,
    "hex": DIGITS + "abcdef",
    "HEX": DIGITS + "ABCDEF",
    "lower": LOWER + DIGITS,
    "upper": UPPER + DIGITS,
    "letter": LOWER + UPPER,
    "alnum": LOWER + UPPER + DIGITS,
    "b32": UPPER + "234567",
    "b58": "".join(c for c in UPPER + LOWER + DIGITS if c not in "0OIl"),
    "b64": LOWER + UPPER + DIGITS + "+/",
    "url": LOWER + UPPER + DIGITS + "_-",
    "bech": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "BECH": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
WORDS = (
    *("abandon", "ability", "able", "about", "above", "absent", "absorb", "abstract", "access"),
    *("zebra", "zero", "zone", "zoo", "young", "youth", "wrong", "write", "world", "wonder"),
)
UUID = "{hex:8}-{hex:4}-4{hex:3}-a{hex:3}-{hex:12}"

_BLANK = re.compile(r"\{(\w+):(\d+)\}")


def made(form: str, random: Random) -> str:
    """A fake of a form, its blanks filled in."""

    def fill(match: re.Match[str]) -> str:
        kind, size = match[1], int(match[2])
        if kind == "words":
            return " ".join(random.choice(WORDS) for _ in range(size))
        if kind == "basic":
            secret = "".join(random.choices(ALPHABETS["alnum"], k=size))
            return base64.b64encode(f"deploy:{secret}".encode()).decode()
        text = "".join(random.choices(ALPHABETS[kind], k=size))
        if kind in ("alnum", "url", "b64") and size >= 3:  # as good as always there
            text = "7" + text[1:-1] + "q"
        return text

    return _BLANK.sub(fill, form.replace("{uuid}", UUID))


FORMS: dict[str, tuple[str, ...]] = {
    # code_hosting
    "github-classic-token": ("ghp_{alnum:36}",),
    "github-fine-grained-token": ("github_pat_{alnum:22}_{alnum:59}",),
    "github-oauth-token": ("gho_{alnum:36}",),
    "github-app-user-token": ("ghu_{alnum:36}",),
    "github-app-installation-token": ("ghs_{alnum:36}",),
    "github-refresh-token": ("ghr_{alnum:76}",),
    "gitlab-personal-token": ("glpat-{url:20}", "glpat-{url:27}.01.{lower:9}"),
    "gitlab-deploy-token": ("gldt-{url:20}",),
    "gitlab-runner-token": ("glrt-{url:20}", "GR1348941{url:20}"),
    "gitlab-trigger-token": ("glptt-{hex:40}",),
    "gitlab-other-token": ("glcbt-64_{url:20}", "gloas-{hex:64}", "glft-{url:20}"),
    "bitbucket-app-password": ("ATBB{alnum:32}",),
    "bitbucket-access-token": ("ATCTT3xFfGN0{url:160}={HEX:8}",),
    "npm-token": ("npm_{alnum:36}",),
    "npmrc-auth-token": ("//packages.example.org/:_authToken=<<{hex:36}>>",),
    "pypi-token": ("pypi-AgEIcHlwaS5vcmc{url:150}",),
    "rubygems-key": ("rubygems_{hex:48}",),
    "crates-io-token": ("cio{alnum:32}",),
    "nuget-key": ("oy2{lower:43}",),
    "clojars-token": ("CLOJARS_{hex:60}",),
    "docker-token": ("dckr_pat_{url:27}", "dckr_oat_{url:32}"),
    "artifactory-key": ("AKCp{alnum:69}",),
    "artifactory-reference-token": ("cmVmdGtuOjAxO{alnum:51}",),
    "circleci-token": ("CCIPAT_{alnum:22}_{hex:40}", "CCIPRJ_{alnum:22}_{hex:40}"),
    "buildkite-token": ("bkua_{hex:40}",),
    "sourcegraph-token": ("sgp_{hex:16}_{hex:40}",),
    "sonarqube-token": ("squ_{hex:40}", "sqp_{hex:40}"),
    "codecov-token": ("CODECOV_TOKEN={uuid}",),
    "travis-token": ("TRAVIS_TOKEN={url:22}",),
    # cloud
    "aws-access-key-id": ("AKIA{b32:16}", "ASIA{b32:16}"),
    "aws-secret-key": ("aws_secret_access_key={b64:40}", "AWS_SECRET_ACCESS_KEY={b64:40}"),
    "aws-session-token": ("aws_session_token=IQoJb3JpZ2luX2Vj{b64:300}",),
    "aws-bedrock-key": ("ABSK{b64:128}",),
    "google-api-key": ("AIza{url:35}",),
    "google-oauth-secret": ("GOCSPX-{url:28}",),
    "google-oauth-token": ("ya29.a0{url:160}",),
    "google-refresh-token": ("1//0{url:50}",),
    "google-service-account-key": (
        '{"type": "service_account", "private_key_id": "<<{hex:40}>>"}',
    ),
    "azure-storage-key": (
        "DefaultEndpointsProtocol=https;AccountName=app;AccountKey=<<{b64:86}==>>;"
        "EndpointSuffix=core.windows.net",
    ),
    "azure-shared-access-key": (
        "Endpoint=sb://app.servicebus.windows.net/;SharedAccessKeyName=Root;"
        "SharedAccessKey=<<{b64:43}=>>",
    ),
    "azure-sas-signature": (
        "https://app.blob.core.windows.net/c?sv=2024-11-04&sr=c&sp=r&sig=<<{alnum:43}%3D>>",
    ),
    "azure-client-secret": ("{alnum:3}8Q~{alnum:34}",),
    "azure-devops-token": ("{alnum:76}AZDO{alnum:4}",),
    "azure-openai-key": ("{alnum:52}JQQJ99{alnum:26}",),
    "alibaba-access-key": ("LTAI5t{alnum:18}",),
    "tencent-secret-id": ("AKID{alnum:32}",),
    "yandex-key": ("AQVN{url:36}",),
    "ibm-cloud-key": ("IBMCLOUD_API_KEY={url:44}",),
    "scaleway-access-key": ("SCW{upper:17}",),
    "digitalocean-token": ("dop_v1_{hex:64}", "doo_v1_{hex:64}"),
    "digitalocean-spaces-key": ("DO00{upper:16}",),
    "linode-token": ("LINODE_TOKEN={hex:64}",),
    "hetzner-token": ("HCLOUD_TOKEN={alnum:64}",),
    "heroku-key": ("HRKU-AA{url:58}", "HRKU-{uuid}"),
    "heroku-legacy-key": ("HEROKU_API_KEY={uuid}",),
    "vercel-token": ("vcp_{url:56}",),
    "vercel-legacy-token": ("VERCEL_TOKEN={alnum:24}",),
    "netlify-token": ("nfp_{alnum:36}",),
    "cloudflare-token": ("CLOUDFLARE_API_TOKEN={url:40}",),
    "cloudflare-global-key": ("CLOUDFLARE_API_KEY={hex:37}",),
    "cloudflare-origin-ca-key": ("v1.0-{hex:24}-{hex:146}",),
    "fastly-token": ("FASTLY_API_TOKEN={url:32}",),
    "fly-token": ("fm2_lJPE{b64:120}", "fo1_{url:43}"),
    "render-key": ("rnd_{alnum:32}",),
    "tailscale-key": ("tskey-auth-{alnum:12}CNTRL-{alnum:32}",),
    "vault-token": ("hvs.{url:24}", "hvb.{url:140}"),
    "vault-legacy-token": ("VAULT_TOKEN=s.{alnum:24}",),
    "terraform-cloud-token": ("{alnum:14}.atlasv1.{alnum:67}",),
    "pulumi-token": ("pul-{hex:40}",),
    "doppler-token": ("dp.pt.{alnum:43}", "dp.st.prd.{alnum:43}"),
    "onepassword-service-account": ("ops_eyJ{b64:400}",),
    "onepassword-secret-key": ("A3-{upper:6}-{upper:6}-{upper:5}-{upper:5}-{upper:5}-{upper:5}",),
    "ngrok-token": ("NGROK_AUTHTOKEN={alnum:27}_{alnum:21}",),
    # data
    "databricks-token": ("dapi{hex:32}", "dapi{hex:32}-2"),
    "planetscale-token": ("pscale_tkn_{url:43}",),
    "planetscale-password": ("pscale_pw_{url:43}",),
    "supabase-token": ("sbp_{hex:40}",),
    "supabase-secret-key": ("sb_secret_{url:22}_{alnum:8}", "sb_secret_{alnum:20}"),
    "neon-key": ("napi_{lower:64}",),
    "mongodb-url": (
        "mongodb+srv://app:<<{alnum:16}>>@cluster0.ab1cd.mongodb.net/app?retryWrites=true",
    ),
    "postgres-url": ("postgresql+asyncpg://app:<<{alnum:14}>>@db.internal:5432/app",),
    "mysql-url": ("mysql://root:<<{alnum:12}>>@10.0.0.4/shop",),
    "redis-url": ("rediss://default:<<{alnum:20}>>@cache.internal:6380/0",),
    "amqp-url": ("amqps://worker:<<{alnum:16}>>@mq.internal/vhost",),
    "sqlserver-password": (
        "Server=tcp:db.internal,1433;Database=app;"
        "User ID=app;Password=<<{alnum:14}!>>;Encrypt=True",
    ),
    "clickhouse-cloud-key": ("4b1d{alnum:38}",),
    "dbt-token": ("dbtu_{url:44}", "dbtc_{url:44}"),
    "algolia-admin-key": ("ALGOLIA_ADMIN_KEY={hex:32}",),
    "confluent-secret": ("CONFLUENT_API_SECRET={b64:64}",),
    "prefect-key": ("pnu_{alnum:36}",),
    "contentful-token": ("CFPAT-{url:43}",),
    # ai
    "openai-project-key": ("sk-proj-{url:74}T3BlbkFJ{url:74}",),
    "openai-service-key": ("sk-svcacct-{url:74}T3BlbkFJ{url:73}", "sk-admin-{url:120}"),
    "anthropic-key": ("sk-ant-api03-{url:93}AA", "sk-ant-admin01-{url:93}AA"),
    "openrouter-key": ("sk-or-v1-{hex:64}",),
    "langfuse-key": ("sk-lf-{uuid}",),
    "sk-key": ("sk-{alnum:20}T3BlbkFJ{alnum:20}",),
    "cohere-key": ("COHERE_API_KEY={alnum:40}",),
    "replicate-token": ("r8_{alnum:37}",),
    "groq-key": ("gsk_{alnum:52}",),
    "huggingface-token": ("hf_{letter:34}",),
    "huggingface-org-token": ("api_org_{letter:34}",),
    "mistral-key": ("MISTRAL_API_KEY={alnum:32}",),
    "perplexity-key": ("pplx-{alnum:48}",),
    "xai-key": ("xai-{alnum:80}",),
    "nvidia-key": ("nvapi-{url:64}",),
    "pinecone-key": ("pcsk_{alnum:6}_{alnum:63}",),
    "langsmith-key": ("lsv2_pt_{hex:32}_{hex:10}",),
    "elevenlabs-key": ("sk_{hex:48}",),
    "jina-key": ("jina_{hex:32}{url:28}",),
    "tavily-key": ("tvly-dev-{alnum:32}",),
    "fireworks-key": ("fw_{alnum:24}",),
    "wandb-key": ("WANDB_API_KEY={hex:40}",),
}
