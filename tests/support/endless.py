"""A program that computes for ever, where `runpy.run_path` runs it; whoever looks for doctests in it imports it alone."""

while __name__ == "<run_path>":
    pass
