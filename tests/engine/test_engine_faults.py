"""Whatever becomes of the speculator, the verifier finishes the text, with the same law."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings

import pytest
from engine_models import Hashed, hashed, source
from faulty_worker import FAULTS, LATE

from ssd_ref import SeededRandomness, ssd
from ssd_ref.engine import Engine, Fault, Source

pytestmark = pytest.mark.slow  # left out of the everyday run

TARGET = Hashed(1)
MORE = {"max_new_tokens": 25, "lookahead": 3}


def faulty(plan, **options):
    command = (sys.executable, "-m", "faulty_worker", json.dumps(plan))
    return Engine(TARGET, source(), pin=False, command=command, **options)


def settings(sequence):
    """Both backups; the draft's with C = 1, whose text is SD's."""
    backup, c = (("draft", 1), ("uniform", 0.5))[sequence % 2]
    lists = {"fan_out": [2, 1, 1, 2], "fan_out_miss": [3, 0, 0, 1]}
    randomness = SeededRandomness(0, sequence)
    return MORE | lists | {"backup": backup, "saguaro_c": c, "randomness": randomness}


def undisturbed(sequence):
    return ssd(TARGET, hashed(), [1, 2], **settings(sequence))


def decode(engine, sequence):
    return engine.decode([1, 2], **settings(sequence))


def check_fault(fault, at, timeout):
    """In spite of the fault the text of a run without, and a new speculator for the next one."""
    late = fault == "too long"  # seen with the next message
    with faulty({"1": (fault, at), "2": (fault, at)}, timeout=timeout) as engine:
        for sequence in (1, 2):
            with pytest.warns(RuntimeWarning, match=f"from round {at + late}") as said:
                text = decode(engine, sequence)
            assert len(said) == 1
            assert text == undisturbed(sequence)
            assert engine.worker is None
        assert decode(engine, 3) == undisturbed(3)
        assert engine.worker is not None


def test_the_same_text_after_a_fault():
    check_fault("killed", 2, timeout=20)


@pytest.mark.slow
@pytest.mark.parametrize("at", [1, 3])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_same_text_after_each_fault(fault, at):
    check_fault(fault, at, timeout=2 if fault in LATE else 20)


def test_without_drafts_after_a_fault():
    with (
        faulty({"1": ("killed", 2)}, fallback="ar") as engine,
        pytest.warns(RuntimeWarning, match="goes on with AR from round 2"),
    ):
        text = decode(engine, 1)
    served = [record.served_by for record in text.rounds]
    assert served == ["first", *["target"] * (len(served) - 1)]
    assert len(text.tokens) == MORE["max_new_tokens"]


def test_what_is_said_names_the_error():
    with (
        faulty({"1": ("bug", 2)}) as engine,
        pytest.warns(RuntimeWarning, match=r"closed the connection \(RuntimeError: a bug in the"),
    ):
        decode(engine, 1)


@pytest.mark.parametrize(
    "draft, expected",
    [
        (Source("no.such.module:draft"), "expected a function as .*, got 'no.such.module:draft'"),
        (source("hashed", no_such=1), "did not start: TypeError: .*no_such"),
    ],
)
def test_a_draft_that_cannot_be_had(draft, expected):
    with pytest.raises(Fault, match=expected):
        Engine(TARGET, draft, pin=False).start()


def test_another_vocabulary_is_refused():
    with pytest.raises(ValueError, match="same vocabulary: got 5 and 4 tokens"):
        Engine(TARGET, source(vocabulary=4), pin=False).start()


OWNER = """
import os, sys, time
from engine_models import Hashed, slow, source
from ssd_ref import SeededRandomness
from ssd_ref.engine import Engine
if __name__ == "__main__":
    with Engine(slow(Hashed(1), 5, 5), source(), pin=False) as engine:
        print(engine.worker.process.pid, flush=True)
        engine.decode([1], max_new_tokens=10_000, lookahead=2, fan_out=[1, 1, 1],
                      randomness=SeededRandomness(0))
"""


TERM = pytest.param(signal.SIGTERM, marks=pytest.mark.slow)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL, TERM])
def test_no_speculator_is_left_behind(sent):
    paths = os.pathsep.join(filter(None, sys.path))
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": paths},
    )  # fmt: skip
    with owner:
        speculator = int(owner.stdout.readline())
        assert is_alive(speculator)
        time.sleep(0.1)  # into the text
        owner.send_signal(sent)
        owner.wait(20)
        wait_for(lambda: not is_alive(speculator))


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True
    )
    return not status.stdout.startswith("Z")


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
def test_soak():
    """200 prompts, one in eight with a fault in some round: every text complete, and as without."""
    chance = random.Random(7)
    quick = sorted(set(FAULTS) - set(LATE))  # late ones take as long as the limit
    plan = {
        str(n): (chance.choice(quick), chance.randint(1, 6)) for n in range(200) if n % 8 == 0
    } | {"100": ("hung", 3), "150": ("stopped", 2)}
    said = 0
    with faulty(plan, timeout=3) as engine, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for sequence in range(200):
            assert decode(engine, sequence) == undisturbed(sequence), plan.get(str(sequence))
        said = len(caught)
    assert said >= 20  # of 27: a text may end before its fault
