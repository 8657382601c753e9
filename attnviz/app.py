"""The page as a script inside the package: the command `attnviz` starts it from anywhere."""

from attnviz.ui.main import page

if __name__ == "__main__":
    page()
