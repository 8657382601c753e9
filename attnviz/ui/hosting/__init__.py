"""What a host sees of the server: its address, its headers, its first file, and how it fares."""
