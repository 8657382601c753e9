"""The images that a model of images reads: resized and normalised as its files say, and cut into patches."""
