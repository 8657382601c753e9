"""Parts of the page that run in the browser."""
