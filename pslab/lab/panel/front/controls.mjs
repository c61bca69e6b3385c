// The controls: each shows what is in force, and beside it what was asked for until that is.

import { make, setAttribute, setText } from "./dom.mjs";
import { WORDS } from "./words.mjs";

const DEBOUNCE_MS = 500;
const LETTERS = 12;

let serial = 0;

/** One control, drawn as its face says. `ask(value)` asks for another value. */
export class Control {
  constructor(name, ask, locked) {
    this.name = name;
    this._ask = (value) => {
      setAttribute(this.element, "aria-busy", "true");
      ask(value);
    };
    this._locked = locked;
    this._id = `pslab-control-${++serial}`;
    this._label = make("label", { class: "pslab-label", id: `${this._id}-label`, for: this._id });
    this._inForce = make("span", { class: "pslab-in-force" });
    this._place = make("div", { class: "pslab-place" });
    this.element = make("div", { class: "pslab-control", "data-name": name }, make("div", { class: "pslab-name" }, this._label, this._inForce), this._place);
    this._kind = "";
  }

  /** Show a face; `pending` is what was asked for and is not in force yet, or undefined. */
  show(face, pending) {
    const kind = `${face.options.join("|")}:${face.label}:${face.ladder.length > 0}`;
    if (kind !== this._kind) this._build(face, kind);
    this._face = face;
    const waits = pending !== undefined && pending !== face.value;
    setText(this._label, face.label);
    setAttribute(this.element, "title", face.hint || null);
    setAttribute(this.element, "aria-busy", waits ? "true" : null);
    setText(this._inForce, waits ? WORDS.is(WORDS.values[face.value] ?? face.value) : "");
    if (!this._typing) this._set(waits ? pending : face.value);
  }

  _build(face, kind) {
    this._kind = kind;
    const buttons = face.options.length > 0 && face.options.join("").length <= LETTERS;
    const [field, set] = buttons ? this._buttons(face) : face.options.length ? this._select(face) : this._number(face);
    this._set = set;
    this._place.replaceChildren(field);
  }

  _buttons(face) {
    const inputs = face.options.map((option) => make("input", { type: "radio", name: this._id, value: option, id: `${this._id}-${option}`, disabled: this._locked ? "" : null }));
    const labels = inputs.map((input, k) => make("label", { for: input.id }, WORDS.values[face.options[k]] ?? face.options[k]));
    for (const input of inputs) input.addEventListener("change", () => this._ask(input.value));
    const group = make("div", { class: "pslab-segments", role: "radiogroup", "aria-labelledby": `${this._id}-label` }, ...inputs.flatMap((input, k) => [input, labels[k]]));
    return [group, (value) => inputs.forEach((input) => { if (input.checked !== (input.value === value)) input.checked = input.value === value; })];
  }

  _select(face) {
    const select = make("select", { id: this._id, disabled: this._locked ? "" : null }, ...face.options.map((option) => make("option", { value: option }, WORDS.values[option] ?? option)));
    select.addEventListener("change", () => this._ask(select.value));
    return [select, (value) => { if (select.value !== value) select.value = value; }];
  }

  _number(face) {
    const input = make("input", { id: this._id, type: "text", inputmode: face.ladder.length ? "text" : "decimal", role: "spinbutton", autocomplete: "off", spellcheck: "false", disabled: this._locked ? "" : null });
    const ask = () => {
      clearTimeout(this._typing);
      this._typing = 0;
      const text = input.value.trim();
      if (text === "" || text === said(this._face.value)) this._set(this._face.value);
      else this._ask(this._face.ladder.length || !Number.isFinite(Number(text)) ? text : Number(text));
    };
    const soon = (wait) => {
      clearTimeout(this._typing);
      this._typing = setTimeout(ask, wait);
    };
    const move = (direction) => {
      input.value = moved(input.value, direction, this._face);
      soon(DEBOUNCE_MS);
    };
    input.addEventListener("change", ask);
    input.addEventListener("input", () => soon(4 * DEBOUNCE_MS));
    input.addEventListener("keydown", (event) => {
      const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (event.key === "Enter") ask();
      if (!direction) return;
      event.preventDefault();
      move(direction);
    });
    const button = (words, sign, direction) => {
      const element = make("button", { type: "button", tabindex: "-1", "aria-label": words(face.label), disabled: this._locked ? "" : null }, sign);
      element.addEventListener("click", () => move(direction));
      return element;
    };
    const set = (value) => {
      const words = said(value);
      if (input.value !== words) input.value = words;
      const numeric = typeof value === "number";
      setAttribute(input, "aria-valuetext", numeric ? null : words || null);
      setAttribute(input, "aria-valuenow", numeric ? words : null);
      setAttribute(input, "aria-valuemin", numeric ? this._face?.least ?? null : null);
      setAttribute(input, "aria-valuemax", numeric ? this._face?.most ?? null : null);
    };
    this._face = face;
    return [make("div", { class: "pslab-stepper" }, button(WORDS.less, "−", -1), input, button(WORDS.more, "+", 1)), set];
  }
}

/** What is typed, moved on by one: along the ladder, if there is one; each number of several. */
export function moved(text, direction, face) {
  if (!face.ladder.length) return text.split(",").map((part) => said(stepped(Number(part), direction, face))).join(", ");
  const at = face.ladder.indexOf(face.ladder.includes(text) ? text : face.value);
  return face.ladder[Math.min(Math.max(at + direction, 0), face.ladder.length - 1)];
}

/** The next value in a direction, within the bounds of the face. */
export function stepped(value, direction, face) {
  const next = face.factor ? value * face.factor ** direction : value + direction;
  const whole = face.least >= 1 ? Math.round(next) : next;
  return Math.min(Math.max(whole, face.least), face.most ?? Infinity);
}

function said(value) {
  return value === null || value === undefined ? "" : typeof value === "number" ? String(Number(value.toPrecision(4))) : value;
}
