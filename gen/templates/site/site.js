const rows = all(".row"), search = byId("search");
if (search) {
  const texts = rows.map((row) => row.textContent.toLowerCase());
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, index) => { row.hidden = !words.every((word) => texts[index].includes(word)); shown += !row.hidden; });
    byId("shown").textContent = words.length ? `${shown} of ${rows.length} shown` : "";
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
    if (event.key === "Escape") { search.value = ""; search.dispatchEvent(new Event("input")); search.blur(); }
  });
}
