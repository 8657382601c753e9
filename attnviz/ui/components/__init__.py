"""Components of the page in a browser: the pictures, the pickers, the sentence, and small ones."""
