# pragma version 0.4.3
# @title A collection of single tokens that anyone may mint.

owners: HashMap[uint256, address]
balances: HashMap[address, uint256]


@external
def mint(holder: address, token: uint256):
    assert self.owners[token] == empty(address), "minted already"
    self.owners[token] = holder
    self.balances[holder] += 1


@external
def burn(token: uint256):
    self.balances[self.owners[token]] -= 1
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
