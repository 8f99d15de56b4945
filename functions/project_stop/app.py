"""`project_stop`: a project stops: its instances, state and temporary content go."""

from zarniwoop.entry.project_stop import project_stop

handler = project_stop()
