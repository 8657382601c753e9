"""The server as a host sees it: its address, its headers, its first file, and how it fares."""
