"""Services for the gateway's tests: each test has a share of its own."""

import uuid
from collections.abc import AsyncIterator

import pytest


@pytest.fixture
async def postgres(postgres_url: str) -> AsyncIterator[str]:
    """The ``postgresql://`` URL of an empty database, dropped at the end of the test."""
    import asyncpg

    server = postgres_url.replace("+asyncpg", "")
    name = f"porch_{uuid.uuid4().hex}"
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(f'CREATE DATABASE "{name}"')
        yield f"{server.rpartition('/')[0]}/{name}"
        await connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    finally:
        await connection.close()
