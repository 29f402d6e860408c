"""The speculator's process."""

import sys

from ssd_ref.engine.serve import main

sys.exit(main(sys.argv[1:]))
