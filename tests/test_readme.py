"""What the README shows is run: its Python examples, and the names of its commands and links."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_examples_run(capsys):
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(examples) == 3
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})
    shown = capsys.readouterr().out
    assert re.search(r"\d+ of \d+ rounds were hits", shown)
    assert "equal within 1e-12" in shown
    assert "total variation 0.15" in shown


def test_its_links_lead_somewhere():
    for page in ("README.md", "ssd_ref/README.md", "tests/README.md", "sim/README.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#]+)\)", text):
            if "://" not in link:
                assert ((ROOT / page).parent / link).exists(), f"{page}: {link}"


def test_its_commands_exist():
    """`ssd-ref X` and `ssd-sim X` as the README names them answer to --help."""
    modules = {"ssd-ref": "ssd_ref", "ssd-sim": "sim"}
    commands = set(re.findall(r"^    (ssd-ref|ssd-sim) (\w+)", README, re.MULTILINE))
    assert {("ssd-ref", "compare"), ("ssd-ref", "generate"), ("ssd-ref", "bench")} <= commands
    for program, command in sorted(commands):
        call = [sys.executable, "-m", modules[program], command, "--help"]
        assert subprocess.run(call, cwd=ROOT, capture_output=True).returncode == 0, call


def test_the_weights_it_quotes_are_the_ones_that_ship():
    from ssd_ref.pair.loading import pair_hash, read_card

    assert re.findall(r"\b[0-9a-f]{16}\b", README) == [pair_hash(read_card())]
