"""The tokenizer, and the text: held out means held out."""

from __future__ import annotations

import warnings
from pathlib import Path
from pydoc_data.topics import topics

import pytest

from ssd_ref.pair.corpus import (
    END,
    HELD_OUT,
    SHINGLE,
    ByteTokenizer,
    Corpus,
    CorpusWarning,
    assemble,
    docstrings,
    token_stream,
    windows,
)

TOKENIZER = ByteTokenizer()


@pytest.fixture(scope="module")
def topic_corpus() -> Corpus:
    """The help topics alone: the docstrings take seconds to parse."""
    return assemble(topics, iter(()))


@pytest.mark.parametrize("text", ["", "if x:\n\ty = 1\0", "grün, 猫, 🐍", "\u0085\u2028"])
def test_every_text_survives_a_round_trip(text: str) -> None:
    tokens = TOKENIZER.encode(text)
    assert all(0 <= t < 256 for t in tokens)
    assert TOKENIZER.decode(tokens) == text


def test_what_is_not_text_has_a_stated_display() -> None:
    assert TOKENIZER.decode([72, END, 105, END]) == "Hi"
    assert TOKENIZER.decode([0xFF, 72, 0xF0, 0x9F]) == "\ufffdH\ufffd"
    assert TOKENIZER.encode("a\ud800") == list(b"a?")


@pytest.mark.parametrize("token", [-1, 257])
def test_an_id_outside_the_vocabulary_is_refused(token: int) -> None:
    with pytest.raises(ValueError, match=rf"0\.\.256, got {token}"):
        TOKENIZER.decode([65, token])


def test_all_held_out_topics_exist(topic_corpus: Corpus) -> None:
    assert tuple(topic_corpus.held_out) == HELD_OUT
    share = sum(map(len, topic_corpus.held_out.values())) / sum(len(t) for t in topics.values())
    assert 0.05 < share < 0.08


def test_training_text_shares_hardly_a_window_with_the_held_out_text(topic_corpus: Corpus) -> None:
    assert not set(topic_corpus.training) & set(topic_corpus.held_out.values())
    assert topic_corpus.overlap() < 0.03


def test_a_docstring_that_quotes_held_out_text_is_dropped() -> None:
    held_out = topics["raise"][100:200]
    corpus = assemble(topics, iter(["x" * SHINGLE, f"see: {held_out}", "too short", "x" * SHINGLE]))
    further = corpus.training[len(assemble(topics, iter(())).training) :]
    assert further == (b"x" * SHINGLE,)


def test_overlap_is_the_share_of_known_windows() -> None:
    known = bytes(range(100))
    corpus = Corpus((known,), {"a": known[:SHINGLE], "b": bytes(range(100, 101 + SHINGLE))})
    assert len(list(windows(corpus.held_out["b"]))) == 2
    assert corpus.overlap() == pytest.approx(1 / 3)


def test_prompts_are_held_out_paragraphs(topic_corpus: Corpus) -> None:
    prompts = topic_corpus.prompts(64, size=64)
    assert len(prompts) == 64
    assert prompts == topic_corpus.prompts(64, size=64)
    for prompt in map(bytes, prompts):
        assert len(prompt) == 64
        starts = [
            t.startswith(prompt) or b"\n\n" + prompt in t for t in held_out_texts(topic_corpus)
        ]
        assert any(starts)
    with pytest.raises(ValueError, match="at least 100000 held-out paragraphs"):
        topic_corpus.prompts(100_000)


def held_out_texts(corpus: Corpus) -> list[bytes]:
    return list(corpus.held_out.values())


def test_documents_are_joined_by_end_tokens() -> None:
    assert token_stream([b"ab", b"c"]).tolist() == [END, 97, 98, END, 99, END]


def test_the_hash_depends_on_every_document_and_border() -> None:
    hashes = {
        Corpus(training, {"t": b"z"}).hash
        for training in [(b"ab",), (b"a", b"b"), (b"b", b"a"), (b"ab", b"")]
    }
    assert len(hashes) == 4


def test_another_text_than_the_trained_one_is_said_aloud(topic_corpus: Corpus) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert topic_corpus.compare(topic_corpus.hash)
        assert topic_corpus.compare_held_out(topic_corpus.held_out_hash)
    found = topic_corpus.hash[:16]
    with pytest.warns(CorpusWarning, match=f"about text with hash 0000.* has {found}"):
        assert not topic_corpus.compare("0" * 64)
    found = topic_corpus.held_out_hash[:16]
    with pytest.warns(CorpusWarning, match=f"about held-out text with hash 0000.* has {found}"):
        assert not topic_corpus.compare_held_out("0" * 64)


def test_the_held_out_hash_does_not_depend_on_the_training_text(topic_corpus: Corpus) -> None:
    assert topic_corpus.held_out_hash == Corpus((), topic_corpus.held_out).held_out_hash
    assert topic_corpus.held_out_hash == Corpus((), topic_corpus.held_out).hash


def test_docstrings_are_parsed_in_a_fixed_order_and_never_imported(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text('"""B."""\nraise SystemExit\ndef f():\n    """F."""\n')
    (tmp_path / "a.py").write_text('class C:\n    """C."""\n    def m(self):\n        """M."""\n')
    (tmp_path / "broken.py").write_text("def (:\n")
    (tmp_path / "escape.py").write_text('"""E."""\nx = "\\d"\n')
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "t.py").write_text('"""T."""\n')
    assert list(docstrings(tmp_path)) == ["C.", "M.", "B.", "F.", "E."]
