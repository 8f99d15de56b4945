"""Work of several steps: pure steps, JSON in and out, and what carries them out on Step Functions."""
