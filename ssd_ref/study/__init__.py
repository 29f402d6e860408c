"""Measuring the decoders: their forwards, their speed, and which outcomes are worth preparing for.

texts, store, collect     record texts: rounds with ranks, and what the draft knew; resumable
replay, policies          hits under any list or policy, from a recording
estimates, fits, figures  shares with intervals, the power law of misses, the figures of a run
sweep, tables, committed  grids of policies into CSV files; the tables that ship, in `data/`
meter, timing, bench      forwards and seconds of real runs
overlap, paired, results  what two devices would make of a run; ratios with intervals
recording                 round records as JSON lines
"""
