# loses: 4.4/keys 4.4/before
# says: the key lacks the text's number: another text's entry is found


def serve_all(texts, drafted, guessed, draft_after, wait):
    cache = {}
    for number, text in texts.items():
        for k, t in guessed[number]:
            cache[k, t] = draft_after(number, [*text, *drafted[number][:k], t])
    served = {}
    for number, (k, t) in wait().items():
        if (k, t) in cache:
            served[number] = cache[k, t]
        else:
            served[number] = draft_after(number, [*texts[number], *drafted[number][:k], t])
    return served
