"""What the generated parts of the documents are made of: a module for each kind of part."""
