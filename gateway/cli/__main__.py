"""``python -m gateway.cli`` is ``porch``."""

from gateway.cli.program import main

if __name__ == "__main__":
    main(prog_name="porch")
