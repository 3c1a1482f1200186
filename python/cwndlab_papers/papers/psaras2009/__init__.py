"""psaras2009: multi-rate AIMD, and what the additive increase of TCP costs and brings."""
