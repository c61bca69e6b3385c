"""Variables by name and scope, and the layers and cells made of them."""
