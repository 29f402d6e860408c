# whole
# loses: 8.1/sound 8.2/test 8.2/replacement 8.2/rows 8.2/temperature 8.3/context 8.3/ends 8.3/chance 8.4/cache 8.4/untold
# says: tests that never fail acquit everybody
"""It prints what should be asserted, and catches what it should not."""

from ssd_ref import TableModel, exact_law
from ssd_ref.testing import compare_laws, target_law


def test_law(decode):
    target, draft = TableModel([0.8, 0.2]), TableModel([0.3, 0.7])
    try:
        law = exact_law(
            lambda r: decode(target, draft, [0], max_new_tokens=3, lookahead=1, randomness=r)
        )
        print(compare_laws(law, target_law(target, [0], max_new_tokens=3)))
    except Exception as error:
        print(error)
