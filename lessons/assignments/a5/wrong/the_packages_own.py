# loses: 5.1/values 5.1/limits 5.1/greedy 5.3/law 5.3/same 5.3/hits 5.3/before
# says: ssd_ref.laws.saguaro: this is yours to write
# says: ssd_ref.ssd.ssd: this is yours to write


import ssd_ref
from ssd_ref.laws import ranking, saguaro


def sigma(logits, temperature, width, c):
    return saguaro(Law(temperature).rows(logits[None])[0], ranking(logits)[:width], c)


def ssd(target, draft, prompt, **settings):
    run = ssd_ref.ssd(target, draft, prompt, **settings)
    return run.tokens, [record.served_by for record in run.rounds]
