// The studio is a page of 1.3 MB: it is loaded when the reader asks for it, not with the landing page.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("button[data-studio]"))
    button.addEventListener("click", () => {
      const frame = document.createElement("iframe");
      frame.src = button.dataset.studio;
      frame.title = "The studio: the simulator as a page";
      button.replaceWith(frame);
    });
});
