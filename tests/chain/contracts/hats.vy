# pragma version 0.4.3
# @title What Porch reads of Hats Protocol, and functions with which a test changes it.

MOST: constant(uint256) = 100

given: HashMap[address, HashMap[uint256, bool]]
barred: HashMap[address, HashMap[uint256, bool]]
off: HashMap[uint256, bool]


@external
def give(wearer: address, hat: uint256):
    self.given[wearer][hat] = True


@external
def take(wearer: address, hat: uint256):
    self.given[wearer][hat] = False


@external
def setActive(hat: uint256, active: bool):
    self.off[hat] = not active


@external
def setEligible(wearer: address, hat: uint256, eligible: bool):
    self.barred[wearer][hat] = not eligible


@view
@internal
def _balance(wearer: address, hat: uint256) -> uint256:
    if self.off[hat] or self.barred[wearer][hat]:
        return 0
    return 1 if self.given[wearer][hat] else 0


@view
@external
def isWearerOfHat(wearer: address, hat: uint256) -> bool:
    return self._balance(wearer, hat) > 0


@view
@external
def balanceOf(wearer: address, hat: uint256) -> uint256:
    return self._balance(wearer, hat)


@view
@external
def balanceOfBatch(
    wearers: DynArray[address, MOST], hats: DynArray[uint256, MOST]
) -> DynArray[uint256, MOST]:
    assert len(wearers) == len(hats), "lengths differ"
    balances: DynArray[uint256, MOST] = []
    for place: uint256 in range(len(wearers), bound=MOST):
        balances.append(self._balance(wearers[place], hats[place]))
    return balances


@view
@external
def isInGoodStanding(wearer: address, hat: uint256) -> bool:
    return not self.barred[wearer][hat]


@view
@external
def isActive(hat: uint256) -> bool:
    return not self.off[hat]
