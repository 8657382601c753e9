"""The page; the only folder that imports Streamlit."""
