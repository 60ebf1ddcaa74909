def starred():
    return _private()


def _private():
    return None
