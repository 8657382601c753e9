"""Room 2: pure functions of a Trace or a Config. No Streamlit here; Plotly's dialect in `figures.py` only."""
