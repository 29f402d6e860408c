# loses: 1.1/values 1.1/extremes 1.6/values
# says: all digits shown agree, later ones do not: is something rounded, to float32 perhaps?
# says: the session still holds the candidate before: it was not rewound
"""Two faults, in two tasks."""


def with_temperature(logits, temperature):
    if temperature == 0:
        return np.eye(len(logits))[np.argmax(logits)]
    z = (logits - np.max(logits)) / temperature
    weights = np.exp(z.astype(np.float32))
    return weights / weights.sum()


def scores(target, prompt, candidates):
    session = target.start(prompt[:-1])
    found = []
    for candidate in candidates:
        rows = session.extend([prompt[-1], *candidate])
        found.append(sum(np.log(with_temperature(row, 1.0)[t]) for row, t in zip(rows, candidate)))
    return found
