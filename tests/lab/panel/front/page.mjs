// A page that widgets are rendered on without a browser, and all that can be read on it.

const SIZE = { width: 900, height: 420 };

/** What an element's canvas is drawn with: words are noted, all else is let go. */
function context(words) {
  const known = { fillText: (text) => words.push(text), measureText: (text) => ({ width: 6 * text.length }), createPattern: () => "hatch" };
  return new Proxy(known, { get: (target, name) => target[name] ?? (() => undefined), set: () => true });
}

class Element {
  constructor(tag) {
    Object.assign(this, { tag, attributes: {}, children: [], style: {}, dataset: {}, drawn: [], parent: null, ownerDocument: globalThis.document, hidden: false });
    const classes = new Set();
    this.classList = { add: (name) => classes.add(name), remove: (name) => classes.delete(name), toggle: (name, on) => (on ? classes.add(name) : classes.delete(name)), contains: (name) => classes.has(name) };
    this.listeners = {};
    this.clientWidth = SIZE.width;
    this.clientHeight = SIZE.height;
    this.canvas = this;
  }

  setAttribute(name, value) { this.attributes[name] = String(value); }
  getAttribute(name) { return this.attributes[name] ?? null; }
  removeAttribute(name) { delete this.attributes[name]; }
  append(...children) {
    for (const child of children) if (child instanceof Element) child.parent = this;
    this.children.push(...children);
  }
  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }
  get textContent() { return this.children.map((child) => child.textContent ?? child).join(""); }
  set textContent(text) { this.replaceChildren(text); }
  get firstChild() { return this.children[0]; }
  get lastChild() { return this.children.at(-1); }
  get innerHTML() { return this.textContent; }
  set innerHTML(text) { this.replaceChildren(); }
  addEventListener(name, act) { this.listeners[name] = act; }
  removeEventListener() {}
  contains() { return false; }
  closest() { return null; }
  focus() {}
  getContext() { return (this._context ??= context(this.drawn)); }
  getBoundingClientRect() { return { left: 0, top: 0, ...SIZE }; }
  querySelector(tag) { return this.all().find((element) => element.tag === tag) ?? null; }
  querySelectorAll() { return []; }

  /** It, and all that is in it. */
  all() {
    return [this, ...this.children.flatMap((child) => (child instanceof Element ? child.all() : []))];
  }

  /** Whether it can be seen. */
  get seen() { return !this.hidden && this.attributes.hidden === undefined && (this.parent?.seen ?? true); }
}

class Observer {
  constructor(act) { this.act = act; }
  observe() { this.act([]); }
  disconnect() {}
}

const frames = [];
const { setInterval } = globalThis;
globalThis.setInterval = (...wanted) => setInterval(...wanted).unref(); // a test that fails leaves its widget there, and is to end all the same
globalThis.document = { createElement: (tag) => new Element(tag), createElementNS: (_, tag) => new Element(tag), addEventListener() {}, removeEventListener() {}, activeElement: null };
document.body = new Element("body");
document.body.ownerDocument = document;
Object.assign(globalThis, {
  ResizeObserver: Observer,
  IntersectionObserver: Observer,
  MutationObserver: class extends Observer { observe() {} },
  matchMedia: () => ({ matches: true, addEventListener() {} }),
  getComputedStyle: () => ({ getPropertyValue: () => "" }),
  requestAnimationFrame: (draw) => frames.push(draw),
  cancelAnimationFrame() {},
  devicePixelRatio: 1,
  Path2D: class { moveTo() {} lineTo() {} arcTo() {} bezierCurveTo() {} },
});

/** A widget on the page, told some messages; `click(words)` presses a button, `read()` is all that is seen, heard or drawn, `remove()` takes it away. */
export async function shown(widget, traits, ...messages) {
  const el = new Element("div");
  let hear = null;
  const line = { on: (_, act) => { hear = act; }, off() {} };
  const model = { get: (name) => ({ line: "IPY_MODEL_1", ...traits })[name], send() {}, widget_manager: { get_model: async () => line } };
  const remove = await widget.render({ model, el });
  const tell = (content, buffers = []) => {
    hear(content, buffers);
    for (const draw of frames.splice(0)) draw(performance.now());
  };
  for (const message of messages) tell(...message);
  return { el, view: el.pslab, tell, remove, read: () => read(el) };
}

function read(el) {
  return el.all().filter((element) => element.seen).flatMap((element) => [
    ...element.children.filter((child) => typeof child === "string"), ...element.drawn,
    ...["title", "aria-label", "aria-valuetext"].map((name) => element.attributes[name]).filter(Boolean),
  ]);
}

/** Words in Latin letters of what can be read, without those that are the same in each language. */
export function latin(texts, ...same) {
  const known = new Set(["pslab", "worker", "ps", "op", "Enter", "Backspace", "Esc", "Shift", "kB", "MB", "ms", ...same]);
  return [...new Set(texts.flatMap((text) => text.match(/[A-Za-z]{2,}/g) ?? []))].filter((word) => !known.has(word));
}
