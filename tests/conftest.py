"""Makes the helpers beside the tests importable, and Ctrl-C testable."""

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# A shell starts background jobs with SIGINT ignored, and children inherit that: without this
# the tests of Ctrl-C would fail wherever the suite runs in the background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
