// Tells where Back or Forward went.

export default function ({ setTriggerValue }) {
  const went = () => setTriggerValue("gone", location.search.slice(1));
  window.addEventListener("popstate", went, true);
  return () => window.removeEventListener("popstate", went, true);
}
