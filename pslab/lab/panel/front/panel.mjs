// The panel: what the kernel tells goes into a history, and from there to the controls and the plots; what is clicked goes to the kernel.

import { Control } from "./controls.mjs";
import { icon, make, setAttribute, setText } from "./dom.mjs";
import { formatCount, formatNumber } from "./format.mjs";
import { History } from "./history.mjs";
import { keepKeys, live } from "./live.mjs";
import { Plots } from "./plots.mjs";
import { Tasks } from "./tasks.mjs";
import { WORDS } from "./words.mjs";

const SILENCE_MS = 5000;
const ICONS = {
  start: "M3 1.5v11l8.5-5.5z",
  pause: "M3 2h3v10H3zM8 2h3v10H8z",
  step: "M2.5 2v10l6-5zM9.5 2h2v10h-2z",
  stop: "M2.5 2.5h9v9h-9z",
  reset: "M7 2a5 5 0 1 1-4.6 3l1.5.6A3.4 3.4 0 1 0 7 3.6V6L3.2 3 7 0z",
  save: "M6.2 1h1.6v5.6l2-2 1.1 1.1L7 9.6 3.1 5.7l1.1-1.1 2 2zM2 11h10v1.6H2z",
};
const BUTTONS = [
  ["start", (state) => state.training !== "running"],
  ["pause", (state) => state.training === "running"],
  ["step", (state) => state.cluster],
  ["stop", (state) => state.training === "running" || state.training === "paused"],
  ["reset", (state) => state.cluster && state.begun],
  ["save", (state) => state.begun],
];

/** The whole panel as an element. `tell(message)` sends to the kernel. */
class PanelView {
  constructor({ palette, hide, lock }, tell) {
    this.history = new History();
    this._tell = tell;
    this._lock = lock;
    this._hide = hide;
    const ask = (name, value = null) => tell({ ask: name, value });
    this._ask = ask;
    this._buttons = BUTTONS.filter(([name]) => !hide.includes(name)).map(([name, when]) => ({ name, when, button: this._button(name, WORDS.buttons[name]) }));
    this._restore = make("select", { "aria-label": WORDS.restoreHint });
    this._restore.addEventListener("change", () => { if (this._restore.value) ask("restore", this._restore.value); this._restore.value = ""; });
    this._still = this._toggle(WORDS.hold, WORDS.holdHint, (on) => this._hold(on));
    this._frozen = this._toggle(WORDS.freeze, WORDS.freezeHint, (on) => ask(on ? "freeze" : "thaw"));
    this._status = make("div", { class: "pslab-status" });
    this._notice = make("div", { class: "pslab-notice", role: "alert" });
    this._controls = new Map();
    this._controlsPlace = make("div", { class: "pslab-controls", role: "group", "aria-label": WORDS.controls });
    this.plots = new Plots(palette, hide);
    this._tasks = new Tasks(ask, ["slow", "hasten", "kill"].filter((name) => !hide.includes(name) && !lock.includes(name)));
    const shown = (name, element) => (hide.includes(name) ? [] : [element]);
    this.element = make("div", { class: "pslab-panel", role: "region", "aria-label": WORDS.panel },
      make("div", { class: "pslab-bar", role: "toolbar", "aria-label": WORDS.training }, ...this._buttons.map(({ button }) => button), ...shown("restore", this._restore), this._status, ...shown("freeze", this._frozen), this._still),
      make("div", { class: "pslab-body" }, this._controlsPlace, this.plots.element),
      make("div", { class: "pslab-foot" }, this._tasks.element, this._notice));
    keepKeys(this.element);
    this.element.addEventListener("pslab-hold", () => { setAttribute(this._still, "aria-pressed", "true"); this._hold(true); });
  }

  remove() {
    clearInterval(this._watch);
    this.plots.remove();
    this._tasks.remove();
  }

  /** Take in what the kernel tells. */
  take(content, buffers) {
    this.history.take(content, buffers);
    this._heard = Date.now();
    this._watch ??= setInterval(() => this._showSilence(), 1000);
    if (this.history.state.controls) this._showState(this.history.state);
    if (!this._held) this.plots.draw(this.history);
  }

  _showState(state) {
    const known = { ...state, cluster: state.tasks?.length > 0, begun: state.step > 0 || state.training !== "idle" };
    for (const { name, when, button } of this._buttons) {
      const waits = name in state.pending;
      setAttribute(button, "aria-busy", waits ? "true" : null);
      button.disabled = !when(known) || this._lock.includes(name);
    }
    setText(this._buttons.find(({ name }) => name === "start")?.button.lastChild ?? make("i"), state.training === "paused" && state.target > state.step ? WORDS.resume : WORDS.buttons.start);
    this._showControls(state);
    this._showCheckpoints(state.checkpoints, known.cluster);
    this._tasks.show(state.tasks, state.loops, state.controls.delay?.value);
    this._showStatus(state);
    this._showNotice(state);
    setAttribute(this._frozen, "aria-pressed", String(Boolean(state.ghost)));
    setText(this._frozen, state.ghost ? WORDS.thaw : WORDS.freeze);
  }

  _showControls(state) {
    if (!this._controls.size) this._buildControls(state);
    for (const [name, control] of this._controls) {
      const face = state.controls[name];
      control.element.hidden = !face;
      if (face) control.show(face, state.pending[name]);
    }
  }

  _buildControls({ groups }) {
    for (const [heading, names] of Object.entries(groups)) {
      const controls = names.filter((name) => !this._hide.includes(name)).map((name) => new Control(name, (value) => this._ask(name, value), this._lock.includes(name)));
      for (const control of controls) this._controls.set(control.name, control);
      if (controls.length) this._controlsPlace.append(make("div", { class: "pslab-group", role: "group", "aria-label": heading }, make("div", { class: "pslab-heading", "aria-hidden": "true" }, heading), ...controls.map((control) => control.element)));
    }
  }

  _showCheckpoints(names, cluster) {
    const key = names.join("\n");
    this._restore.disabled = !names.length || !cluster || this._lock.includes("restore");
    if (this._checkpoints === key) return;
    this._checkpoints = key;
    this._restore.replaceChildren(make("option", { value: "" }, WORDS.restore), ...names.map((name) => make("option", { value: name }, name)));
  }

  _showStatus(state) {
    const latest = Object.entries(state.latest).filter(([, value]) => value !== null).map(([name, value]) => `${WORDS.series[name] ?? name} ${formatNumber(value)}`);
    const parts = [WORDS.step(formatCount(state.step)), ...latest.slice(0, 2), ...(state.rate ? [WORDS.rate(formatNumber(state.rate))] : []), ...latest.slice(2), ...(state.dropped ? [WORDS.dropped(formatCount(state.dropped))] : [])];
    const waits = Object.keys(state.pending);
    const training = WORDS.states[state.training] ?? state.training;
    const doing = waits.length ? WORDS.doing(training, state.controls[waits[0]]?.label ?? WORDS.buttons[waits[0]] ?? waits[0]) : training;
    const key = doing + parts.join();
    if (this._statusKey === key) return;
    this._statusKey = key;
    this._status.replaceChildren(make("span", { class: "pslab-state", "data-state": state.training }, doing), ...parts.map((part) => make("span", {}, part)));
  }

  _showNotice(state) {
    const name = state.refusal?.name;
    const label = state.controls[name]?.label ?? name;
    setText(this._notice, state.refusal ? WORDS.refused(label, state.refusal.words) : state.message);
    for (const [other, control] of this._controls) control.element.classList.toggle("pslab-refused", other === name);
  }

  _showSilence() {
    const silent = Date.now() - this._heard > SILENCE_MS;
    this.element.classList.toggle("pslab-silent", silent);
    if (silent) setText(this._notice, WORDS.silence);
  }

  _button(name, words) {
    const button = make("button", { type: "button", "data-name": name, disabled: "" }, icon(ICONS[name]), make("span", {}, words));
    button.addEventListener("click", () => this._ask(name));
    return button;
  }

  _toggle(words, hint, act) {
    const button = make("button", { type: "button", "aria-pressed": "false", title: hint }, words);
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      setAttribute(button, "aria-pressed", String(on));
      act(on);
    });
    return button;
  }

  _hold(on) {
    this._held = on;
    this.plots.still = on;
    this.plots.draw(on ? this.history.copy() : this.history);
  }
}

const render = live((model, tell) => new PanelView({ palette: model.get("palette"), hide: model.get("hide"), lock: model.get("lock") }, tell));

export default { render };
