# loses: 4.2/texts 4.2/ends
# says: an entry begins behind all drafted tokens, accepted or not


def prepare(text, drafted, guessed, ended, draft_after):
    cache = {}
    for k, t in guessed:
        begin = [*text, *drafted, t]
        if not ended(begin):
            cache[Outcome(k, t)] = draft_after(begin, Outcome(k, t))
    return cache
