def cut():
    return saw()


def saw():
    return None


def other():
    return None
