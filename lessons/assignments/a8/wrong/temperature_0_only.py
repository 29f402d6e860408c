# loses: 8.2/temperature
# says: computes the target's law at temperature 1
"""Greedy decoding alone cannot tell temperatures apart here: its texts are those of T = 1's argmax."""


def test_temperature(decode):
    target, draft = TableModel([0.5, 0.3, 0.2]), TableModel([0.2, 0.2, 0.6])
    source = SeededRandomness(0)
    for n in (1, 2):
        text = decode(
            target, draft, [0], max_new_tokens=n, lookahead=2, temperature=0, randomness=source
        )
        assert len(text) == n
