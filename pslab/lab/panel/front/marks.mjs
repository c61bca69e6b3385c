// Where in the training something was changed.

import { formatCount } from "./format.mjs";
import { WORDS } from "./words.mjs";

/** Those that are within `reach` of a global step, as lines; if there is none, the last one before it. */
export function marksAt(marks, step, reach) {
  const near = marks.filter((mark) => Math.abs(mark.step - step) <= reach);
  const last = marks.findLast((mark) => mark.step <= step);
  return (near.length ? near : last ? [last] : []).map((mark) => WORDS.since(formatCount(mark.step), mark.words));
}

/** Which of the marks have room for their words in one line, the latest first: {mark, left} each. `widthOf(words)` is in pixels. */
export function namedMarks(marks, placeOf, widthOf, right) {
  const named = [];
  let free = right;
  for (const mark of [...marks].reverse()) {
    const width = widthOf(mark.words);
    const left = Math.min(placeOf(mark) + 4, right - width);
    if (left + width > free) continue;
    named.push({ mark, left });
    free = Math.min(left, placeOf(mark)) - 8;
  }
  return named;
}
