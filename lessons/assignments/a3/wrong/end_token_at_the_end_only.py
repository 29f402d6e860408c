# loses: 3.1/eos 3.1/order
# says: only the last token of the block is compared with the end token


def cut(emitted, room, eos):
    kept = emitted[:room]
    if kept[-1] == eos:
        return kept, "eos"
    return kept, "length" if len(kept) == room else None
