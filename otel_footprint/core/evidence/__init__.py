"""Evidence: can the run prove it read what an answer states?"""
