"""The service: the same over HTTP, with a page to try it. Needs `pip install 'redraft[serve]'`."""
