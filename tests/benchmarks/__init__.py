"""Speed, memory and exact counts, mostly as ratios within one run: `make bench`.

Each side of a ratio runs in fresh processes, interleaved (A B B A …). A process warms up, then times chunks of calls;
its figure is the median chunk, in CPU time, and the figure of a side is the least of its processes. The origin has a
process of its own, on another core where there is one, and answers both sides with the same bytes.

What loopback cannot show: TLS handshakes, real round trips, latency tails, Lambda's throttled CPU below 1769 MB.
"""
