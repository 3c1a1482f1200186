"""Papers, one folder each, found by `cwndlab.reproduce`; nothing imports them."""
