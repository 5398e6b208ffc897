"""How far an answer stands: witness rows, and the fold over them."""
