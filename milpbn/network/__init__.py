"""Networks: a structure with its parameters, inference, multinets."""
