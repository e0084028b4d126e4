"""The network: structure, parameters, inference, pictures, model files."""
