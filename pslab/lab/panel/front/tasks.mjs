// The tasks of the cluster, each with a menu.

import { make, setAttribute, setText } from "./dom.mjs";

/** A chip per task; `ask(name, value)` asks for what its menu offers. */
export class Tasks {
  constructor(ask, offered) {
    this._ask = ask;
    this._offered = offered;
    this._chips = new Map();
    this.element = make("div", { class: "pslab-tasks", role: "group", "aria-label": "Tasks" });
    document.addEventListener("pointerdown", this._away = (event) => { if (!this.element.contains(event.target)) this._close(); });
  }

  remove() {
    document.removeEventListener("pointerdown", this._away);
  }

  show(tasks, loops) {
    const names = tasks.map((task) => task.name);
    if (names.join() !== [...this._chips.keys()].join()) {
      this._chips = new Map(names.map((name) => [name, this._chip(name)]));
      this.element.replaceChildren(...[...this._chips.values()].map((chip) => chip.element), ...(names.length ? [] : [make("span", { class: "pslab-soft" }, "No cluster yet: Start brings one up.")]));
    }
    for (const task of tasks) {
      const chip = this._chips.get(task.name);
      const doing = task.state === "running" ? loops[task.name] ?? (task.name.startsWith("worker") ? "" : "up") : task.state;
      setAttribute(chip.element, "data-state", task.state);
      setText(chip.state, doing);
      setText(chip.restarts, task.restarts ? `↻${task.restarts}` : "");
      setAttribute(chip.button, "aria-label", `${task.name}, ${doing || task.state}${task.restarts ? `, started anew ${task.restarts} times` : ""}: menu`);
    }
  }

  _chip(name) {
    const state = make("span", { class: "pslab-soft" });
    const restarts = make("span", { class: "pslab-restarts" });
    const button = make("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false" }, make("span", { class: "pslab-dot", "aria-hidden": "true" }), name, state, restarts);
    const kill = make("button", { type: "button", role: "menuitem" }, `Kill ${name}`);
    const menu = make("div", { class: "pslab-menu", role: "menu", "aria-label": name, hidden: "" }, kill, make("p", {}, name.startsWith("ps") ? "Its parameters are lost; it comes back empty." : "It comes back under its name, and goes on."));
    const element = make("div", { class: "pslab-chip", "data-task": name }, button, menu);
    button.disabled = !this._offered || name.startsWith("client");
    button.addEventListener("click", () => {
      const open = menu.hidden;
      this._close();
      menu.hidden = !open;
      setAttribute(button, "aria-expanded", String(open));
      if (open) kill.focus();
    });
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this._close();
      button.focus();
    });
    kill.addEventListener("click", () => {
      this._ask("kill", name);
      this._close();
      button.focus();
    });
    return { element, button, state, restarts, menu };
  }

  _close() {
    for (const chip of this._chips.values()) {
      chip.menu.hidden = true;
      setAttribute(chip.button, "aria-expanded", "false");
    }
  }
}
