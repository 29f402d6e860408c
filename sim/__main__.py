"""`python -m sim`: the same as the installed command `ssd-sim`."""

import sys

from sim.cli import main

sys.exit(main())
