"""`python -m redraft.cli`."""

import sys

from redraft.cli.main import main

sys.exit(main())
