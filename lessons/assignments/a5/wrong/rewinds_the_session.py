# loses: 5.5/chains 5.5/forwards
# says: the session is moved, and rewound from text to text


def chains(session, lengths, firsts, n, eos):
    found = []
    for length, last in zip(lengths, firsts, strict=True):
        session.rewind(min(length, session.length))
        chain = []
        while len(chain) < n and eos not in chain:
            last = int(session.extend([last])[0].argmax())
            chain.append(last)
        found.append(chain)
    return found
