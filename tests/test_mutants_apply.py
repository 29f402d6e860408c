"""Every mutant still applies to the code and compiles; `python -m tests.mutants` runs them."""

import pytest

from tests.mutants.__main__ import mutated
from tests.mutants.catalogue import MUTANTS


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_the_mutant_applies(mutant, tmp_path):
    mutated(mutant, tmp_path)
