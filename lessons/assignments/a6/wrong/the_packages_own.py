# loses: 6.1/values 6.1/edges 6.2/values 6.2/edges 6.4/falling 6.4/budget 6.4/trap 6.4/any
# says: sim.theory.outcome_weights: this is yours to write
# says: ssd_ref.saguaro.allocation.allocate: this is yours to write
# says: sim.laws.Acceptance.tokens: this is yours to write
from ssd_ref.saguaro.allocation import allocate
from sim.theory import outcome_weights
from sim.laws import Acceptance


def tokens_per_round(a, lookahead):
    return Acceptance((a,), iid=True).tokens(lookahead)
