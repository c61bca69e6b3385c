// All words of the front end; those of the controls come with their faces.

import { CHINESE } from "./words_zh.mjs";

export const WORDS = {
  panel: "pslab panel",
  controls: "Controls",
  training: "Training",
  tasks: "Tasks",
  buttons: { start: "Start", pause: "Pause", step: "Step", stop: "Stop", reset: "Reset", save: "Save" },
  states: { idle: "idle", running: "running", paused: "paused", done: "done", failed: "failed", "out of data": "out of data" },
  resume: "Resume",
  restore: "Restore …",
  restoreHint: "Restore a checkpoint",
  hold: "Hold picture",
  holdHint: "Let the picture stand still while the training goes on",
  freeze: "Freeze run",
  freezeHint: "Keep these curves behind those to come",
  thaw: "Drop frozen",
  step: (count) => `step ${count}`,
  rate: (number) => `${number} updates/s`,
  dropped: (count) => `${count} dropped`,
  doing: (training, name) => `${training}, ${name} …`,
  is: (value) => `is ${value}`,
  less: (label) => `less ${label.toLowerCase()}`,
  more: (label) => `more ${label.toLowerCase()}`,
  refused: (label, why) => `${label} stays as it is: ${why}`,
  silence: "Nothing is heard from the kernel; this is the last picture. %pslab panel opens another.",
  noCluster: "No cluster yet: Start brings one up.",
  up: "up",
  chip: (name, doing, restarts) => `${name}, ${doing}${restarts ? `, started anew ${restarts} times` : ""}: menu`,
  kill: (name) => `Kill ${name}`,
  slow: (delay) => `Slow down by ${delay}`,
  hasten: "As fast as it can be",
  killPs: "Killed, its parameters are lost and it comes back empty: restore a checkpoint, or reset.",
  killWorker: "Killed, it comes back under its name by itself, and goes on.",
  mean: (width) => `, mean of ${width}`,
  since: (step, words) => `since step ${step}: ${words}`,
  frozen: (label) => `${label}, frozen`,
  observed: (mean, seen) => `${mean}, seen ${seen}`,
  predicted: "predicted",
  bottleneck: { network: "the network", ps: "the ps tasks' ports", cores: "the cores" },
  forecast: (seconds, bottleneck) => `${seconds}; bottleneck: ${bottleneck}`,
  now: "now",
  itsStep: (worker, step) => `worker:${worker}, its step ${step}`,
  further: (count, bytes) => `and ${count} more: ${bytes}`,
  link: (bytes, messages, total) => `${bytes} in ${messages} messages a step; ${total} in all`,
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  whole: "Show all",
  canvas: (title, unit) => `${title}, ${unit}. Arrow keys read values, plus and minus zoom, Shift with arrow keys moves, Escape shows all.`,
  noSteps: "no steps yet",
  plots: {
    loss: ["Loss and accuracy", "of a worker's batch, over global steps"],
    divergence: ["Divergence", "‖θ worker − θ ps‖ / ‖θ ps‖ before the update: moving mean, and what was seen"],
    bytes: ["Bytes", "per worker step, on the wire"],
    time: ["Time", "per worker step, and as predicted"],
    timeline: ["Timeline", "the last steps of each worker"],
  },
  unobserved: "no step was observed yet",
  noTraffic: "nothing was sent yet",
  overSteps: "over steps",
  perLink: "per link",
};

const CATALOGUES = { zh: CHINESE };

/** Let all words that are asked for from now on be those of another language, as `pslab.set_language` knows it. */
export function speak(language) {
  Object.assign(WORDS, CATALOGUES[language]);
}
