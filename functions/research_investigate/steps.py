"""The steps of `research_investigate.asl.json`, all of them behind one handler."""

from zarniwoop.entry.steps import steps
from zarniwoop.pipelines.investigate.steps import STEPS

handler = steps(STEPS)
