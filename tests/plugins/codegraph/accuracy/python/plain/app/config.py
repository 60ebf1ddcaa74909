from dataclasses import dataclass


@dataclass
class Config:
    host: str = "localhost"

    def url(self) -> str:
        return normal(self.host)


def load() -> Config:
    return Config(host=default_host())


def default_host() -> str:
    return "mail"


def normal(host: str) -> str:
    return f"smtp://{host}"
