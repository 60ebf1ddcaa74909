# pragma version 0.4.3
# @title Many tokens in one contract, that anyone may mint.

event TransferSingle:
    operator: indexed(address)
    sender: indexed(address)
    receiver: indexed(address)
    id: uint256
    amount: uint256


event TransferBatch:
    operator: indexed(address)
    sender: indexed(address)
    receiver: indexed(address)
    ids: DynArray[uint256, 10]
    amounts: DynArray[uint256, 10]


balances: HashMap[address, HashMap[uint256, uint256]]


@external
def mint(holder: address, token: uint256, amount: uint256):
    self.balances[holder][token] += amount
    log TransferSingle(
        operator=msg.sender, sender=empty(address), receiver=holder, id=token, amount=amount
    )


@external
def burn(holder: address, token: uint256, amount: uint256):
    self.balances[holder][token] -= amount
    log TransferBatch(
        operator=msg.sender, sender=holder, receiver=empty(address), ids=[token], amounts=[amount]
    )


@view
@external
def balanceOf(holder: address, token: uint256) -> uint256:
    return self.balances[holder][token]
