"""What is seen of the work: clock, log, metrics, traces, and the redaction that all of them pass."""
