"""Papers, one folder each, found by `cwndlab.reproduction`; nothing imports them."""
