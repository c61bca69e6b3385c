// A race in a notebook: the buttons, the slider back through it, the picture, and the menu of the messages that wait.

import { icon, make, setAttribute, setText } from "../../panel/front/dom.mjs";
import { keepKeys, live, whenThemed } from "../../panel/front/live.mjs";
import { onPaper, themeOf } from "../../panel/front/pen.mjs";
import { WORDS } from "../../panel/front/words.mjs";
import { RaceDiagram } from "./race_diagram.mjs";
import { messageWords } from "./race_layout.mjs";

const SILENCE_MS = 4000;
const NEXT = "M2 2l6 5-6 5zM9 2h3v10h-3z";
const RUN = "M3 2l9 5-9 5z";
const PAUSE = "M3 2h3v10H3zM8 2h3v10H8z";

/** Shows what the kernel tells; `ask(name, value)` asks for something. */
class RacePanel {
  constructor(colors, send) {
    this.state = {};
    this.at = null;
    this._colors = colors;
    this._ask = (name, value = null) => {
      this.at = null;
      send({ ask: name, value });
    };
    this._next = this._button(NEXT, () => this._ask(this._live() ? "message" : "begin"));
    this._go = this._button(RUN, () => this._ask(this.state.training === "running" ? "pause" : "start"));
    this._strategy = make("span", { class: "pslab-race-strategy" });
    this._status = make("span", { class: "pslab-state" });
    this._slider = make("input", { type: "range", step: "1", "aria-label": WORDS.race.message });
    this._slider.addEventListener("input", () => this._lookAt(Number(this._slider.value)));
    this._place = make("span", { class: "pslab-race-place" });
    this._latest = make("button", { type: "button" }, WORDS.race.latest);
    this._latest.addEventListener("click", () => this._lookAt(Infinity));
    this._words = make("p", { class: "pslab-race-words", role: "status", "aria-live": "polite" });
    this._menu = make("div", { class: "pslab-race-menu", role: "group", "aria-label": WORDS.race.waiting });
    this._notice = make("div", { class: "pslab-notice", role: "alert" });
    this.diagram = new RaceDiagram(colors, (message) => this._choose(message));
    this._picture = make("div", { class: "pslab-race-picture" }, this.diagram.element);
    this._empty = make("p", { class: "pslab-soft pslab-race-empty" }, WORDS.race.empty);
    this._time = make("div", { class: "pslab-race-time" }, this._slider, this._place, this._latest);
    this.element = make("div", { class: "pslab-panel pslab-race", role: "region", "aria-label": WORDS.race.view },
      make("div", { class: "pslab-bar", role: "toolbar", "aria-label": WORDS.race.name }, this._next, this._go, this._time, make("span", { class: "pslab-race-right" }, this._strategy, this._status)),
      this._empty, this._picture, this._words, this._menu, this._notice);
    keepKeys(this.element);
    this._sizes = new ResizeObserver(() => this._draw());
    this._sizes.observe(this._picture);
    this._theme = whenThemed(() => this._draw(true));
    this._watch = setInterval(() => this._showSilence(), 1000);
  }

  remove() {
    clearInterval(this._watch);
    this._sizes.disconnect();
    this._theme.disconnect();
  }

  /** Take in what the kernel tells. */
  take(changes) {
    this._heard = Date.now();
    const silent = this.element.classList.contains("pslab-silent");
    this.element.classList.remove("pslab-silent");
    if (!silent && !Object.keys(changes).length) return;
    Object.assign(this.state, changes);
    this._show();
  }

  _live() {
    return Boolean(this.state.scene?.live);
  }

  _show() {
    const { scene, training, pending, refusal } = this.state;
    const waits = Object.keys(pending ?? {});
    setText(this._next.lastChild, this._live() ? WORDS.race.next : scene ? WORDS.race.beginAnew : WORDS.race.begin);
    setText(this._go.lastChild, training === "running" ? WORDS.buttons.pause : WORDS.race.trainOn);
    this._go.querySelector("path").setAttribute("d", training === "running" ? PAUSE : RUN);
    setAttribute(this._next, "aria-busy", waits.some((name) => name === "message" || name === "begin") ? "true" : null);
    setText(this._strategy, this.state.strategy ?? "");
    setText(this._status, this._live() ? WORDS.race.stepping : WORDS.states[training] ?? training);
    setAttribute(this._status, "data-state", training);
    setText(this._notice, refusal ? refusal.words : "");
    this._empty.hidden = Boolean(scene);
    for (const part of [this._picture, this._words, this._menu, this._time]) part.hidden = !scene;
    this._draw(true);
  }

  _draw(anew = false) {
    const { scene } = this.state;
    const width = Math.floor(this._picture.clientWidth);
    if (!scene || (!anew && width === this._width)) return;
    this._width = width;
    if (!width) return; // hidden: it is drawn when it has a size again
    const [first, latest] = [scene.moments[0].number, scene.moments.at(-1).number];
    const at = Math.min(Math.max(this.at ?? latest, first), latest);
    const theme = themeOf(this.element);
    this.plan = this.diagram.draw(scene, at, width, theme);
    Object.assign(this._slider, { min: first, max: latest, value: at, disabled: first === latest });
    setAttribute(this._slider, "aria-valuetext", at ? WORDS.race.at(at, latest) : WORDS.race.atStart);
    setText(this._place, at ? WORDS.race.at(at, latest) : WORDS.race.startOf(latest));
    this._latest.disabled = at === latest;
    setText(this._words, WORDS.race.told(at, this.plan.moment.words, this.plan.moment.step));
    this._showMenu(scene, at === latest, theme);
  }

  _showMenu(scene, live, theme) {
    const { waiting, held } = this.plan.moment;
    const key = JSON.stringify([waiting, held, live, scene.live, theme.light]);
    if (this._menuKey === key) return;
    const focused = this._menu.contains(document.activeElement);
    this._menuKey = key;
    const buttons = waiting.map((message) => {
      const dot = make("span", { class: "pslab-race-dot", style: `background:${onPaper(this._colors[message.worker % this._colors.length], theme)}` });
      const button = make("button", { type: "button", disabled: live && scene.live ? null : "" }, dot, messageWords(message, scene));
      button.addEventListener("click", () => this._choose(message));
      return button;
    });
    const heading = !scene.live && live ? WORDS.race.goneOn : live ? WORDS.race.letIn : WORDS.race.waitedThen;
    const who = held.map((worker) => make("span", { class: "pslab-soft" }, WORDS.race.held(worker)));
    this._menu.replaceChildren(make("span", { class: "pslab-soft" }, heading), ...(scene.live || !live ? [...buttons, ...who] : []));
    if (focused) this._menu.querySelector("button")?.focus();
  }

  _choose({ ps, worker, what }) {
    this._ask("message", { ps: Number(ps.split(":")[1]), worker, what });
  }

  _lookAt(number) {
    const latest = this.state.scene.moments.at(-1).number;
    this.at = number >= latest ? null : number;
    this._draw(true);
  }

  _showSilence() {
    if (!this._heard || Date.now() - this._heard <= SILENCE_MS) return;
    this.element.classList.add("pslab-silent");
    setText(this._notice, WORDS.race.silence);
  }

  _button(path, act) {
    const button = make("button", { type: "button" }, icon(path), make("span", {}));
    button.addEventListener("click", act);
    return button;
  }
}

const render = live((model, tell) => new RacePanel(model.get("colors"), tell));

export default { render };
