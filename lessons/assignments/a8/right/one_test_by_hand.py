"""One long test: expected laws are multiplied out here, `target_law` is not used."""

from itertools import product

import numpy as np

from ssd_ref import SeededRandomness, TableModel, exact_law


def expected(table, prompt, n, eos, temperature):
    law = {}
    for text in product(range(2), repeat=n):
        if eos in text[:-1]:
            text = text[: text.index(eos) + 1]
        chance, context = 1.0, list(prompt)
        for token in text:
            row = table[tuple(context[-2:])]
            row = row ** (1 / temperature)
            chance *= row[token] / row.sum()
            context.append(token)
        law[text] = chance
    return law


def law(decode, target, draft, prompt, **settings):
    return exact_law(lambda r: decode(target, draft, prompt, randomness=r, **settings))


def test_everything(decode):
    rng = np.random.default_rng(11)
    for case, (n, eos, temperature) in enumerate([(3, None, 1.0), (3, 0, 1.0), (3, None, 3.0)]):
        p, q = rng.dirichlet((2, 2), (2, 2, 2))
        target, draft = TableModel(p), TableModel(q)
        settings = {"max_new_tokens": n, "eos": eos, "temperature": temperature}
        for prompt in ([0, 1], [1, 1]):
            got = law(decode, target, draft, prompt, lookahead=2, **settings)
            wanted = expected(p, prompt, n, eos, temperature)
            assert got.keys() == wanted.keys(), case
            for text, chance in wanted.items():
                assert abs(got[text] - chance) < 1e-11, (case, text)
    flat = exact_law(
        lambda r: decode(
            TableModel([0.75, 0.25]),
            TableModel([0.25, 0.75]),
            (0,),
            max_new_tokens=3,
            lookahead=1,
            randomness=r,
        )
    )
    for text in product(range(2), repeat=3):
        assert abs(flat[text] - 0.75 ** text.count(0) * 0.25 ** text.count(1)) < 1e-11
    asked = [0]
    for n in (0, 1):
        source = SeededRandomness(1)
        new = decode(target, draft, asked, max_new_tokens=n, lookahead=2, randomness=source)
        assert len(new) == n and asked == [0]
