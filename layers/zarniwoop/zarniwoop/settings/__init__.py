"""Settings: the cascade over Parameter Store, endpoints, keys."""
