# loses: 5.4/values
# says: the ratio of the masses is given: the whole is normalised after the weight


def weight_for(law, guessed, mass):
    return mass / law[list(guessed)].sum()
