# pragma version 0.4.3
# @title Many tokens in one contract, that anyone may mint.

balances: HashMap[address, HashMap[uint256, uint256]]


@external
def mint(holder: address, token: uint256, amount: uint256):
    self.balances[holder][token] += amount


@external
def burn(holder: address, token: uint256, amount: uint256):
    self.balances[holder][token] -= amount


@view
@external
def balanceOf(holder: address, token: uint256) -> uint256:
    return self.balances[holder][token]
