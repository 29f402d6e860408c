# loses: 1.2/top_p 1.2/both
# says: the token with which the sum reaches top_p is dropped


def truncated(law, top_k, top_p):
    order = np.argsort(-law, kind="stable")
    kept = law[order]
    if top_k is not None:
        kept[top_k:] = 0
        kept /= kept.sum()
    if top_p is not None:
        enough = np.cumsum(kept) >= top_p
        enough[0] = False  # one must be left
        kept[enough] = 0
        kept /= kept.sum()
    return kept[np.argsort(order)]
