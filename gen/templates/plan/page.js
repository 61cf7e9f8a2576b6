const cards = all(".card"), groups = all(".group"), equals = all(".equal");
const words = new Map();
const text = (node) => {
  if (!words.has(node)) words.set(node, node.textContent.toLowerCase());
  return words.get(node);
};
const search = byId("search"), overlay = byId("overlay"), namespace = byId("namespace"), action = byId("action");

function filter() {
  const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (node) => wanted.every((word) => text(node).includes(word));
  let shown = 0;
  for (const card of cards) {
    const fits = (!overlay.value || card.dataset.overlay.split(" ").includes(overlay.value))
      && (!namespace.value || card.dataset.namespace === namespace.value)
      && (!action.value || card.dataset.action === action.value) && found(card);
    card.hidden = !fits;
    shown += fits;
  }
  for (const group of groups) group.hidden = !all(".card", group).some((card) => !card.hidden);
  for (const one of equals) one.hidden = !found(one);
  const active = wanted.length || overlay.value || namespace.value || action.value;
  byId("shown").textContent = active ? `${shown} of ${cards.length} shown` : "";
  byId("none").hidden = !cards.length || shown > 0;
}
for (const field of [search, overlay, namespace, action]) field.addEventListener("input", filter);

let details;
async function unpack() {
  const bytes = Uint8Array.from(atob(byId("details").textContent.trim()), (char) => char.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function element(name, className, content) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (content !== undefined) node.textContent = content;
  return node;
}

function pane(title, url, body, whole) {
  const node = element("div", whole ? "pane whole" : "pane"), heading = element("h4");
  if (url) { const link = element("a", "", title); link.href = url; heading.append(link); } else heading.textContent = title;
  body.tabIndex = 0;
  body.setAttribute("role", "group");
  body.setAttribute("aria-label", title);
  node.append(heading, body);
  return node;
}

function changes(lines) {
  const body = element("pre", "diff");
  const kinds = { "+": "plus", "-": "minus", "@": "at" };
  for (const line of lines) body.append(element("span", kinds[line[0]] ?? "", line));
  return body;
}

async function fill(node) {
  node.dataset.filled = "yes";
  details ??= unpack();
  const data = await details, run = data.runs[Number(node.dataset.run)], panes = element("div", "panes");
  if (run.diff.length) panes.append(pane("Changed fields", "", changes(run.diff), true));
  const job = data.jobs[run.job];
  if (job) panes.append(pane(job.path, job.url, element("pre", "", job.text)));
  for (const [index, file] of run.objects.entries()) {
    panes.append(pane(file.path, file.url, element("pre", "", file.text), index > 0 || !job));
  }
  node.append(panes);
}

document.addEventListener("toggle", (event) => {
  const node = event.target;
  if (node.dataset?.run !== undefined && node.open && !node.dataset.filled) fill(node);
}, true);

let current = -1;
function move(step) {
  const visible = cards.filter((card) => !card.hidden);
  if (!visible.length) return;
  current = Math.min(Math.max(visible.indexOf(document.activeElement?.closest?.(".card")) + step, 0), visible.length - 1);
  visible[current].focus();
  visible[current].scrollIntoView({ block: "nearest" });
}
const typing = () => ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement?.tagName);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && typing()) { search.value = ""; filter(); document.activeElement.blur(); return; }
  if (typing()) return;
  const card = document.activeElement?.closest?.(".card");
  const actions = {
    "/": () => search.focus(), j: () => move(1), k: () => move(-1), t: flip,
    o: () => { const one = card && card.querySelector("details"); if (one) one.open = !one.open; },
  };
  if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
});
addEventListener("beforeprint", () => { for (const one of all("details").slice(0, 200)) if (one.dataset.run === undefined) one.open = true; });
