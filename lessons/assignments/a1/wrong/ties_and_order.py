# loses: 1.2/top_k 1.2/both 1.2/top_p
# says: more than k tokens are kept where some are equally likely
"""Two faults: a threshold decides top-k, and top-p comes first."""


def truncated(law, top_k, top_p):
    law = law.copy()
    if top_p is not None:
        order = np.argsort(law)[::-1]
        before = np.cumsum(law[order]) - law[order]
        law[order[before >= top_p]] = 0
        law /= law.sum()
    if top_k is not None:
        least = np.sort(law)[::-1][min(top_k, len(law)) - 1]
        law[law < least] = 0
        law /= law.sum()
    return law
