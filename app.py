"""attnviz, the page: `streamlit run app.py` starts it."""

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.starlette import App

if get_script_run_ctx(suppress_warning=True) is None:  # the server, before the first visitor
    from attnviz.ui import server

    server.begin()
    app = App(__file__, routes=server.ROUTES, middleware=server.MIDDLEWARE)
else:  # the page of a visitor
    from attnviz.ui.main import page

    page()
