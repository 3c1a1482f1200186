// In a site that stands beside those of other versions: a choice of them. Their list is a script, as a page that is opened from a
// disk may not read other files.
document.addEventListener("DOMContentLoaded", () => {
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const list = document.createElement("script");
  list.src = new URL("../versions.js", root).href;
  list.onload = () => {
    const own = root.pathname.split("/").at(-2);
    if (!window.cwndlabVersions.includes(own)) return;
    const choice = document.createElement("select");
    choice.className = "versions";
    choice.setAttribute("aria-label", "Version of the documentation");
    for (const version of window.cwndlabVersions) choice.add(new Option(version, version, version === own, version === own));
    choice.onchange = () => location.assign(new URL(`../${choice.value}/index.html`, root));
    document.querySelector(".navbar-header-items__end").prepend(choice);
  };
  document.head.append(list);
});
