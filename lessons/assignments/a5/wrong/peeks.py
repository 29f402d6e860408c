# loses: 5.3/hits 5.3/before
# says: the cache is prepared for the very outcome, after a look at it


def ssd(
    target, draft, prompt, *, max_new_tokens, lookahead, fan_out, fan_out_miss,
    saguaro_c=1.0, backup="draft", temperature=1.0, eos=None, randomness,
):  # fmt: skip
    text, served = list(prompt), []
    most = len(prompt) + max_new_tokens

    def behind(longer, widths, uniform, round, branch):
        n = min(lookahead, most - len(longer))
        return speculate(
            draft,
            longer,
            n,
            eos,
            widths,
            saguaro_c,
            temperature,
            uniform,
            round,
            branch,
            randomness,
        )

    who, widths = "first", fan_out
    speculation = behind(text, fan_out, False, 1, None)
    while True:
        round, room, drafted = len(served) + 1, most - len(text), speculation.tokens
        cache = {}
        outcome = outcome_of(target, text, speculation, temperature, round, randomness)
        for k, t in [outcome]:
            if not cut([*drafted[:k], t], room, eos)[1]:
                longer = [*text, *drafted[:k], t]
                cache[k, t] = behind(longer, fan_out, False, round + 1, Outcome(k, t))
        kept, over = cut([*drafted[: outcome.accepted], outcome.bonus], room, eos)
        text += kept
        served.append(who)
        if over:
            return text[len(prompt) :], served
        if outcome in cache:
            who, widths, speculation = "cache", fan_out, cache[outcome]
        else:
            who, widths = "backup", fan_out_miss
            speculation = behind(text, fan_out_miss, backup == "uniform", round + 1, None)
