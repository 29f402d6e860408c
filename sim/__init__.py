"""A discrete-event simulator of AR, SD and SSD decoding: where every millisecond goes."""
