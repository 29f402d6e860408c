# whole
# loses: 8.2/test 8.2/replacement 8.2/rows 8.2/temperature 8.3/context 8.3/ends 8.3/chance 8.4/cache 8.4/untold
# says: has an epsilon in the denominator of p/q
# says: draws the bonus token at the place of the first test
"""Samples 400 texts instead of enumerating: it sees what is large."""

from collections import Counter

from ssd_ref import SeededRandomness, TableModel
from ssd_ref.testing import target_law


def test_frequencies(decode):
    p, q = TableModel([0.5, 0.4, 0.1]), TableModel([0.1, 0.2, 0.7])
    texts = Counter(
        tuple(decode(p, q, [0], max_new_tokens=2, lookahead=2, randomness=SeededRandomness(seed)))
        for seed in range(400)
    )
    for text, chance in target_law(p, [0], max_new_tokens=2).items():
        assert abs(texts[text] / 400 - chance) < 0.1, text
