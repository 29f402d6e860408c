"""SSD in two processes: the two actors of `ssd_ref.ssd`, each with a core or device of its own.

    from ssd_ref.engine import EMBEDDED, Engine

    with Engine(pair.target, EMBEDDED) as engine:
        text = engine.decode(prompt, max_new_tokens=100, lookahead=4, fan_out=[2, 2, 2, 2, 4],
                             randomness=ssd_ref.SeededRandomness(0))

The text is the one `ssd_ref.ssd` decodes for the same arguments, whatever the timing: asynchrony
changes the clock, never the tokens. In float32 a row computed in another batch differs in its last
bits, and texts can part at a near-tie. Importing this package imports no torch.
"""

from ssd_ref.engine.engine import Engine
from ssd_ref.engine.link import Fault, Link
from ssd_ref.engine.source import EMBEDDED, Source

__all__ = ["EMBEDDED", "Engine", "Fault", "Link", "Source"]
