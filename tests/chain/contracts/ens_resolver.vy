# pragma version 0.4.3
# @title Answers for ENS nodes: the address of a name, and the name of an address.

names: HashMap[bytes32, String[255]]
addresses: HashMap[bytes32, address]


@external
def setName(node: bytes32, name: String[255]):
    self.names[node] = name


@external
def setAddr(node: bytes32, addr: address):
    self.addresses[node] = addr


@view
@external
def name(node: bytes32) -> String[255]:
    return self.names[node]


@view
@external
def addr(node: bytes32) -> address:
    return self.addresses[node]
