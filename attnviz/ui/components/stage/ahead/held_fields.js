// The fields of the page while they are held: sliders as they are dragged, texts and numbers as they are typed.

const FIELD = /(?:^|\s)st-key-(\S+)/;
const SLIDER = "input[type=range]"; // while it is dragged it fires no event, but says another value
const TEXT_FIELDS = "input[type=text], input[type=number], textarea";
const NUMBER_FIELD = "[data-testid=stNumberInput]"; // with the buttons beside it

/** The key of the widget that an element is in, as Streamlit writes it into a class. @param {Element} element */
function keyOf(element) {
  return FIELD.exec(element.closest(".stElementContainer[class*=st-key-]")?.className ?? "")?.[1] ?? "";
}

/** The class that Streamlit makes of a key, without what stands before it. @param {string} key */
export function classOf(key) {
  return key.replace(/[^a-zA-Z0-9_-]/g, "-");
}

/** The number that an element is part of. @param {EventTarget | null} target @returns {HTMLInputElement | null} */
function numberIn(target) {
  const field = target instanceof Element && target.closest(NUMBER_FIELD)?.querySelector("input");
  return field || null;
}

export class HeldFields {
  isDown = false; // whether a pointer is
  /** @type {HTMLInputElement | HTMLTextAreaElement | null} */
  held = null; // the field that is dragged, or in which something is typed that the page has not heard of

  /**
   * @param {(key: string, text: string) => void} moved  a field says something else; its key as it stands in its class
   * @param {() => void} released  a field that was held lets the page know
   */
  constructor(moved, released) {
    this.moved = moved;
    this.released = released;
    this.observer = new MutationObserver((changes) => changes.forEach(({ target }) => this.drag(target)));
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const options = { signal, capture: true };
    const ends = () => this.release(SLIDER);
    window.addEventListener("pointerdown", () => (this.isDown = true), options);
    for (const kind of ["pointerup", "pointercancel"]) window.addEventListener(kind, () => ((this.isDown = false), ends()), options);
    window.addEventListener("input", ({ target }) => this.type(target), options);
    window.addEventListener("focusout", () => this.release(TEXT_FIELDS), options);
    window.addEventListener("keydown", ({ key }) => key === "Enter" && this.release(TEXT_FIELDS), options);
    for (const kind of ["keydown", "click"]) {
      let before = "";
      window.addEventListener(kind, ({ target }) => (before = numberIn(target)?.value ?? ""), options);
      window.addEventListener(kind, ({ target }) => this.step(numberIn(target), before), { signal }); // the page has handled it
    }
    this.observer.observe(document.body, { subtree: true, attributes: true, attributeFilter: ["aria-valuetext"] });
    signal.addEventListener("abort", () => this.observer.disconnect());
  }

  /** A slider says another value: the visitor's, where it has the focus. @param {Node} slider */
  drag(slider) {
    if (!(slider instanceof HTMLInputElement) || !slider.matches(SLIDER) || slider !== document.activeElement) return;
    if (this.isDown) this.held = slider;
    this.moved(keyOf(slider), slider.value);
  }

  /** @param {EventTarget | null} field */
  type(field) {
    if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) || !field.matches(TEXT_FIELDS)) return;
    this.held = field;
    this.moved(keyOf(field), field.value);
  }

  /** A number may be a step away, of which the page knows. @param {HTMLInputElement | null} field @param {string} before */
  step(field, before) {
    if (!field || field.value === before) return;
    this.held = null;
    this.moved(keyOf(field), field.value);
    this.released();
  }

  /** A field is let go, if it is of this kind. @param {string} kind */
  release(kind) {
    if (!this.held?.matches(kind)) return;
    this.held = null;
    this.released();
  }
}
