"""Launch plans: building, reading, comparing and showing them."""
