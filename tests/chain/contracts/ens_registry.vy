# pragma version 0.4.3
# @title Which contract answers for an ENS node (EIP-137).

resolvers: HashMap[bytes32, address]


@external
def setResolver(node: bytes32, resolver: address):
    self.resolvers[node] = resolver


@view
@external
def resolver(node: bytes32) -> address:
    return self.resolvers[node]
