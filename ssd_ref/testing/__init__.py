"""Tools to test a decoder's output law, the reader's own included, and to check exercises."""

from ssd_ref.testing.check import check
from ssd_ref.testing.comparison import Comparison, compare_laws
from ssd_ref.testing.target_law import target_law

__all__ = ["Comparison", "check", "compare_laws", "target_law"]
