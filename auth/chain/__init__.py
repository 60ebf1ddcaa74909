"""What is read of Ethereum chains: roles, names, and the signatures of contract wallets."""
