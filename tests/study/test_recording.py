"""A recording is read back as it was written, and a damaged one is refused with its line."""

import pytest

from ssd_ref import RoundRecord
from ssd_ref.study.recording import read_rounds, write_rounds

ROUNDS = {
    "sd": [RoundRecord(1, "draft", 4, 4, 7, 5, None), RoundRecord(2, "draft", 3, 1, 9, 2, 4)],
    "ssd": [RoundRecord(1, "first", 4, 2, None, 2, None)],
}


def test_round_trip(tmp_path):
    path = tmp_path / "rounds.jsonl"
    write_rounds(path, {"weights": "abc"}, ROUNDS)
    assert read_rounds(path) == ({"weights": "abc"}, ROUNDS)
    assert len(path.read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("line", "damage"),
    [
        (0, '{"no": "header"}'),
        (1, '{"method": "sd", "round": 1}'),
        (2, '{"method": "sd", "rou'),
        (3, "[]"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, line, damage):
    path = tmp_path / "rounds.jsonl"
    write_rounds(path, {}, ROUNDS)
    lines = path.read_text().splitlines()
    lines[line] = damage
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=rf"rounds.jsonl:{line + 1}: expected a "):
        read_rounds(path)
