# pragma version 0.4.3
# @title A collection of single tokens that anyone may mint.

event Transfer:
    sender: indexed(address)
    receiver: indexed(address)
    token: indexed(uint256)


owners: HashMap[uint256, address]
balances: HashMap[address, uint256]


@external
def mint(holder: address, token: uint256):
    assert self.owners[token] == empty(address), "minted already"
    self.owners[token] = holder
    self.balances[holder] += 1
    log Transfer(sender=empty(address), receiver=holder, token=token)


@external
def burn(token: uint256):
    self.balances[self.owners[token]] -= 1
    log Transfer(sender=self.owners[token], receiver=empty(address), token=token)
    self.owners[token] = empty(address)


@view
@external
def ownerOf(token: uint256) -> address:
    assert self.owners[token] != empty(address), "no such token"
    return self.owners[token]


@view
@external
def balanceOf(holder: address) -> uint256:
    assert holder != empty(address), "nobody"
    return self.balances[holder]
