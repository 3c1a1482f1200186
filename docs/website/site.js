// The studio is a page of 1.3 MB: it is loaded when the reader asks for it, not with the landing page.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("button[data-studio]"))
    button.addEventListener("click", () => {
      const frame = document.createElement("iframe");
      frame.src = button.dataset.studio;
      frame.title = "The studio: the simulator as a page";
      button.replaceWith(frame);
    });
  // What the theme leaves out for those who use a keyboard or a screen reader.
  for (const part of document.querySelectorAll(".pst-scrollable-table-container, pre"))
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  for (const part of document.querySelectorAll("nav summary")) part.setAttribute("aria-label", "Pages below");
  for (const part of document.querySelectorAll(".search-button__button")) part.setAttribute("aria-label", "Search Ctrl+K");
});
