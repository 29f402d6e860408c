# loses: 5.1/values 5.1/limits 5.1/greedy 5.4/values
# says: the logits are multiplied by c
# says: the ratio of the masses is given
"""Written from the sheet alone.

Multiplies logits by c instead of probabilities; the weight for a mass is the quotient of the
masses.
"""


def sigma(logits: Row, temperature: float, width: int, c: float) -> Row:
    logits = np.array(logits, dtype=float)
    guessed = np.argsort(-logits, kind="stable")[:width]
    logits[guessed] *= c
    if temperature == 0:
        law = np.zeros(len(logits))
        law[np.argmax(logits)] = 1
        return law
    law = np.exp((logits - np.max(logits)) / temperature)
    return law / law.sum()


def weight_for(law: Row, guessed: Sequence[int], mass: float) -> float:
    inside = sum(law[t] for t in guessed)
    return float(mass / inside) if inside > 0 else 1.0
