# pragma version 0.4.3
# @title A contract wallet that reverts, or answers as it is told, whoever signed.

reverts: public(bool)
answer: public(bytes32)


@external
def be(reverts: bool, answer: bytes32):
    self.reverts = reverts
    self.answer = answer


@view
@external
def isValidSignature(digest: bytes32, signature: Bytes[8192]) -> bytes32:
    assert not self.reverts, "no"
    return self.answer
