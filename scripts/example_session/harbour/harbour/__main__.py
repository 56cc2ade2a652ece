"""`python -m harbour`."""

import sys

from harbour.cli import main

sys.exit(main())
