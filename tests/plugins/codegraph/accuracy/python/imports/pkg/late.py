def arrive():
    return None
