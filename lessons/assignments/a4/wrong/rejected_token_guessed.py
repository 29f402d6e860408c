# loses: 4.1/rejected 4.1/slots
# says: a drafted token is guessed as the bonus in its own place


def guesses(logits, drafted, fan_out):
    found = []
    for k, z in enumerate(logits):
        width = fan_out[k] if k < len(drafted) else fan_out[-1]
        found += [Outcome(k, int(t)) for t in np.argsort(-z, kind="stable")[:width]]
    return found
