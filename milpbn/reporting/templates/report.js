"use strict";
(() => {
  const tip = document.getElementById("tip");
  const MOST_LINES = 12;

  const open = (id) => {
    const table = document.getElementById(id);
    table.open = true;
    table.scrollIntoView({ block: "center" });
    table.querySelector("summary").focus({ preventScroll: true });
  };

  const show = (node) => {
    const table = document.getElementById(node.dataset.table);
    const heading = document.createElement("strong");
    heading.textContent = table.querySelector("summary").textContent;
    const copy = table.querySelector("table").cloneNode(true);
    const lines = copy.querySelectorAll("tbody tr");
    lines.forEach((line, k) => { if (k >= MOST_LINES) line.remove(); });
    tip.replaceChildren(heading, copy);
    if (lines.length > MOST_LINES) tip.append(`${lines.length - MOST_LINES} more lines in the table below`);
    tip.hidden = false;
    const box = node.getBoundingClientRect();
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${scrollX + Math.max(8, Math.min(box.left, room))}px`;
    const below = box.bottom + 8 + tip.offsetHeight <= innerHeight || box.top < tip.offsetHeight;
    tip.style.top = `${scrollY + (below ? box.bottom + 8 : box.top - 8 - tip.offsetHeight)}px`;
  };
  const hide = () => { tip.hidden = true; };

  for (const node of document.querySelectorAll(".node")) {
    node.addEventListener("pointerenter", () => show(node));
    node.addEventListener("pointerleave", hide);
    node.addEventListener("focus", () => { if (node.matches(":focus-visible")) show(node); });
    node.addEventListener("blur", hide);
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault(); // or the same key would fold the table again
        hide();
        open(node.dataset.table);
      }
      if (event.key === "Escape") hide();
    });
  }

  for (const svg of document.querySelectorAll("svg.network")) {
    const whole = svg.viewBox.baseVal;
    const fit = { x: whole.x, y: whole.y, w: whole.width, h: whole.height };
    let view = { ...fit };
    const apply = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
    const scale = () => view.w / svg.getBoundingClientRect().width;
    const zoom = (factor, px = 0.5, py = 0.5) => {
      const w = Math.min(Math.max(view.w / factor, fit.w / 20), fit.w * 3);
      const h = w * fit.h / fit.w;
      view = { x: view.x + (view.w - w) * px, y: view.y + (view.h - h) * py, w, h };
      apply();
    };
    const move = (dx, dy) => { view.x += dx; view.y += dy; apply(); };
    const reset = () => { view = { ...fit }; apply(); };

    for (const button of svg.parentElement.querySelectorAll("[data-zoom]")) {
      const factor = Number(button.dataset.zoom);
      button.addEventListener("click", () => (factor ? zoom(factor) : reset()));
    }
    // A plain turn of the wheel scrolls the page.
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      const factor = event.deltaY < 0 ? 1.15 : 1 / 1.15;
      zoom(factor, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    }, { passive: false });
    svg.addEventListener("keydown", (event) => {
      const step = view.w / 10;
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
      if (moves[event.key]) move(...moves[event.key]);
      else if (event.key === "+") zoom(1.25);
      else if (event.key === "-") zoom(0.8);
      else if (event.key === "0") reset();
      else return;
      hide();
      event.preventDefault();
    });

    let start = null, dragged = false;
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      start = [event.clientX, event.clientY];
      dragged = false;
    });
    addEventListener("pointermove", (event) => {
      if (!start) return;
      const [dx, dy] = [event.clientX - start[0], event.clientY - start[1]];
      if (!dragged && Math.hypot(dx, dy) < 5) return;
      dragged = true;
      hide();
      move(-dx * scale(), -dy * scale());
      start = [event.clientX, event.clientY];
    });
    addEventListener("pointerup", () => { start = null; });
    addEventListener("pointercancel", () => { start = null; });
    svg.addEventListener("click", (event) => {
      const node = event.target.closest(".node");
      if (node && !dragged) { hide(); open(node.dataset.table); }
    });
  }

  for (const button of document.querySelectorAll("[data-fold]")) {
    button.addEventListener("click", () => {
      const all = document.querySelectorAll(`#${button.dataset.fold} details`);
      const unfold = ![...all].every((one) => one.open);
      all.forEach((one) => { one.open = unfold; });
      button.textContent = unfold ? "Close all" : "Open all";
    });
  }

  // Paper cannot be unfolded.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => { folded.forEach((one) => { one.open = false; }); });
})();
