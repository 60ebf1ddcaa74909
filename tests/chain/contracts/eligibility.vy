# pragma version 0.4.3
# @title A module that decides who may wear a hat, and tells nobody when it changes its mind.

barred: HashMap[address, bool]


@external
def bar(wearer: address):
    self.barred[wearer] = True


@view
@external
def getWearerStatus(wearer: address, hat: uint256) -> (bool, bool):
    return not self.barred[wearer], True
