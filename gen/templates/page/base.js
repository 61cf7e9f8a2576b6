"use strict";
const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const all = (selector, parent = document) => [...parent.querySelectorAll(selector)];
const stored = {
  get() { try { return localStorage.getItem("gen-theme"); } catch { return null; } },
  set(value) { try { localStorage.setItem("gen-theme", value); } catch { /* a page opened from a file may have no storage */ } },
};
const wide = matchMedia("(prefers-color-scheme: dark)");
const theme = (value) => {
  root.dataset.theme = value;
  byId("theme").setAttribute("aria-pressed", String(value === "dark"));
};
const wanted = () => stored.get() ?? (wide.matches ? "dark" : "light");
const flip = () => { const next = root.dataset.theme === "dark" ? "light" : "dark"; stored.set(next); theme(next); };
theme(wanted());
wide.addEventListener("change", () => theme(wanted()));
byId("theme").addEventListener("click", flip);
