"""Assignment 1: its tasks, what each is checked for, and what gives the answers away."""

from __future__ import annotations

from pathlib import Path

from lessons.assignments.a1 import blocks_tried, laws_tried, slips, texts_tried
from lessons.assignments.spec import Assignment, Check, Task

LAWS = (
    "ssd_ref.laws.Law.rows",
    "ssd_ref.laws.Law._truncated",
    "ssd_ref.testing.target_law.next_law",
)
LOOPS = (
    *LAWS,
    "ssd_ref.autoregressive.autoregressive",
    "ssd_ref.speculative.speculative",
    "ssd_ref.ssd.ssd",
    "ssd_ref.testing.target_law.target_law",
)


ASSIGNMENT = Assignment(
    number=1,
    title="Laws, a KV cache, and one token after another",
    hours="4 to 6",
    folder=Path(__file__).parent,
    tasks=(
        Task("1.1", "Temperature", "with_temperature",
             (Check("values", 2, laws_tried.temperature_values),
              Check("extremes", 1, laws_tried.temperature_extremes),
              Check("greedy", 1, laws_tried.temperature_zero)),
             slips.TEMPERATURE, LAWS, "lesson 01, section 2"),
        Task("1.2", "Truncation", "truncated",
             (Check("top_k", 1, laws_tried.top_k), Check("top_p", 2, laws_tried.top_p),
              Check("both", 1, laws_tried.both), Check("tidy", 1, laws_tried.truncated_tidy)),
             slips.TRUNCATED, LAWS, "lesson 01, section 2"),
        Task("1.3", "Attention over a cache", "attend",
             (Check("one", 1, blocks_tried.one_query),
              Check("block", 2, blocks_tried.block_of_queries),
              Check("stale", 1, blocks_tried.stale_slots)),
             slips.ATTEND, (), "lesson 01, sections 3 and 4"),
        Task("1.4", "Read a block", "read_block",
             (Check("once", 2, blocks_tried.at_once), Check("pieces", 2, blocks_tried.in_pieces),
              Check("rewind", 1, blocks_tried.after_a_rewind)),
             slips.READ_BLOCK, (), "lesson 01, sections 4 and 5"),
        Task("1.5", "Decode", "decode",
             (Check("law", 3, texts_tried.laws), Check("ends", 1, texts_tried.ends),
              Check("reads", 1, texts_tried.how_much)),
             slips.DECODE, LOOPS, "lesson 01, sections 1 and 4"),
        Task("1.6", "Score several continuations", "scores",
             (Check("values", 2, texts_tried.score_values),
              Check("edges", 1, texts_tried.score_edges),
              Check("reads", 1, texts_tried.score_reads)),
             slips.SCORES, LAWS, "lesson 01, section 4"),
    ),
)  # fmt: skip
