"""A store loses nothing: a rerun goes on where it was, whatever the interruption left."""

import json

import pytest
from study_tables import PROMPTS, tables

from ssd_ref.study.collect import collect, keys_of
from ssd_ref.study.store import Store
from ssd_ref.study.texts import Setting

HEADER = {"weights": "abc", "dtype": "float64"}
SETTING = Setting(2, 1.0, (1, 1, 1), max_new_tokens=12)
KEYS = keys_of([SETTING], range(4), [0])


def run(path, keys=KEYS, load=tables, jobs=1, header=HEADER):
    steps = []
    store = Store(path, header)
    texts = collect(store, keys, PROMPTS, load, jobs=jobs, progress=lambda *at: steps.append(at))
    return texts, steps


def stops_after(count):
    """A loader whose target is interrupted while the text after `count` of them is decoded."""
    models = tables()
    begun = []

    class Target:
        vocabulary, context_limit = models.target.vocabulary, models.target.context_limit
        start_token = models.target.start_token

        def start(self, tokens):
            begun.append(tokens)
            if len(begun) > count:
                raise KeyboardInterrupt
            return models.target.start(tokens)

    return lambda: models._replace(target=Target())


def test_a_rerun_decodes_only_what_is_missing(tmp_path):
    path = tmp_path / "texts.jsonl"
    whole, steps = run(tmp_path / "other.jsonl")
    assert steps == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    with pytest.raises(KeyboardInterrupt):
        run(path, load=stops_after(2))
    assert len(path.read_text().splitlines()) == 1 + 2
    again, steps = run(path)
    assert again == whole
    assert steps == [(2, 4), (3, 4), (4, 4)]
    assert path.read_text() == (tmp_path / "other.jsonl").read_text()


@pytest.mark.parametrize("cut", [1, 30, 500])
def test_a_torn_last_line_is_dropped_and_decoded_again(tmp_path, cut):
    path = tmp_path / "texts.jsonl"
    whole, _ = run(path)
    data = path.read_bytes()
    path.write_bytes(data[:-cut])
    again, steps = run(path)
    assert again == whole and steps[0] == (3, 4)
    assert path.read_bytes() == data


def test_a_torn_header_is_written_again(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_bytes(b'{"header": {"wei')
    assert Store(path, HEADER).texts == {}
    assert json.loads(path.read_text()) == {"header": HEADER}


def test_other_weights_and_foreign_files_are_refused_and_left_alone(tmp_path):
    path = tmp_path / "texts.jsonl"
    run(path)
    with pytest.raises(ValueError, match=r"expected the header .*'abd'.*, got .*'abc'"):
        run(path, header=HEADER | {"weights": "abd"})
    path.write_text("my thesis")
    with pytest.raises(ValueError, match="expected recorded texts, got b'my thesis'"):
        run(path)
    assert path.read_text() == "my thesis"


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "texts.jsonl"
    run(path)
    lines = path.read_text().splitlines()
    for damage in (
        "[]",
        '{"setting": 3}',
        "{",
        lines[2].replace('"lookahead": 2', '"lookahead": 3'),
    ):
        path.write_text("\n".join([*lines[:2], damage, *lines[3:]]) + "\n")
        with pytest.raises(ValueError, match=r"texts.jsonl:3: expected a text, got"):
            run(path)


def test_texts_of_several_settings_share_a_file(tmp_path):
    path = tmp_path / "texts.jsonl"
    run(path)
    other = keys_of([Setting(2, 0.0, (1, 1, 1), max_new_tokens=12)], range(2), [0, 1])
    texts, steps = run(path, keys=[*KEYS, *other, *other])
    assert steps[0] == (4, 8) and [text.key for text in texts] == [*KEYS, *other]


@pytest.mark.slow
def test_many_processes_make_the_same_texts(tmp_path):
    alone, _ = run(tmp_path / "alone.jsonl")
    together, _ = run(tmp_path / "together.jsonl", jobs=2)
    assert together == alone
    lines = (tmp_path / "together.jsonl").read_text().splitlines()
    assert sorted(lines) == sorted((tmp_path / "alone.jsonl").read_text().splitlines())
