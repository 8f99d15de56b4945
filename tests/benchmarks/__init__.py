"""Speed, memory and exact counts, as ratios in one run: `make bench`.

How: interleaved (A B B A …) fresh processes, at least five of each side; in each, warm-up, then chunks of calls; the
figure of a process is the median chunk, the figure of a side the least of its processes, in CPU time. The origin runs in
a process of its own, on the other core, and answers from memory.

What loopback cannot show: TLS handshakes, real round trips, latency tails, Lambda's throttled CPU below 1769 MB.
"""
