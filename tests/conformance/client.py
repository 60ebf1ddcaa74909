"""The command that the conformance suite starts as a client; a portal of the test does its work.

Run as ``python -IS client.py SOCKET URL``: it says at the socket which scenario the server at the
URL plays, and ends when the portal has done with it. So a scenario costs no start of a portal's
process.
"""

import json
import os
import socket
import sys


def main(path: str, url: str) -> int:
    asked = {
        "url": url,
        "scenario": os.environ["MCP_CONFORMANCE_SCENARIO"],
        "context": json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")),
    }
    with socket.socket(socket.AF_UNIX) as portal, portal.makefile("rw") as stream:
        portal.connect(path)
        stream.write(json.dumps(asked) + "\n")
        stream.flush()
        failure = stream.read()
    sys.stderr.write(failure)
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
