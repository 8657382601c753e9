"""attnviz, the page: `streamlit run app.py` starts it."""

from attnviz.ui.main import page

page()
