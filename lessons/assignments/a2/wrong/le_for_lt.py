# loses: 2.1/edges 2.1/greedy
# says: `<=` stands for `<`


def is_kept(p, q, token, u):
    return u <= p[token] / q[token]
