# pragma version 0.4.3
# @title A fungible token that anyone may mint.

balances: HashMap[address, uint256]


@external
def mint(holder: address, amount: uint256):
    self.balances[holder] += amount


@external
def burn(holder: address, amount: uint256):
    self.balances[holder] -= amount


@view
@external
def balanceOf(holder: address) -> uint256:
    return self.balances[holder]


@view
@external
def decimals() -> uint8:
    return 6
