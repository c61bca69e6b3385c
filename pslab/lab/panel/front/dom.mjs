// Elements of the page.

/** An element with attributes and children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A small picture in the colour of the text. */
export function icon(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ width: 12, height: 12, viewBox: "0 0 14 14", fill: "currentColor", "aria-hidden": "true" })) svg.setAttribute(name, value);
  svg.append(document.createElementNS("http://www.w3.org/2000/svg", "path"));
  svg.firstChild.setAttribute("d", path);
  return svg;
}

/** Replace an element's text, if it is another. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute, or take it away where the value is null; if it is another. */
export function setAttribute(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}
