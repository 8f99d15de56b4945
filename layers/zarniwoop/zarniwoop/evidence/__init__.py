"""What answers stand on: kept, quoted, weighed, cited, and looked at again."""
