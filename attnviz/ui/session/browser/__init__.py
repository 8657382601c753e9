"""The ways between Python and the browser: components, style sheets and bytes."""
