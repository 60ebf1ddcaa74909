"""Ways to sign in: an Ethereum wallet, GitHub, an OpenID Connect provider."""
