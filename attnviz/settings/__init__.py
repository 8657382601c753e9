"""Settings records: their fields, their menus, their address and the language they are shown in."""
