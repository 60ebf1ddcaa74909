"""What models and members' agents say of code where facts are unsure, held against the graph."""
