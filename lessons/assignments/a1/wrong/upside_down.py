# loses: 1.1/values 1.1/extremes
# says: the logits are multiplied by the temperature (lesson 01, section 2)


def with_temperature(logits, temperature):
    if temperature == 0:
        return np.eye(len(logits))[np.argmax(logits)]
    weights = np.exp((logits - np.max(logits)) * temperature)
    return weights / weights.sum()
