"""Assignment 3: its tasks, what each is checked for, and what gives the answers away."""

from __future__ import annotations

from pathlib import Path

from lessons.assignments.a3 import rounds_tried, slips, texts_tried
from lessons.assignments.spec import Assignment, Check, Task

HIDES = (
    "ssd_ref.transcript.Limits.cut",
    "ssd_ref.speculative.Drafter.speculate",
    "ssd_ref.speculative.Drafter.draft_row",
    "ssd_ref.verification.Verifier.verify",
    "ssd_ref.speculative.speculative",
    "ssd_ref.ssd.ssd",
)

ASSIGNMENT = Assignment(
    number=3,
    title="The loop of speculative decoding",
    hours="4 to 6",
    folder=Path(__file__).parent,
    tasks=(
        Task("3.1", "Where the text ends", "cut",
             (Check("eos", 1, rounds_tried.end_tokens), Check("length", 1, rounds_tried.limits),
              Check("order", 1, rounds_tried.both_ends)),
             slips.CUT, HIDES, "lesson 03, section 9"),
        Task("3.2", "Draft", "draft_block",
             (Check("law", 2, rounds_tried.draft_laws), Check("rows", 1, rounds_tried.rows_carried),
              Check("ends", 1, rounds_tried.draft_ends),
              Check("reads", 1, rounds_tried.draft_reads)),
             slips.DRAFT_BLOCK, HIDES, "lesson 02, section 5"),
        Task("3.3", "Roll back", "roll_back",
             (Check("target", 1, rounds_tried.target_lengths),
              Check("draft", 2, rounds_tried.draft_lengths)),
             slips.ROLL_BACK, HIDES, "lesson 02, section 5"),
        Task("3.4", "The loop", "speculative",
             (Check("law", 4, texts_tried.laws, 30), Check("tempered", 1, texts_tried.tempered),
              Check("ends", 2, texts_tried.ends), Check("counters", 2, texts_tried.counters, 30)),
             slips.SPECULATIVE, HIDES, "lesson 02, sections 5 and 8"),
        Task("3.5", "A law that looks back", "penalised",
             (Check("values", 2, texts_tried.penalty_values),
              Check("law", 2, texts_tried.penalty_laws)),
             slips.PENALISED, HIDES, "lesson 02, section 5"),
    ),
)  # fmt: skip
