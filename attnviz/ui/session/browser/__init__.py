"""The ways between Python and the browser: components, style sheets, bytes and the history."""
