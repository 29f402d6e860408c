# whole
# loses: 8.2/rows 8.2/temperature 8.3/context 8.3/ends 8.4/cache 8.4/untold
# says: draws the bonus token from the target's law before the last draft
# says: leaves a rejected token in the target's context
# says: looks for the end token only at the end of a round's block
# says: has a cache whose key leaves out the bonus token
"""Written from the sheet alone; two faults: tables that look 0 back, and no thought of the end."""

from ssd_ref import TableModel, exact_law
from ssd_ref.testing import compare_laws, target_law


def test_law(decode):
    p, q = TableModel([0.2, 0.5, 0.3]), TableModel([0.6, 0.2, 0.2])
    for lookahead in (1, 2):
        law = exact_law(
            lambda r: decode(p, q, [0], max_new_tokens=2, lookahead=lookahead, randomness=r)
        )
        assert compare_laws(law, target_law(p, [0], max_new_tokens=2))
