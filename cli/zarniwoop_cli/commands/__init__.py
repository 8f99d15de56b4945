"""The commands, by what they are about; each module registers its own on the app that it is given."""
