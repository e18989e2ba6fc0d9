"""The service on a Ray cluster. Needs `pip install 'redraft[serve,ray]'`."""
