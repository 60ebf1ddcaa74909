def grow():
    return fall()


def fall():
    return None
