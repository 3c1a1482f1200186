"""Sources of the generated parts of the documents: a module for each kind of part."""
