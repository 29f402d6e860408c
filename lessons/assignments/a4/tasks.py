"""Assignment 4: its tasks, what each is checked for, and what gives the answers away."""

from __future__ import annotations

from pathlib import Path

from lessons.assignments.a4 import caches_tried, slips, texts_tried
from lessons.assignments.spec import Assignment, Check, Task

HIDES = (
    "ssd_ref.fan_out.guess_outcomes",
    "ssd_ref.fan_out.bonus_ranking",
    "ssd_ref.ssd.Speculator.prepare",
    "ssd_ref.ssd.Speculator.guess",
    "ssd_ref.ssd.Speculator.open_entries",
    "ssd_ref.ssd.Speculator.answer",
    "ssd_ref.ssd.ssd",
)

ASSIGNMENT = Assignment(
    number=4,
    title="SSD on tables",
    hours="3 to 5",
    folder=Path(__file__).parent,
    tasks=(
        Task("4.1", "Guess outcomes", "guesses",
             (Check("ranking", 1, caches_tried.ranking),
              Check("rejected", 2, caches_tried.rejected), Check("slots", 1, caches_tried.slots)),
             slips.GUESSES, HIDES, "lesson 05, section 2"),
        Task("4.2", "Fill the cache", "prepare",
             (Check("texts", 2, caches_tried.texts), Check("ends", 1, caches_tried.ends)),
             slips.PREPARE, HIDES, "lesson 05, section 3"),
        Task("4.3", "Hit and miss", "ssd",
             (Check("law", 3, texts_tried.laws, 30), Check("ends", 1, texts_tried.ends),
              Check("hits", 2, texts_tried.hits, 30), Check("before", 2, texts_tried.before)),
             slips.SSD, HIDES, "lesson 05, sections 5 to 7"),
        Task("4.4", "Several texts, one round", "serve_all",
             (Check("keys", 2, caches_tried.keys), Check("before", 2, caches_tried.times)),
             slips.SERVE_ALL, HIDES, "lesson 05, sections 3 and 5"),
    ),
)  # fmt: skip
