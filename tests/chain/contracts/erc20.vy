# pragma version 0.4.3
# @title A fungible token that anyone may mint.

event Transfer:
    sender: indexed(address)
    receiver: indexed(address)
    value: uint256


balances: HashMap[address, uint256]


@external
def mint(holder: address, amount: uint256):
    self.balances[holder] += amount
    log Transfer(sender=empty(address), receiver=holder, value=amount)


@external
def burn(holder: address, amount: uint256):
    self.balances[holder] -= amount
    log Transfer(sender=holder, receiver=empty(address), value=amount)


@external
def transfer(receiver: address, amount: uint256) -> bool:
    self.balances[msg.sender] -= amount
    self.balances[receiver] += amount
    log Transfer(sender=msg.sender, receiver=receiver, value=amount)
    return True


@view
@external
def balanceOf(holder: address) -> uint256:
    return self.balances[holder]


@view
@external
def decimals() -> uint8:
    return 6
