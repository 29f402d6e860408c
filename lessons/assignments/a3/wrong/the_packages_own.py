# loses: 3.1/eos 3.1/length 3.1/order 3.4/law 3.4/tempered 3.4/ends 3.4/counters
# says: ssd_ref.transcript.Limits.cut: this is yours to write
# says: ssd_ref.speculative.speculative: this is yours to write


import ssd_ref
from ssd_ref.transcript import Limits


def cut(emitted, room, eos):
    return Limits(0, room, None, eos).cut(0, emitted)


def speculative(target, draft, prompt, *, law, draft_law, **settings):
    run = ssd_ref.speculative(target, draft, prompt, temperature=law.temperature, **settings)
    return run.tokens, run.finish_reason, [(r.drafted, r.accepted, r.emitted) for r in run.rounds]
