# loses: 2.1/laws 2.1/edges 2.1/greedy 2.3/one 2.3/several 2.3/greedy 2.3/accepted 2.3/edges
# says: ssd_ref.verification.verify: this is yours to write
# says: ssd_ref.verification.acceptance: this is yours to write
from ssd_ref import verification
from ssd_ref.verification import verify


def is_kept(p, q, token, u):
    return u < verification.acceptance(p, q, token)[0]
