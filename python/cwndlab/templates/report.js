// Chooses a metric, hides series, shows values, sorts tables. Without it the page shows everything.
"use strict";
document.documentElement.classList.add("js");

for (const chapter of document.querySelectorAll(".chapter")) {
  const metrics = [...chapter.querySelectorAll(".metric")];
  const choices = [...chapter.querySelectorAll("[data-show]")];
  const show = (key) => {
    for (const metric of metrics) metric.classList.toggle("hidden", key !== "" && metric.dataset.metric !== key);
    for (const choice of choices) choice.setAttribute("aria-pressed", String(choice.dataset.show === key));
  };
  for (const choice of choices) choice.addEventListener("click", () => show(choice.dataset.show));
  show(choices[0].dataset.show);

  for (const toggle of chapter.querySelectorAll("[data-toggle]")) {
    toggle.addEventListener("click", () => {
      const isShown = toggle.getAttribute("aria-pressed") !== "true";
      toggle.setAttribute("aria-pressed", String(isShown));
      for (const part of chapter.querySelectorAll(`[data-series="${toggle.dataset.toggle}"]`)) {
        part.classList.toggle("hidden", !isShown);
      }
    });
  }
}

const tip = document.getElementById("tip");
const hide = () => { tip.hidden = true; };
const say = (words, x, y) => {
  tip.textContent = words;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  // Beside the pointer, but inside the window; above a finger.
  tip.style.left = `${Math.max(4, Math.min(x + 12, window.innerWidth - box.width - 4))}px`;
  tip.style.top = `${y - box.height - 12 > 4 ? y - box.height - 12 : y + 16}px`;
};
for (const mark of document.querySelectorAll(".mark")) {
  const title = mark.querySelector("title");
  const words = title.textContent;
  // The browser would show it a second time.
  title.remove();
  mark.setAttribute("aria-label", words);
  for (const event of ["pointerenter", "pointerdown"]) {
    mark.addEventListener(event, (pointer) => say(words, pointer.clientX, pointer.clientY));
  }
  mark.addEventListener("pointerleave", (pointer) => { if (pointer.pointerType === "mouse") hide(); });
}
document.addEventListener("pointerdown", (pointer) => { if (!pointer.target.closest(".mark")) hide(); });
document.addEventListener("scroll", hide, { passive: true });

const value = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
};
const order = (a, b) => {
  if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  // What has no number comes last.
  return typeof a === "number" ? -1 : 1;
};
for (const table of document.querySelectorAll(".sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    const sort = () => {
      const isDown = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => (isDown ? -1 : 1) * order(value(a, column), value(b, column)));
      table.tBodies[0].append(...rows);
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (key) => {
      if (key.key === "Enter" || key.key === " ") { key.preventDefault(); sort(); }
    });
  });
}
