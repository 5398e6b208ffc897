"""Traces and judgements in words and tables for people."""
