"""Pictures for papers: one step of one head or of all, in centimetres, that reads the same in shades of grey."""
