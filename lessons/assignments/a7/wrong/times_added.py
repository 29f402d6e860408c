# loses: 7.5/values 7.5/clock
# says: filling and verifying are added: they run at the same time


def speed(hit, tokens_hit, tokens_miss, t_p, t_b, abort):
    tokens = hit * tokens_hit + (1 - hit) * tokens_miss
    waits = 1 if abort else max(1, t_p)
    return tokens / (hit * (1 + t_p) + (1 - hit) * (waits + t_b))
