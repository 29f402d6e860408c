# loses: 3.3/target 3.3/draft
# says: it has not read that far


def roll_back(target, draft, length, accepted):
    target.rewind(length + accepted)
    draft.rewind(length + accepted)
