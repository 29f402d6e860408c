# loses: 9.1/values 9.1/lengths
# says: the rates of the prompts are averaged


def fair_score(mine, theirs, rounds, picks):
    rates = (mine - theirs) / rounds
    return rates.mean(), *np.quantile(rates[picks].mean(axis=1), [0.025, 0.975])
