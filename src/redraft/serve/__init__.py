"""The HTTP service: a JSON API, its documentation and a web page. Needs `pip install 'redraft[serve]'`."""
