"""Papers, one folder each, found by `cwndlab_papers`; nothing imports them."""
