# loses: 5.5/forwards
# says: each branch gets forwards of its own


def chains(session, lengths, firsts, n, eos):
    branches = session.branch(lengths)
    found = []
    for j, first in enumerate(firsts):
        chain, last = [], first
        while len(chain) < n and eos not in chain:
            last = int(branches.extend([j], [last])[0].argmax())
            chain.append(last)
        found.append(chain)
    return found
