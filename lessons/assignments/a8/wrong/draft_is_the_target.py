# whole
# loses: 8.2/test 8.2/replacement 8.2/rows 8.2/temperature 8.3/context 8.3/ends 8.3/chance 8.4/cache 8.4/untold
# says: The decoder accepts every draft.
# says: The decoder draws the replacement of a rejected token from p.
"""Lazy: the draft is the target, so that nothing is ever rejected."""

from ssd_ref import TableModel, exact_law
from ssd_ref.testing import compare_laws, target_law


def test_law(decode):
    model = TableModel([[0.5, 0.5], [0.9, 0.1]])
    law = exact_law(
        lambda r: decode(model, model, [0], max_new_tokens=2, lookahead=1, randomness=r)
    )
    assert compare_laws(law, target_law(model, [0], max_new_tokens=2))
