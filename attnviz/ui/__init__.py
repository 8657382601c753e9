"""Room 3: the page. The only room that imports Streamlit."""
