// What each plot shows.

import { AreaPlot } from "./area_plot.mjs";
import { formatBytes, formatNumber, formatSeconds } from "./format.mjs";
import { LinkPlot } from "./link_plot.mjs";
import { amountScale, divergenceScale, linearScale, lossScale } from "./scales.mjs";
import { DASHES, SeriesPlot } from "./series_plot.mjs";
import { TimelinePlot } from "./timeline_plot.mjs";
import { WORDS } from "./words.mjs";

const HATCHES = { compute: "", push: "\\", wait: "/", pull: "." };

/** All plots, in the palette of `pslab.lab.palette`. */
export function plotsOf(palette) {
  const phases = Object.fromEntries(Object.entries(palette.phases).map(([name, color]) => [name, { color, hatch: HATCHES[name] }]));
  const metric = (history) => (history.state.metrics ?? []).slice(0, 1);
  const series = (k) => ({ color: palette.series[k % palette.series.length], dash: k % DASHES.length });
  const words = (name, empty = WORDS.noSteps) => ({ title: WORDS.plots[name][0], unit: WORDS.plots[name][1], empty });
  return {
    loss: new SeriesPlot({
      ...words("loss"),
      lines: (history) => [
        { column: "loss", label: WORDS.series.loss, ...series(0), dash: 0, side: "left" },
        ...metric(history).map((name) => ({ column: name, label: WORDS.series[name] ?? name, ...series(1), side: "right" })),
      ],
      scales: { left: lossScale, right: (values) => (values.every((v) => v >= 0 && v <= 1) ? linearScale(0, 1) : lossScale(values)) },
      formats: { left: formatNumber, right: formatNumber },
    }),
    divergence: new SeriesPlot({
      ...words("divergence", WORDS.unobserved), sparse: true,
      lines: (history) => Array.from({ length: history.state.workers ?? 0 }, (_, k) => ({ column: `divergence:${k}`, label: `w${k}`, ...series(k), side: "left" })),
      scales: { left: divergenceScale },
      formats: { left: formatNumber },
    }),
    bytes: new SeriesPlot({
      ...words("bytes"),
      lines: (history) => ["pushed", "pulled", "fed"].flatMap((flow, k) => {
        const column = `bytes_${flow}`;
        const used = flow !== "fed" || history.curve(column).y.some((value) => value > 0);
        return used ? [{ column, label: WORDS.series[flow], color: palette.flows[flow], dash: [0, 1, 3][k], side: "left" }] : [];
      }),
      scales: { left: (values) => amountScale(values) },
      formats: { left: formatBytes },
    }),
    links: new LinkPlot({ ...words("bytes", WORDS.noTraffic), flows: palette.flows }),
    time: new AreaPlot({
      ...words("time"),
      parts: () => ["compute", "push", "wait", "pull"].map((name) => ({ column: name, label: WORDS.series[name], ...phases[name] })),
      format: formatSeconds,
    }),
    timeline: new TimelinePlot({ ...words("timeline"), phases }),
  };
}
