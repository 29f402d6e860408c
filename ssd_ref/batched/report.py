"""What a batch did: its texts, its rounds, and the memory of its KV caches."""

from __future__ import annotations

from dataclasses import dataclass

from ssd_ref.rounds import Generation


@dataclass(frozen=True)
class BatchRound:
    """One round of the whole batch.

    sequences: the texts that were verified. served_by: who made the speculation of each.
    waited: draft forwards before the verification, for the texts that had no speculation; all
    others waited for them. prepared: draft forwards that filled caches, beside the verification.
    """

    round: int
    sequences: tuple[int, ...]
    served_by: tuple[str, ...]
    waited: int
    prepared: int

    @property
    def size(self) -> int:
        return len(self.sequences)

    @property
    def stalled(self) -> bool:
        """Whether the batch waited; it does not for a backup that needs no forward."""
        return self.waited > 0


@dataclass(frozen=True)
class Memory:
    """The KV caches of one model, at their largest in the run: bytes allocated, positions in use.

    Positions count what is read tentatively, too: drafts, and the branches of a cache.
    """

    bytes: int
    positions: int


@dataclass(frozen=True)
class Decoded:
    """The texts of a batch, by sequence number, and how they came.

    texts: a cancelled one is what there was of it, with the `finish_reason` "cancelled". errors:
    of the texts that failed; `decoded[sequence]` is a text, or raises its error. reserved: the
    most positions that the target's caches had to hold whatever the next verification brought,
    which is lookahead + 1 a text more than it has read.
    """

    texts: dict[int, Generation]
    errors: dict[int, Exception]
    rounds: list[BatchRound]
    target_memory: Memory
    draft_memory: Memory
    reserved: int

    def __getitem__(self, sequence: int) -> Generation:
        if sequence in self.errors:
            raise self.errors[sequence]
        return self.texts[sequence]
