"""`python -m ssd_ref.cli` is the command `ssd-ref`."""

import sys

from ssd_ref.cli import main

if __name__ == "__main__":
    sys.exit(main())
