# loses: 3.3/draft
# says: the draft is not rolled back


def roll_back(target, draft, length, accepted):
    target.rewind(length + accepted)
