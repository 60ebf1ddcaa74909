"""What memory is made of: entries, requests, answers and errors, as the protocol writes them."""
