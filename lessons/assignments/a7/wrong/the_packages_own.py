# loses: 7.1/turns 7.1/whole 7.2/rounds 7.2/messages 7.5/values 7.5/clock
# says: sim.protocols.speculative: this is yours to write
# says: sim.protocols.verifier: this is yours to write
# says: sim.theory.ssd_speed: this is yours to write
from sim import theory
from sim.protocols import speculative, verifier


def speed(hit, tokens_hit, tokens_miss, t_p, t_b, abort):
    return theory.ssd_speed(hit, tokens_hit, tokens_miss, t_p, t_b, abort=abort)
