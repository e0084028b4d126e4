"""Is what a model file says true? The checks of its claims, and of the certificate beside it."""
