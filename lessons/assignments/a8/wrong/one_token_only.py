# whole
# loses: 8.2/test 8.2/rows 8.2/temperature 8.3/context 8.3/ends 8.4/cache 8.4/untold
# says: counts the tests that are passed, the ones behind the first rejection, too
# says: an entry that was used serves again
"""Written from the sheet alone: the first token, one draft."""

from ssd_ref import TableModel, exact_law
from ssd_ref.testing import compare_laws, target_law


def test_first_token(decode):
    p, q = TableModel([0.5, 0.3, 0.2]), TableModel([0.2, 0.2, 0.6])
    got = exact_law(lambda r: decode(p, q, [0], max_new_tokens=1, lookahead=1, randomness=r))
    assert compare_laws(got, target_law(p, [0], max_new_tokens=1)).equal
