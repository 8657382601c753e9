"""A program that computes for ever where `runpy.run_path` runs it; whoever looks for doctests in it just imports it."""

while __name__ == "<run_path>":
    pass
