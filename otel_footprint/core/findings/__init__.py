"""What the model itself declares about results: the reserved argument, its ledger, and what follows from it."""
