// The stages that the route has handed out to this page, and those that a run has sent, by their names: of a run that only
// names its own, nothing is drawn before they are there.

/** @import { SentAhead } from "./stage/types" */

const CAME = "attnviz:stages-there";
const MOST_THERE = 4;

/** @returns {Map<string, SentAhead>} */
export const stagesThere = () => (window.attnvizStages ??= new Map());

/** Keep stages for the run that is of them. @param {SentAhead} sent */
export function keepStages(sent) {
  const there = stagesThere();
  if (sent.header.name) there.set(sent.header.name, sent);
  for (const [oldest] of there) if (there.size > MOST_THERE) there.delete(oldest);
  window.dispatchEvent(new Event(CAME));
}

/** @returns {Map<HTMLElement, SentAhead>}  by who has them: one at most, but while a page is laid out anew */
const stagesSent = () => (window.attnvizStagesSent ??= new Map());

/** @param {HTMLElement} owner @param {SentAhead} sent */
export function keepSent(owner, sent) {
  stagesSent().set(owner, sent);
  window.dispatchEvent(new Event(CAME));
}

/** @param {HTMLElement} owner */
export const forgetSent = (owner) => stagesSent().delete(owner);

/** Whether stages have a name: that of all that was sent with them, or their own, whatever is chosen in them. @param {SentAhead} sent @param {string} wanted */
export const haveName = ({ header: { name, maps } }, wanted) => name === wanted || maps === wanted;

/** @param {string} name @returns {SentAhead | undefined} */
export const stagesAt = (name) => stagesThere().get(name) ?? [...stagesThere().values(), ...stagesSent().values()].reverse().find((sent) => haveName(sent, name));

/** Stages that are on their way, if they come in so many milliseconds. @param {string} name @param {number} most @returns {Promise<SentAhead | undefined>} */
export function whenThere(name, most) {
  const stop = new AbortController();
  return new Promise((done) => {
    const end = () => (stop.abort(), done(stagesAt(name)));
    window.addEventListener(CAME, () => stagesAt(name) && end(), { signal: stop.signal });
    setTimeout(end, most);
  });
}

/** What is to be drawn of a run, as soon as its stages are there; of several runs the last. */
export class OnceThere {
  /** @type {{ name: string | undefined, draw: () => void } | null} */
  waiting = null;

  /** @param {AbortSignal} signal */
  constructor(signal) {
    window.addEventListener(CAME, () => this.look(), { signal });
  }

  /** @param {string | undefined} name  none where a run has sent its stages @param {() => void} draw */
  draw(name, draw) {
    this.waiting = { name, draw };
    this.look();
  }

  look() {
    const { waiting } = this;
    if (!waiting || (waiting.name && !stagesAt(waiting.name))) return;
    this.waiting = null;
    waiting.draw();
  }
}
