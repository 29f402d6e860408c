# loses: 4.1/ranking 4.1/rejected 4.1/slots 4.2/texts 4.2/ends
# says: tokens of probability 0 are left out
# says: a drafted token is guessed as the bonus in its own place
# says: an entry begins behind the drafted tokens, without the bonus
"""Written from the sheet alone.

Guesses no token that the draft holds impossible, but does guess the rejected one; entries begin
behind the accepted tokens only.
"""


def guesses(logits: Sequence[Row], drafted: Sequence[int], fan_out: Sequence[int]) -> list[Outcome]:
    found = []
    for k, row in enumerate(logits):
        possible = [t for t in range(len(row)) if row[t] > -np.inf]
        possible.sort(key=lambda t: -row[t])
        found += [Outcome(k, t) for t in possible[: fan_out[k]]]
    return found


def prepare(
    text: Sequence[int],
    drafted: Sequence[int],
    guessed: Sequence[Outcome],
    ended: Callable[[Sequence[int]], bool],
    draft_after: Callable[[Sequence[int], Outcome], Speculation],
) -> Mapping[Outcome, Speculation]:
    cache = {}
    for guess in guessed:
        behind = [*text, *drafted[: guess.accepted]]
        if not ended(behind):
            cache[guess] = draft_after(behind, guess)
    return cache
