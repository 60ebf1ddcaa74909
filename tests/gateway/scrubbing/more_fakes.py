"""The other half of :mod:`tests.gateway.scrubbing.fakes`."""

from __future__ import annotations

BODY = "\n".join(["MIIE{b64:60}", *["{b64:64}"] * 6, "{b64:43}="])


def _block(name: str, body: str = BODY) -> str:
    return f"-----BEGIN {name}-----\n<<{body}>>\n-----END {name}-----"


MORE_FORMS: dict[str, tuple[str, ...]] = {
    # messaging
    "slack-bot-token": ("xoxb-{digit:12}-{digit:13}-{alnum:24}",),
    "slack-user-token": ("xoxp-{digit:12}-{digit:12}-{digit:13}-{hex:32}",),
    "slack-app-token": ("xapp-1-A{upper:10}-{digit:13}-{hex:64}",),
    "slack-other-token": ("xoxe.xoxp-1-{alnum:160}", "xoxs-{digit:12}-{digit:12}-{hex:32}"),
    "slack-webhook": ("https://hooks.slack.com/services/<<T{upper:10}/B{upper:10}/{alnum:24}>>",),
    "discord-bot-token": ("MT{alnum:24}.G{alnum:5}.{url:38}",),
    "discord-webhook": ("https://discord.com/api/webhooks/{digit:19}/<<{url:68}>>",),
    "telegram-bot-token": (
        "7{digit:9}:AA{url:33}",
        "https://api.telegram.org/bot<<7{digit:9}:AA{url:33}>>/sendMessage",
    ),
    "teams-webhook": (
        "https://acme.webhook.office.com/webhookb2/"
        "<<{uuid}@{uuid}/IncomingWebhook/{hex:32}/{uuid}>>",
    ),
    "twilio-api-key": ("SK{hex:32}",),
    "twilio-auth-token": ("TWILIO_AUTH_TOKEN={hex:32}",),
    "sendgrid-key": ("SG.{url:22}.{url:43}",),
    "mailgun-key": ("key-{hex:32}", "{hex:32}-{hex:8}-{hex:8}"),
    "mailchimp-key": ("{hex:32}-us21",),
    "mandrill-key": ("md-{alnum:22}",),
    "brevo-key": ("xkeysib-{hex:64}-{alnum:16}",),
    "resend-key": ("re_{alnum:8}_{alnum:24}",),
    "postmark-token": ("POSTMARK_SERVER_TOKEN={uuid}",),
    "facebook-token": ("EAAG{alnum:170}",),
    "twitter-bearer-token": ("AAAAAAAAAAAAAAAAAAAAA{alnum:20}%2F{alnum:60}",),
    # payments
    "stripe-live-key": ("sk_live_{alnum:24}", "sk_live_51{alnum:97}"),
    "stripe-test-key": ("sk_test_{alnum:24}", "sk_test_51{alnum:97}"),
    "stripe-restricted-key": ("rk_live_51{alnum:97}", "rk_test_{alnum:24}"),
    "stripe-webhook-secret": ("whsec_{alnum:32}",),
    "shopify-token": ("shpat_{hex:32}", "shpca_{hex:32}"),
    "shopify-shared-secret": ("shpss_{hex:32}",),
    "square-access-token": ("EAAA{url:60}", "sq0atp-{url:22}"),
    "square-oauth-secret": ("sq0csp-{url:43}",),
    "braintree-token": ("access_token$production${lower:16}${hex:32}",),
    "paypal-secret": ("PAYPAL_CLIENT_SECRET=E{url:79}",),
    "plaid-access-token": ("access-sandbox-{uuid}", "access-production-{uuid}"),
    "plaid-secret": ("PLAID_SECRET={hex:30}",),
    "razorpay-key": ("rzp_live_{alnum:14}",),
    "flutterwave-key": ("FLWSECK-{hex:32}-X", "FLWSECK_TEST-{hex:32}-X"),
    "paddle-key": ("pdl_live_apikey_01{lower:24}_{alnum:22}_{alnum:3}",),
    "adyen-key": ("AQEyh{alnum:3}{b64:90}-{b64:40}=",),
    "easypost-key": ("EZAK{alnum:54}", "EZTK{alnum:54}"),
    "infura-url": ("https://mainnet.infura.io/v3/<<{hex:32}>>",),
    "alchemy-url": ("https://eth-mainnet.g.alchemy.com/v2/<<{url:32}>>",),
    "etherscan-key": ("ETHERSCAN_API_KEY={upper:34}",),
    "ethereum-private-key": ("PRIVATE_KEY=0x{hex:64}", "DEPLOYER_PRIVATE_KEY={hex:64}"),
    "mnemonic": ("MNEMONIC={words:12}", "seed_phrase={words:24}"),
    "bitcoin-extended-key": ("xprv9s21ZrQH143K{b58:96}",),
    "nostr-secret-key": ("nsec1{bech:58}",),
    # work
    "datadog-key": ("DD_API_KEY={hex:32}", "DATADOG_APP_KEY={hex:40}"),
    "newrelic-key": ("NRAK-{upper:27}", "NRII-{url:32}"),
    "newrelic-license-key": ("{hex:36}NRAL",),
    "grafana-service-account": ("glsa_{alnum:32}_{hex:8}",),
    "grafana-cloud-token": ("glc_eyJ{alnum:120}==",),
    "sentry-org-token": ("sntrys_eyJ{alnum:120}_{b64:43}",),
    "sentry-user-token": ("sntryu_{hex:64}",),
    "pagerduty-key": ("PAGERDUTY_TOKEN=u+{alnum:18}",),
    "honeycomb-key": ("hcaik_{lower:58}",),
    "dynatrace-token": ("dt0c01.{upper:24}.{upper:64}",),
    "launchdarkly-key": ("sdk-{uuid}", "api-{uuid}"),
    "posthog-key": ("phx_{alnum:43}",),
    "linear-key": ("lin_api_{alnum:40}",),
    "linear-oauth-token": ("lin_oauth_{hex:64}",),
    "notion-token": ("ntn_{digit:11}{alnum:35}", "secret_{alnum:43}"),
    "airtable-token": ("pat{alnum:14}.{hex:64}",),
    "asana-token": ("1/{digit:16}:{hex:32}", "2/{digit:16}/{digit:16}:{hex:32}"),
    "atlassian-token": ("ATATT3xFfGF0{url:170}={HEX:8}",),
    "figma-token": ("figd_{url:40}",),
    "postman-key": ("PMAK-{hex:24}-{hex:34}",),
    "hubspot-token": ("pat-na1-{uuid}", "pat-eu1-{uuid}"),
    "dropbox-token": ("sl.u.A{url:180}",),
    "typeform-token": ("tfp_{alnum:44}_{alnum:14}",),
    "salesforce-token": ("00D{alnum:15}!AQ{alnum:94}",),
    "mapbox-secret-token": ("sk.eyJ{alnum:60}.{url:22}",),
    "zendesk-token": ("ZENDESK_API_TOKEN={alnum:40}",),
    "okta-token": ("OKTA_API_TOKEN=00{url:40}",),
    "trello-token": ("ATTA{hex:64}{HEX:8}",),
    "readme-key": ("rdme_{lower:70}",),
    "duffel-token": ("duffel_test_{url:43}",),
    # general
    "private-key": (
        _block("RSA PRIVATE KEY"),
        _block("EC PRIVATE KEY"),
        _block("OPENSSH PRIVATE KEY"),
        _block("ENCRYPTED PRIVATE KEY"),
    ),
    "pgp-private-key": (_block("PGP PRIVATE KEY BLOCK"),),
    "ssh2-private-key": (
        f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n<<{BODY}>>\n"
        "---- END SSH2 ENCRYPTED PRIVATE KEY ----",
    ),
    "putty-private-key": (f"Private-Lines: 8\n<<{BODY}>>\nPrivate-MAC: {{hex:40}}",),
    "age-secret-key": ("AGE-SECRET-KEY-1{BECH:58}",),
    "jwt": ("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ{url:90}.{url:43}",),
    "porch-token": ("porch_{url:43}",),
    "wireguard-key": ("PrivateKey = <<{b64:43}=>>", "PresharedKey = <<{b64:43}=>>"),
    "json-web-key": ('{"kty": "EC", "crv": "P-256", "d": "<<{url:43}>>"}',),
    "url-password": (
        "https://deploy:<<{alnum:18}>>@git.example.org/app.git",
        "ftp://backup:<<{alnum:10}>>@files.example.org/",
    ),
    "basic-auth": ("Authorization: Basic <<{basic:14}>>",),
    "bearer-token": ("Authorization: Bearer <<{alnum:32}>>",),
    "curl-user": ("curl -sS -u admin:<<{alnum:12}>> https://ci.example.org/api",),
    "assignment": (
        'password = "<<{alnum:12}>>"',
        "'client_secret': '<<{alnum:24}>>'",
        'apiKey: "<<{hex:32}>>"',
        'const authToken = "<<{alnum:20}>>";',
    ),
    "plain-assignment": ("DB_PASSWORD=<<{alnum:14}>>", "API_KEY=<<{hex:24}>>"),
    "high-entropy": ('sessionBlob("<<{b64:64}>>")', "f('<<{url:48}>>')"),
}
