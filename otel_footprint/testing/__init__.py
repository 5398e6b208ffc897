"""For tests of applications and of this project: a scripted provider, fixed clock and ids, an in-memory sink."""
