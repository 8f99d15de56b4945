"""`reconcile_runs`: ends runs whose deadline has passed."""

from zarniwoop.entry.reconcile import reconcile_runs

handler = reconcile_runs()
