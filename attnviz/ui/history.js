// Tells where Back or Forward went. It listens before Streamlit does, so that Streamlit's own request is the newer one.

export default function ({ setTriggerValue }) {
  const went = () => setTriggerValue("gone", location.search.slice(1));
  window.addEventListener("popstate", went, true);
  return () => window.removeEventListener("popstate", went, true);
}
