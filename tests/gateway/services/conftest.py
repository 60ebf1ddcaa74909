"""An S3 server of this process, for the tests of the objects service."""

import uuid
from collections.abc import Iterator

import httpx2
import pytest


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """The URL of an S3 server on loopback."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3_bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a prefix in an empty bucket; the environment leads to its server."""
    name = f"porch-{uuid.uuid4().hex}"
    httpx2.put(f"{s3_server}/{name}").raise_for_status()
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "example")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example-secret")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    return f"s3://{name}/below"
