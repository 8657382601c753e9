/** Listens for pastes into the page's own fields, and shows a line for a while where one is too long. */

const SHOWN = 12000; // milliseconds

function keyOf(field) {
  const holder = field.closest?.("[class*='st-key-']");
  const name = [...(holder?.classList ?? [])].find((each) => each.startsWith("st-key-"));
  return name?.slice("st-key-".length);
}

export default function ({ data: bytes, parentElement }) {
  const data = JSON.parse(new TextDecoder().decode(bytes));
  document.documentElement.lang = data.language;
  const line = document.createElement("p");
  line.className = "attn-fault attn-toast";
  line.setAttribute("role", "alert");
  line.hidden = true;
  parentElement.append(line);
  let timer = 0;

  const hide = () => { line.hidden = true; };
  const show = (words) => {
    line.textContent = words;
    line.hidden = false;
    clearTimeout(timer);
    timer = setTimeout(hide, SHOWN);
  };
  const pasted = (event) => {
    const field = event.target;
    const most = data.limits[keyOf(field)];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const kept = (field.value?.length ?? 0) - ((field.selectionEnd ?? 0) - (field.selectionStart ?? 0));
    if (!most || kept + text.length <= most) return hide();
    event.preventDefault();
    event.stopPropagation();
    const grouped = { useGrouping: data.language === "en" }; // elsewhere the mark between groups is a decimal one
    const [n, limit] = [text.length, most].map((number) => number.toLocaleString(data.language, grouped));
    show(data.words.refused.replace("{n}", n).replace("{most}", limit));
  };
  document.addEventListener("paste", pasted, true);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("paste", pasted, true);
    line.remove();
  };
}
