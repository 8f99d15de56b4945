"""Pages and tables of the documents that are written out of the code, so that they cannot differ from it."""
