# pragma version 0.4.3
# @title A contract wallet with one owner, who signs for it (EIP-1271).

owner: address


@external
def setUp(owner: address):
    assert self.owner == empty(address), "set up already"
    self.owner = owner


@external
def handOver(owner: address):
    self.owner = owner


@view
@external
def isValidSignature(digest: bytes32, signature: Bytes[65]) -> bytes4:
    assert len(signature) == 65, "not 65 bytes"
    r: uint256 = convert(slice(signature, 0, 32), uint256)
    s: uint256 = convert(slice(signature, 32, 32), uint256)
    v: uint256 = convert(slice(signature, 64, 1), uint256)
    signer: address = ecrecover(digest, v, r, s)
    if signer != empty(address) and signer == self.owner:
        return 0x1626ba7e
    return 0xffffffff
