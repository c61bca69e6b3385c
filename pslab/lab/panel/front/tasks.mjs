// The tasks of the cluster, each with a menu.

import { make, setAttribute, setText } from "./dom.mjs";
import { WORDS } from "./words.mjs";

/** A chip per task; `ask(name, value)` asks for what its menu offers, of what is `offered`: "kill", "slow", "hasten". */
export class Tasks {
  constructor(ask, offered) {
    this._ask = ask;
    this._offered = offered;
    this._chips = new Map();
    this.element = make("div", { class: "pslab-tasks", role: "group", "aria-label": WORDS.tasks });
    document.addEventListener("pointerdown", this._away = (event) => { if (!this.element.contains(event.target)) this._close(); });
  }

  remove() {
    document.removeEventListener("pointerdown", this._away);
  }

  /** Show the tasks, how their loops fare, and what a further straggler would be slowed down by. */
  show(tasks, loops, delay) {
    const names = tasks.map((task) => task.name);
    if (names.join() !== [...this._chips.keys()].join()) {
      this._chips = new Map(names.map((name) => [name, this._chip(name)]));
      this.element.replaceChildren(...[...this._chips.values()].map((chip) => chip.element), ...(names.length ? [] : [make("span", { class: "pslab-soft" }, WORDS.noCluster)]));
    }
    for (const task of tasks) {
      const chip = this._chips.get(task.name);
      const state = task.state === "running" ? loops[task.name] : task.state;
      const doing = state ? WORDS.doings[state] ?? state : task.name.startsWith("worker") ? "" : WORDS.up;
      setAttribute(chip.element, "data-state", task.state);
      setText(chip.state, task.delay ? `+${task.delay}` : doing);
      chip.state.classList.toggle("pslab-slow", Boolean(task.delay));
      setText(chip.restarts, task.restarts ? `↻${task.restarts}` : "");
      setAttribute(chip.button, "aria-label", WORDS.chip(task.name, task.delay ? `${doing}, +${task.delay}` : doing || WORDS.doings.running, task.restarts));
      if (chip.items.slow) setText(chip.items.slow, WORDS.slow(delay));
      if (chip.items.hasten) chip.items.hasten.disabled = !task.delay;
    }
  }

  _chip(name) {
    const state = make("span", { class: "pslab-soft" });
    const restarts = make("span", { class: "pslab-restarts" });
    const button = make("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false" }, make("span", { class: "pslab-dot", "aria-hidden": "true" }), name, state, restarts);
    const items = this._items(name, button);
    const offered = Object.values(items);
    const words = items.kill ? [make("p", {}, name.startsWith("ps") ? WORDS.killPs : WORDS.killWorker)] : [];
    const menu = make("div", { class: "pslab-menu", role: "menu", "aria-label": name, hidden: "" }, ...offered, ...words);
    const element = make("div", { class: "pslab-chip", "data-task": name }, button, menu);
    button.disabled = !offered.length;
    button.addEventListener("click", () => {
      const open = menu.hidden;
      this._close();
      menu.hidden = !open;
      setAttribute(button, "aria-expanded", String(open));
      if (open) offered[0].focus();
    });
    element.addEventListener("keydown", (event) => {
      const direction = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (direction && !menu.hidden) {
        const there = offered.filter((item) => !item.disabled);
        event.preventDefault();
        there[(there.indexOf(document.activeElement) + direction + there.length) % there.length].focus();
      }
      if (event.key !== "Escape") return;
      this._close();
      button.focus();
    });
    return { element, button, state, restarts, menu, items };
  }

  /** What can be done to a task. */
  _items(name, button) {
    const [kind] = name.split(":");
    const words = { slow: "", hasten: WORDS.hasten, kill: WORDS.kill(name) };
    const possible = { worker: ["slow", "hasten", "kill"], ps: ["kill"] }[kind] ?? [];
    return Object.fromEntries(possible.filter((action) => this._offered.includes(action)).map((action) => {
      const item = make("button", { type: "button", role: "menuitem", tabindex: "-1", "data-action": action }, words[action]);
      item.addEventListener("click", () => {
        this._ask(action, name);
        this._close();
        button.focus();
      });
      return [action, item];
    }));
  }

  _close() {
    for (const chip of this._chips.values()) {
      chip.menu.hidden = true;
      setAttribute(chip.button, "aria-expanded", "false");
    }
  }
}
