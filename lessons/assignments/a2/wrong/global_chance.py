# loses: 2.3/one 2.3/several 2.3/accepted
# says: it draws from np.random; every draw must go through the argument `randomness`
"""It seeds a global generator and draws beside `randomness`."""

np.random.seed(0)


def verify(law_after, speculation, randomness, round):
    for i, token in enumerate(speculation.tokens):
        randomness.commit(speculation.sites[i])
        p, q = law_after(i), speculation.rows[i]
        if np.random.random() >= p[token] / q[token]:
            return Outcome(i, int(np.random.choice(len(p), p=residual(p, q))))
    last = law_after(len(speculation))
    return Outcome(len(speculation), int(np.random.choice(len(last), p=last)))
