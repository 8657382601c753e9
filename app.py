"""attnviz, the page: `streamlit run app.py` starts it."""

from attnviz.ui.door import page

page()
