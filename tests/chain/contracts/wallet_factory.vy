# pragma version 0.4.3
# @title Deploys a contract wallet at an address that its owner alone decides (CREATE2).

interface Wallet:
    def setUp(owner: address): nonpayable

implementation: address


@deploy
def __init__(implementation: address):
    self.implementation = implementation


@external
def create(owner: address) -> address:
    salt: bytes32 = convert(owner, bytes32)
    wallet: address = create_minimal_proxy_to(self.implementation, salt=salt)
    extcall Wallet(wallet).setUp(owner)
    return wallet
