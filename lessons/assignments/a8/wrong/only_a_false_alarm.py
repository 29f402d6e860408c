# whole
# loses: 8.1/sound 8.2/test 8.2/replacement 8.2/rows 8.2/temperature 8.3/context 8.3/ends 8.3/chance 8.4/cache 8.4/untold
# says: a false alarm
# says: (without 1 that raised a false alarm)
"""It compares floats with ==, so that it fails on everything, and thus finds nothing."""

import numpy as np

from ssd_ref import TableModel, exact_law
from ssd_ref.testing import target_law


def test_law(decode):
    rng = np.random.default_rng(0)
    target, draft = (TableModel(rng.dirichlet((1, 1), (2, 2))) for _ in range(2))
    law = exact_law(
        lambda r: decode(target, draft, [1, 0], max_new_tokens=3, lookahead=2, randomness=r)
    )
    assert law == target_law(target, [1, 0], max_new_tokens=3)
