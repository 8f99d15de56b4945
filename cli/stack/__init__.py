"""The local stack: the template deployed to an emulator on this machine, and tokens for this stack or one in AWS."""
