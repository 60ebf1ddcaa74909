# pragma version 0.4.3
# @title What Porch reads of Hats Protocol, and functions with which a test changes it.

interface Eligibility:
    def getWearerStatus(wearer: address, hat: uint256) -> (bool, bool): view


event TransferSingle:
    operator: indexed(address)
    sender: indexed(address)
    receiver: indexed(address)
    id: uint256
    amount: uint256


event WearerStandingChanged:
    hatId: uint256
    wearer: address
    wearerStanding: bool


event HatStatusChanged:
    hatId: uint256
    newStatus: bool


event HatEligibilityChanged:
    hatId: uint256
    newEligibility: address


event HatToggleChanged:
    hatId: uint256
    newToggle: address


MOST: constant(uint256) = 100

given: HashMap[address, HashMap[uint256, bool]]
barred: HashMap[address, HashMap[uint256, bool]]
off: HashMap[uint256, bool]
eligibility: HashMap[uint256, address]
toggle: HashMap[uint256, address]


@external
def give(wearer: address, hat: uint256):
    self.given[wearer][hat] = True
    log TransferSingle(
        operator=msg.sender, sender=empty(address), receiver=wearer, id=hat, amount=1
    )


@external
def take(wearer: address, hat: uint256):
    self.given[wearer][hat] = False
    log TransferSingle(
        operator=msg.sender, sender=wearer, receiver=empty(address), id=hat, amount=1
    )


@external
def setActive(hat: uint256, active: bool):
    self.off[hat] = not active
    log HatStatusChanged(hatId=hat, newStatus=active)


@external
def setEligible(wearer: address, hat: uint256, eligible: bool):
    self.barred[wearer][hat] = not eligible
    log WearerStandingChanged(hatId=hat, wearer=wearer, wearerStanding=eligible)


@external
def setModules(hat: uint256, eligibility: address, toggle: address):
    self.eligibility[hat] = eligibility
    log HatEligibilityChanged(hatId=hat, newEligibility=eligibility)
    self.toggle[hat] = toggle
    log HatToggleChanged(hatId=hat, newToggle=toggle)


@view
@internal
def _balance(wearer: address, hat: uint256) -> uint256:
    if self.off[hat] or self.barred[wearer][hat]:
        return 0
    module: address = self.eligibility[hat]
    if module.is_contract:
        eligible: bool = False
        standing: bool = False
        eligible, standing = staticcall Eligibility(module).getWearerStatus(wearer, hat)
        if not eligible or not standing:
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
def viewHat(hat: uint256) -> (
    String[8], uint32, uint32, address, address, String[8], uint16, bool, bool
):
    return "", 100, 0, self.eligibility[hat], self.toggle[hat], "", 0, True, not self.off[hat]


@view
@external
def isActive(hat: uint256) -> bool:
    return not self.off[hat]
