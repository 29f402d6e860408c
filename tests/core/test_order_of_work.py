"""SSD prepares *before* the outcome: the whole message log, and a target that may be exchanged."""

import numpy as np

from ssd_ref import SeededRandomness, TableModel, speculative, ssd
from ssd_ref.models import ContextModel
from ssd_ref.ssd import Speculator
from ssd_ref.verification import Verifier

CYCLE = TableModel(np.eye(3)[[1, 2, 0]])  # 0 -> 1 -> 2 -> 0, with certainty


class Logged(ContextModel):
    """A table that writes down every context it is asked about."""

    def __init__(self, name, table, log):
        super().__init__(table.vocabulary)
        self.name, self.table, self.log = name, table, log

    def logits_after(self, context):
        self.log.append((self.name, tuple(context)))
        return self.table.logits_after(context)


def test_the_whole_log_of_two_rounds():
    log = []
    target, draft = Logged("target", CYCLE, log), Logged("draft", CYCLE, log)
    text = ssd(
        target, draft, [0], max_new_tokens=5, lookahead=1, fan_out=[0, 1],
        randomness=SeededRandomness(0), on_round=lambda tokens, record: log.append(tokens),
    )  # fmt: skip
    assert text.tokens == [1, 2, 0, 1, 2]
    assert log == [
        ("draft", (0,)),  # round 1: draft 1
        ("draft", (0,)),  # glue on [0, 1]: rows after 0 and after 0 1
        ("draft", (0, 1)),
        ("draft", (0, 1, 2)),  # the branch "1 accepted, bonus 2": draft 0
        ("target", (0,)),  # only now the target verifies [0, 1]
        ("target", (0, 1)),
        [1, 2],
        ("draft", (0, 1, 2)),  # round 2, served from the cache: glue on [2, 0]
        ("draft", (0, 1, 2, 0)),
        ("draft", (0, 1, 2, 0, 1)),  # branch
        ("target", (0, 1, 2)),
        ("target", (0, 1, 2, 0)),
        [0, 1],
        ("draft", (0, 1, 2, 0, 1)),  # round 3 has room for one token, and one draft
        ("draft", (0, 1, 2, 0, 1, 2)),
        ("target", (0, 1, 2, 0, 1)),
        ("target", (0, 1, 2, 0, 1, 2)),
        [2],
    ]


def test_messages_alternate_and_the_cache_is_full_before_each_verification(monkeypatch):
    log = []

    def spy(owner, name, before):
        method = getattr(owner, name)

        def wrapped(self, *args):
            if before:
                log.append(name)
            result = method(self, *args)
            if not before:
                log.append(name)
            return result

        monkeypatch.setattr(owner, name, wrapped)

    spy(Speculator, "first", before=False)
    spy(Speculator, "prepare", before=False)  # logged when it is done
    spy(Verifier, "verify", before=True)  # logged when it begins
    spy(Speculator, "answer", before=False)
    ssd(
        CYCLE, CYCLE, [0], max_new_tokens=8, lookahead=2, fan_out=[1, 1, 1],
        randomness=SeededRandomness(0),
    )  # fmt: skip
    assert log == ["first", "prepare", "verify", *(["answer", "prepare", "verify"] * 2)]


def test_another_target_leaves_the_first_cache_bit_for_bit_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    tables = [TableModel(rng.dirichlet(np.ones(5), size=(5, 5))) for _ in range(3)]
    draft, targets = tables[0], tables[1:]
    caches = []

    def run(target):
        prepare = Speculator.prepare

        def keep_first(self):
            prepare(self)
            if self.round == 1:
                caches.append({o: (e.tokens, np.array(e.rows)) for o, e in self.cache.items()})

        with monkeypatch.context() as patch:
            patch.setattr(Speculator, "prepare", keep_first)
            return ssd(
                target, draft, [1, 2], max_new_tokens=12, lookahead=3, fan_out=[2, 1, 3, 2],
                saguaro_c=0.5, randomness=SeededRandomness(3),
            )  # fmt: skip

    texts = [run(target).tokens for target in targets]
    assert texts[0] != texts[1]
    first, second = caches
    assert list(first) == list(second)
    assert len(first) == 8
    for outcome in first:
        assert first[outcome][0] == second[outcome][0]
        assert first[outcome][1].tobytes() == second[outcome][1].tobytes()


def test_sd_and_ssd_emit_the_same_text_for_the_same_seed():
    """C = 1 and the draft as backup: for every fan-out the seed decides the text."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        target, draft = (TableModel(rng.dirichlet(np.ones(4), size=(4, 4))) for _ in range(2))
        K = int(rng.integers(0, 4))
        common = {"max_new_tokens": 15, "lookahead": K, "eos": [None, 3][seed % 2]}
        sd = speculative(target, draft, [0], randomness=SeededRandomness(seed), **common)
        for fan_out in ([0] * (K + 1), [1] * (K + 1), [9] * (K + 1), list(range(K + 1))):
            text = ssd(
                target, draft, [0], fan_out=fan_out, randomness=SeededRandomness(seed), **common
            )
            assert text.tokens == sd.tokens
            assert text.logprobs == sd.logprobs
            assert [(r.accepted, r.bonus) for r in text.rounds] == [
                (r.accepted, r.bonus) for r in sd.rounds
            ]
            served = [r.served_by for r in text.rounds[1:]]
            if fan_out == [9] * (K + 1):
                assert set(served) <= {"cache"}
            if fan_out == [0] * (K + 1):
                assert set(served) <= {"backup"}
