"""State that the fleet shares: conditional writes in DynamoDB, every read filtered on time."""
