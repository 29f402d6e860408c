"""SSD in two processes: the two actors of `ssd_ref.ssd`, each with a core or device of its own.

    from ssd_ref.engine import EMBEDDED, Engine

    with Engine(pair.target, EMBEDDED) as engine:
        text = engine.decode(prompt, max_new_tokens=100, lookahead=4, fan_out=[2, 2, 2, 2, 4],
                             randomness=ssd_ref.SeededRandomness(0))

The text is the one `ssd_ref.ssd` decodes for the same arguments, whatever the timing: asynchrony
changes the clock, never the tokens. In float32 a row computed in another batch differs in its last
bits, and texts can part at a near-tie. Importing this package imports no torch.

To read it: `verifier` and `speculator` have the two loops of Algorithm 1, `messages` what they
say to each other, `link` and `group` how it gets there, `job` what a text depends on; `serve` and
`worker` are the second process from inside and outside, `takeover` is what happens when it fails,
`engine` puts them together; `events` and `causes` say where the time went.
"""

from ssd_ref.engine.engine import Engine
from ssd_ref.engine.link import Fault, Link
from ssd_ref.engine.source import EMBEDDED, Source

__all__ = ["EMBEDDED", "Engine", "Fault", "Link", "Source"]
