def slug(text: str) -> str:
    return clean(text).replace(" ", "-")


def clean(text: str) -> str:
    return text.strip().lower()
