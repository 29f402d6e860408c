# loses: 5.1/values 5.1/limits 5.1/greedy 5.4/edges 5.5/forwards
# says: of equally likely tokens the higher one counts as guessed
"""Written from the sheet alone."""


def sigma(logits, temperature, width, c):
    if temperature == 0:
        law = np.zeros(len(logits))
        law[np.argmax(logits)] = 1.0
    else:
        law = np.exp((logits - np.max(logits)) / temperature)
        law = law / np.sum(law)
    top = np.argsort(logits)[::-1][:width]
    law[top] = law[top] * c
    if np.sum(law) == 0:
        return np.ones(len(law)) / len(law)
    return law / np.sum(law)


def weight_for(law, guessed, mass):
    inside = sum(law[t] for t in guessed)
    # c * inside / (c * inside + 1 - inside) = mass
    return mass * (1 - inside) / (inside * (1 - mass))


def chains(session, lengths, firsts, n, eos):
    b = session.branch(lengths)
    result = [[] for _ in lengths]
    tokens = list(firsts)
    for step in range(n):
        for j in range(len(lengths)):
            if eos is not None and eos in result[j]:
                continue
            logits = b.extend([j], [tokens[j]])[0]
            tokens[j] = int(np.argmax(logits))
            result[j].append(tokens[j])
    return result
