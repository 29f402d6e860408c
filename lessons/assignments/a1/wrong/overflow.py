# loses: 1.1/extremes
# says: an exponential overflows


def with_temperature(logits, temperature):
    if temperature == 0:
        return np.eye(len(logits))[np.argmax(logits)]
    weights = np.exp(logits / temperature)
    return weights / weights.sum()
