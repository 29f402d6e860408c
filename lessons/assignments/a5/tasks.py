"""Assignment 5: its tasks, what each is checked for, and what gives the answers away."""

from __future__ import annotations

from pathlib import Path

from lessons.assignments.a5 import branches_tried, laws_tried, slips, texts_tried
from lessons.assignments.spec import Assignment, Check, Task

HIDES = (
    "ssd_ref.laws.saguaro",
    "ssd_ref.ssd.Speculator.sigma",
    "ssd_ref.ssd.Speculator.prepare",
    "ssd_ref.ssd.Speculator.open_entries",
    "ssd_ref.ssd.Speculator.tree_step",
    "ssd_ref.ssd.Speculator.answer",
    "ssd_ref.ssd.ssd",
)

ASSIGNMENT = Assignment(
    number=5,
    title="The whole speculator",
    hours="4 to 6",
    folder=Path(__file__).parent,
    tasks=(
        Task("5.1", "Saguaro's law", "sigma",
             (Check("values", 2, laws_tried.sigma_values),
              Check("limits", 1, laws_tried.sigma_limits),
              Check("greedy", 1, laws_tried.sigma_greedy)),
             slips.SIGMA, HIDES, "the sheet's background"),
        Task("5.2", "Draft with it", "speculate",
             (Check("law", 2, laws_tried.chain_laws), Check("rows", 1, laws_tried.chain_rows),
              Check("uniform", 1, laws_tried.chain_uniform)),
             slips.SPECULATE, HIDES, "lesson 05, section 7"),
        Task("5.3", "Two lists and a backup", "ssd",
             (Check("law", 3, texts_tried.laws, 30), Check("same", 1, texts_tried.same_text),
              Check("hits", 3, texts_tried.hits, 30), Check("before", 1, texts_tried.before)),
             slips.SSD, HIDES, "lesson 05, sections 5 to 11"),
        Task("5.4", "The weight for a wanted mass", "weight_for",
             (Check("values", 2, laws_tried.weight_values),
              Check("edges", 1, laws_tried.weight_edges)),
             slips.WEIGHT_FOR, HIDES, "the sheet's background"),
        Task("5.5", "Bonus: all branches in one forward", "chains",
             (Check("chains", 2, branches_tried.chain_trials, 30),
              Check("forwards", 2, branches_tried.forward_trials, 30)),
             slips.CHAINS, HIDES, "lesson 05, section 6", warm=("torch", "ssd_ref.gpt")),
    ),
)  # fmt: skip
