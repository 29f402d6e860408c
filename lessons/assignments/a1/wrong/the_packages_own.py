# loses: 1.1/values 1.1/extremes 1.1/greedy 1.5/law 1.5/ends 1.5/reads
# says: ssd_ref.laws.Law.rows: this is yours to write
# says: ssd_ref.autoregressive.autoregressive: this is yours to write
import ssd_ref


def with_temperature(logits, temperature):
    return ssd_ref.Law(temperature).rows(logits[None])[0]


def decode(target, prompt, **settings):
    return ssd_ref.autoregressive(target, prompt, **settings).tokens
