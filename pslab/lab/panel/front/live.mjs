// What all live widgets do alike: hear the kernel while they are shown, follow the notebook's theme, keep their keys.

import { speak } from "./words.mjs";

/** A widget's `render`. `make(model, tell)` makes its view: an `element` that takes in what the kernel tells (`take`) until it is removed (`remove`). */
export function live(make) {
  return async ({ model, el }) => {
    const line = await model.widget_manager.get_model(model.get("line").replace("IPY_MODEL_", ""));
    speak(model.get("language"));
    const view = make(model, (message) => model.send(message));
    const hear = (content, buffers) => view.take(content, buffers);
    line.on("msg:custom", hear);
    el.append(view.element);
    el.pslab = view;
    const cell = el.closest(".jp-OutputArea");
    cell?.classList.add("pslab-live");
    model.send({});
    return () => {
      line.off("msg:custom", hear);
      cell?.classList.remove("pslab-live");
      view.remove();
    };
  };
}

/** Act when the notebook has another theme, until what is returned is disconnected. */
export function whenThemed(act) {
  const observer = new MutationObserver(() => requestAnimationFrame(act)); // until the next frame JupyterLab hides everything
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
  return observer;
}

/** Single letters that are typed within an element are not the notebook's. */
export function keepKeys(element) {
  element.addEventListener("keydown", (event) => { if (!event.ctrlKey && !event.metaKey) event.stopPropagation(); });
}
