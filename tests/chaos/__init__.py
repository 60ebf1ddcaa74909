"""Two replicas over real services, while what they stand on is killed, cut, slowed and filled."""
