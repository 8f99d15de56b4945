"""Who may be asked: instances out of settings, their order, the gate, their keys and their credit."""
