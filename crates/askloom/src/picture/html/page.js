"use strict";

// Everything on the page is made of the document, by nodes and texts and never by markup: a name in a model
// cannot become part of the page.

const design = JSON.parse(document.getElementById("document").textContent);

// Making elements

function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A bar for a part of a whole; what it says stands beside it in figures. */
function bar(part) {
  const width = Math.max(0, Math.min(1, part || 0)) * 100;
  const shape = (name, wide) => svg("rect", { class: name, x: 0, y: 0, width: wide, height: 5, rx: 0.8 });
  const options = { class: "bar", viewBox: "0 0 100 5", preserveAspectRatio: "none", "aria-hidden": "true" };
  return svg("svg", options, shape("track", 100), shape("fill", part > 0 ? Math.max(width, 0.6) : 0));
}

function table(name, heads, rows, caption) {
  const head = heads.map(([text, kind]) => el("th", { scope: "col", class: kind }, text));
  const body = el("tbody", null, rows);
  const whole = el("table", { class: name, "aria-label": caption }, el("thead", null, el("tr", null, head)), body);
  return el("div", { class: "scroll", role: "region", "aria-label": caption }, whole);
}

// Figures

const plain = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });

function scaled(value, units, step) {
  let at = 0;
  while (value >= step && at < units.length - 1) {
    value /= step;
    at += 1;
  }
  return `${exact.format(value)}${units[at]}`;
}

function count(value) {
  if (value === null || value === undefined) return "–";
  if (value >= 1e18) return value.toExponential(0).replace("+", "");
  if (value > 0 && value < 0.1) return "<0.1";
  if (value < 10) return new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 }).format(value);
  return value < 1e5 ? plain.format(value) : scaled(value / 1e3, ["k", "M", "G", "T"], 1e3);
}

function bytes(value) {
  if (value === null || value === undefined) return "–";
  if (value >= 1e18) return `${value.toExponential(0).replace("+", "")} B`;
  if (value > 0 && value < 1) return "<1 B";
  return scaled(value < 1e3 ? Math.round(value) : value, [" B", " KB", " MB", " GB", " TB", " PB"], 1e3);
}

function cost(value) {
  if (value === null || value === undefined) return "–";
  if (value >= 1e15) return value.toExponential(0).replace("+", "");
  return value >= 1000 ? plain.format(value) : exact.format(value);
}

const some = (value, show) => (value > 0 ? show(value) : "");
const sum = (items, of) => items.reduce((total, item) => total + (of(item) || 0), 0);
const amount = (number, one, many) => `${count(number)} ${number === 1 ? one : many || `${one}s`}`;
const percent = (share) => (share > 0 && share < 0.01 ? "<1%" : `${Math.round((share || 0) * 100)}%`);

function figures() {
  const { total, unit, collections } = design;
  const storage = total.storage ?? sum(collections, (collection) => collection.estimate.bytes);
  const list = [
    design.money
      ? ["Cost", `$${count(design.money.requests + design.money.storage)}`, "a month", "main"]
      : ["Cost", cost(total.cost), `${unit} a second`, "main"],
    ["Requests", count(total.requests), "a second"],
    ["Read and written", bytes(total.bytes), "a second"],
    ["Stored", bytes(storage), ""],
    ["Put for a byte of data", count(total.write_amplification ?? null), count(total.write_amplification) === "1" ? "byte" : "bytes"],
  ];
  const shown = list.filter(([, value]) => value !== "–");
  const one = ([name, value, of, kind]) =>
    el("div", { class: kind }, el("dt", null, name), el("dd", null, `${value} `, el("small", null, of)));
  document.getElementById("figures").append(...shown.map(one));
}

// Collections: grids of sample items

const grids = new Map();

function sampleOf(collection) {
  const keys = [...collection.block_key, ...collection.entry_key].map((field) => field.name);
  const columns = [...keys, ...collection.value.map((field) => field.name)];
  return collection.sample || { columns, keys: keys.length, rows: [] };
}

/** The members of a value that is a JSON object; nothing for others. */
function members(text) {
  if (!text.startsWith("{")) return null;
  try {
    return Object.entries(JSON.parse(text));
  } catch {
    return null;
  }
}

const identifier = /^([0-9a-f]{4})[0-9a-f]{4}-[0-9a-f-]{14}-[0-9a-f]{6}([0-9a-f]{6})$/i;

/** A value in words: members and elements without the marks of JSON. */
function spelled(value) {
  if (Array.isArray(value)) return value.map(spelled).join(", ");
  if (value && typeof value === "object") return Object.entries(value).map(([name, one]) => `${name} ${spelled(one)}`).join(", ");
  return String(value);
}

function short(value) {
  const text = spelled(value);
  const found = identifier.exec(text);
  if (found) return `${found[1]}…${found[2]}`;
  return text.length > 90 ? `${text.slice(0, 88)}…` : text;
}

/** A cell, and what can be lit in it. */
function cell(tag, attributes, text, column) {
  const fields = members(text);
  if (!fields) {
    const long = text.length > 40 && !identifier.test(text) ? " long" : "";
    const shown = text === "" ? el("span", { class: "nothing" }, "–") : short(text);
    const options = { ...attributes, class: `${attributes.class || ""}${long}`.trim() || null };
    const element = el(tag, { ...options, title: short(text) === text ? null : text }, shown);
    return { element, column, fields: [] };
  }
  const parts = fields.map(([name, value]) => {
    const element = el("span", { class: "field" }, el("i", null, name), short(value));
    return { element, column: name };
  });
  const options = { ...attributes, class: `${attributes.class || ""} long`.trim() };
  const spaced = parts.flatMap((part) => [part.element, " "]);
  return { element: el(tag, options, spaced), column, fields: parts };
}

/** Rows that share the key of their block, in the order of the sample. */
function blocksOf(rows, width) {
  const blocks = [];
  for (const row of rows) {
    const key = JSON.stringify(row.slice(0, width));
    const last = blocks[blocks.length - 1];
    if (last && last.key === key) last.rows.push(row);
    else blocks.push({ key, rows: [row] });
  }
  return blocks;
}

/** Whether the store keeps it by itself. */
const isOwn = (collection) => collection.kept_by === "store";

function gridHead(collection, sample, width) {
  const order = (name) => {
    const field = collection.entry_key.find((key) => key.name === name);
    return field && field.order === "desc" ? `${name} ↓` : name;
  };
  const values = sample.columns.length - sample.keys;
  const own = isOwn(collection) && design.words.own_key;
  // What an aggregate is split into is sorted by no field.
  const within = collection.entry_key.length ? design.words.entry_key : design.words.entry;
  const groups = [
    [own || design.words.block_key, own ? sample.keys : width, "key"],
    [within, own ? 0 : sample.keys - width, "key"],
    [values === 1 ? "" : "values", values, null],
  ].filter(([, wide]) => wide > 0);
  const group = ([name, wide]) => el("th", { scope: "colgroup", colspan: wide }, name);
  const name = (column, at) => el("th", { scope: "col", class: at < sample.keys ? "key" : null }, order(column));
  const corner = () => el("td", { class: "order" });
  return el(
    "thead",
    null,
    el("tr", { class: "groups" }, corner(), groups.map(group)),
    el("tr", { class: "names" }, corner(), sample.columns.map(name)),
  );
}

function gridBlock(block, number, sample, width, rows) {
  const lines = block.rows.map((values, index) => {
    const order = el("td", { class: "order" });
    const cells = [];
    values.forEach((value, at) => {
      const options = { class: at < sample.keys ? "key" : null };
      if (at >= width) cells.push(cell("td", options, value, sample.columns[at]));
      else if (index === 0) cells.push(cell("th", { ...options, scope: "rowgroup", rowspan: block.rows.length }, value, sample.columns[at]));
    });
    const element = el("tr", null, order, cells.map((one) => one.element));
    rows.push({ element, order, cells, values, block: number });
    return element;
  });
  return el("tbody", null, lines);
}

function grid(collection) {
  const sample = sampleOf(collection);
  const width = Math.min(collection.block_key.length, sample.keys);
  const rows = [];
  const bodies = blocksOf(sample.rows, width).map((block, number) => gridBlock(block, number, sample, width, rows));
  const label = `${collection.name}: sample items`;
  const element = el("table", { class: "grid", "aria-label": label }, gridHead(collection, sample, width), bodies);
  const empty = rows.length ? null : el("p", { class: "about" }, "None of the made-up items belongs here.");
  const box = el("div", { class: "scroll", role: "region", "aria-label": label }, element, empty);
  return { rows, sample, box, blocks: bodies.length };
}

function aboutText(collection) {
  const { source, role } = collection;
  const parts = source.paths.length ? ` with ${source.paths.join(", ")}` : "";
  const when = source.condition ? `, where ${source.condition}` : "";
  const words = { master: "source of", copy: "copy of", index: "index of" };
  const word = isOwn(collection) ? `${design.words.own_index} of` : words[role] || role;
  const added = collection.origin === "added" ? ", added to what the method gives" : "";
  return `${word} ${source.root}${parts}${when}${added}`;
}

function facts(collection) {
  const { estimate } = collection;
  const lines = [
    ["split", collection.rules.join(", ")],
    ["whole", collection.whole.join(", ")],
    ["read by", collection.serves.join(", ")],
    [collection.role === "master" ? "written by" : "kept right by", collection.kept_right_by.join(", ")],
    ["blocks", `${count(estimate.blocks)}, the largest ${bytes(estimate.largest_block_bytes)}`],
    ["because", collection.reasons.join("; ")],
  ].filter(([, text]) => text);
  const list = lines.flatMap(([name, text]) => [el("dt", null, name), el("dd", null, text)]);
  return el("details", null, el("summary", null, "Use, size and reasons"), el("dl", { class: "facts" }, list));
}

function collectionCard(collection) {
  const marks = el("span", { class: "marks" });
  const made = grid(collection);
  const size = `${count(collection.estimate.entries)} ${design.words.records}, ${bytes(collection.estimate.bytes)}`;
  const title = `collection-${collection.name}`;
  const header = el(
    "header",
    null,
    el("h3", { id: title }, collection.name),
    marks,
    el("span", { class: "size" }, size),
  );
  const about = el("p", { class: "about" }, aboutText(collection));
  const card = el("article", { class: "collection", "aria-labelledby": title }, header, about, made.box, facts(collection));
  grids.set(collection.name, { ...made, card, marks, collection });
  return card;
}

// Which items a step touches. The program has carried out each statement on the sample, and the document says what it
// read and wrote; where it does not say, nothing is lit.

const touched = (step, target) => (step.touches ? step.touches.items.map((at) => target.rows[at]) : []);

const names = (columns, field) => columns.some((column) => column === field || column.startsWith(`${field}.`));

/** The cells, or fields in them, that the step names, and what tells an item from others; all if it names none. */
function partsOf(step, rows) {
  const cells = rows.flatMap((row) => row.cells);
  const inside = (one) => (names(step.columns, one.column) ? [one] : one.fields.filter((field) => names(step.columns, field.column)));
  const parts = cells.flatMap(inside);
  return parts.length ? parts.concat(cells.filter((one) => one.column.endsWith(" id"))) : cells;
}

/** The first row of a block has the cells that stand for all of its rows. */
function withBlockKeys(target, rows) {
  const first = rows.map((row) => target.rows.find((other) => other.block === row.block));
  const width = target.collection.block_key.length;
  return [...new Set(first)].map((row) => ({ cells: row.cells.slice(0, width) })).concat(
    rows.map((row) => ({ cells: row.cells.filter((one) => one.element.tagName === "TD") })),
  );
}

function mark(number) {
  return el("span", { class: "mark", title: `step ${number}` }, String(number));
}

function unlight() {
  for (const { card, marks, rows } of grids.values()) {
    card.classList.remove("lit", "dim");
    marks.replaceChildren();
    for (const row of rows) {
      row.order.replaceChildren();
      for (const one of row.cells) for (const part of [one, ...one.fields]) part.element.classList.remove("lit");
    }
  }
}

function light(plan, only) {
  unlight();
  plan.steps.forEach((step, at) => {
    const target = grids.get(step.collection);
    if (!target || (only !== undefined && only !== at)) return;
    const rows = touched(step, target);
    for (const row of rows) row.order.append(mark(at + 1));
    for (const part of partsOf(step, withBlockKeys(target, rows))) part.element.classList.add("lit");
    target.marks.append(mark(at + 1));
    target.card.classList.add("lit");
  });
  for (const { card } of grids.values()) card.classList.toggle("dim", !card.classList.contains("lit"));
}

// Statements

const READS = {
  snapshot: "A reader sees one state of the whole store.",
  committed: "A reader sees only what is committed; two steps may see two moments.",
  lagging: "A reader may see a copy that is behind its master.",
};

const TOGETHER = "A reader sees it change together with its master.";
const MEANWHILE = [
  [/store itself/, "The store brings it after by itself; until then a reader of it sees the old state."],
  [/intent/, "Until it is brought after, a reader sees the old state; nothing is lost if the writer stops."],
  [/transaction/, `${TOGETHER} Both or neither.`],
  [/atomic/, TOGETHER],
];

function meanwhile(level) {
  const found = MEANWHILE.find(([pattern]) => pattern.test(level));
  return found ? found[1] : level;
}

const sources = design.sources || [];

/** Where a line of the model stands on this page; nothing for what has none. */
function lineLink({ file, line }) {
  const at = sources.findIndex((source) => source.file === file);
  if (at < 0 || !line) return null;
  const name = file === design.model ? `line ${line}` : `${file}, line ${line}`;
  return el("a", { href: `#line-${at}-${line}` }, name);
}

/** What the call was given, so that it can be repeated in the mind. */
function sampleCall({ sample, steps }) {
  if (!sample) return [];
  if (sample.unknown) {
    return [el("p", { class: "said" }, `What it touches of the sample is not known: ${sample.unknown}.`)];
  }
  const given = sample.parameters.map(({ name, value }) => [el("dt", null, name), el("dd", { title: value }, short(members(value) ? JSON.parse(value) : value))]);
  const list = given.length
    ? el("dl", { class: "facts given" }, given.flat())
    : el("p", { class: "soft" }, "no parameters: it takes none.");
  return [el("h3", null, "Carried out on the sample with"), list, ...steps.some(isUnknown) ? [el("p", { class: "said" }, "How this store finds it was not carried out, so those steps light nothing.")] : []];
}

const isUnknown = (step) => grids.has(step.collection) && !step.touches;

/** What a step did that cannot be seen in the grid. */
function besides(step) {
  const { touches } = step;
  if (!touches) return isUnknown(step) ? "not known on the sample" : "";
  const parts = [];
  if (touches.items.length + touches.beyond + touches.made === 0) parts.push("touches none of the sample");
  if (touches.made) parts.push(`makes ${amount(touches.made, "new item")}`);
  if (touches.beyond) parts.push(`touches ${touches.beyond} more than are shown`);
  const others = touches.with.map((at) => at + 1);
  if (others.length) parts.push(`items told together with step ${others.join(", ")}`);
  return parts.join("; ");
}

function stepRow(plan, step, at) {
  const number = el("button", { class: "mark", type: "button", "aria-pressed": "false", title: "Light this step only", "aria-label": `Light step ${at + 1} only` }, String(at + 1));
  number.addEventListener("click", () => {
    const pressed = number.getAttribute("aria-pressed") === "true";
    for (const other of number.closest("tbody").querySelectorAll("button")) other.setAttribute("aria-pressed", "false");
    number.setAttribute("aria-pressed", String(!pressed));
    light(plan, pressed ? undefined : at);
  });
  const lit = grids.has(step.collection) && step.touches ? number : el("span", { class: "mark quiet" }, String(at + 1));
  return el(
    "tr",
    null,
    el("td", null, lit),
    el("td", null, step.words, plan.sample && !plan.sample.unknown && besides(step) ? el("span", { class: "besides" }, besides(step)) : null),
    el("td", { class: "number" }, some(step.requests, count)),
    el("td", { class: "number" }, some(step.bytes, bytes)),
    el("td", { class: "number" }, some(step.cost, cost)),
  );
}

function stepsTable(plan) {
  const heads = [["", null], ["step", null], ["calls", "number"], ["bytes", "number"], [design.unit, "number"]];
  const rows = plan.steps.map((step, at) => stepRow(plan, step, at));
  const all = el(
    "tr",
    { class: "total" },
    el("td", null),
    el("td", null, "one call in all"),
    el("td", { class: "number" }, count(sum(plan.steps, (step) => step.requests))),
    el("td", { class: "number" }, bytes(sum(plan.steps, (step) => step.bytes))),
    el("td", { class: "number" }, cost(plan.cost)),
  );
  return table("lines steps", heads, [...rows, all], `Steps of ${plan.statement}`);
}

function copyRow(copy) {
  const target = grids.get(copy.collection);
  const readers = target ? target.collection.serves : [];
  const who = readers.length ? `Read by ${readers.join(", ")}. ` : "Read by no query. ";
  return el(
    "tr",
    null,
    el("td", null, el("a", { href: `#collection-${copy.collection}` }, copy.collection)),
    el("td", null, who, meanwhile(copy.level)),
    el("td", { class: "number" }, count(copy.puts)),
    el("td", { class: "number" }, count(copy.deletes)),
  );
}

function copiesTable(plan) {
  if (plan.kind !== "write") return [];
  if (plan.copies.length === 0) return [el("p", { class: "soft" }, "No copy has to follow.")];
  const heads = [["copy", null], ["what a reader sees meanwhile", null], ["puts", "number"], ["deletes", "number"]];
  const name = "Copies that follow";
  return [el("h3", null, name), table("lines steps copies", heads, plan.copies.map(copyRow), `${name} ${plan.statement}`)];
}

/** Puts a text where it can be pasted from; a file opened from disk may have no clipboard of its own. */
async function copied(text, from) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const selection = window.getSelection();
    selection.selectAllChildren(from);
    return document.execCommand("copy");
  }
}

/** The statements of a plan in the store's own language. */
function nativeText(plan) {
  if (!plan.native) return null;
  const text = el("pre", { class: "native" }, plan.native);
  const button = el("button", { class: "copy", type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copied(plan.native, text)) ? "Copied" : "Select and copy";
  });
  return [el("h3", null, `On ${design.title}`), el("div", { class: "pasted" }, button, text)];
}

function detail(plan, id) {
  const said = plan.missing ? `No plan: ${plan.missing}` : READS[plan.reads];
  const scans = plan.scans ? el("p", { class: "said" }, "It goes through everything that is stored there.") : null;
  return el(
    "div",
    { class: "detail", id, hidden: true },
    el("pre", null, plan.text),
    el("p", { class: "soft" }, lineLink(plan)),
    plan.steps.length ? stepsTable(plan) : null,
    sampleCall(plan),
    copiesTable(plan),
    nativeText(plan),
    said ? el("p", { class: "said" }, said) : null,
    scans,
  );
}

function statementItem(plan, at, largest) {
  const id = `statement-${at}`;
  const often = plan.rate === null ? "once a second, assumed" : `${count(plan.rate)} a second`;
  const button = el(
    "button",
    { class: "pick", type: "button", "aria-expanded": "false", "aria-controls": id, "data-statement": plan.statement },
    el("span", { class: "name" }, plan.statement, el("span", { class: "kind" }, plan.kind)),
    el("span", { class: "cost" }, `${cost(plan.cost)} ${design.unit}`),
    el("span", { class: "under" }, often),
    el("span", { class: "under right" }, `${percent(plan.share)} of the cost`),
    bar(largest > 0 ? plan.share / largest : 0),
  );
  const shown = detail(plan, id);
  button.addEventListener("click", () => pick(button.getAttribute("aria-expanded") === "true" ? null : plan.statement));
  return el("li", null, button, shown);
}

const buttons = () => [...document.querySelectorAll(".pick")];

/** Picks a statement, or none. */
function pick(name) {
  for (const button of buttons()) {
    const open = button.dataset.statement === name;
    button.setAttribute("aria-expanded", String(open));
    document.getElementById(button.getAttribute("aria-controls")).hidden = !open;
  }
  for (const step of document.querySelectorAll(".steps button")) step.setAttribute("aria-pressed", "false");
  const plan = design.plans.find((one) => one.statement === name);
  if (plan) light(plan);
  else unlight();
  show();
  reachable();
}

/** Beside each other on a wide screen: what was picked, and the first thing that it touches. */
function show() {
  if (!window.matchMedia("(min-width: 62rem)").matches) return;
  const picked = document.querySelector(".pick[aria-expanded=true]");
  const card = document.querySelector(".collection.lit");
  if (picked) picked.parentElement.scrollIntoView({ block: "nearest" });
  if (card) card.scrollIntoView({ block: "nearest" });
}

/** A box is a stop of the keyboard only if there is something to scroll. */
function reachable() {
  for (const box of document.querySelectorAll(".scroll")) {
    if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}

function keys(event) {
  if (event.key === "Escape") return pick(null);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.classList.contains("pick")) return undefined;
  const all = buttons();
  const next = all[all.indexOf(event.target) + step];
  if (next) {
    event.preventDefault();
    next.focus();
  }
  return undefined;
}

// The comparison of methods

/** Millions of seconds in thirty days: what a million calls cost, a month of one call a second costs so many times. */
const MONTH = 2.592;

function methodsTable({ methods }) {
  const largest = Math.max(...methods.map((method) => method.cost));
  const least = Math.min(...methods.map((method) => method.cost));
  const heads = [
    ["method", null], [design.money ? "$ a month" : `${design.unit} a second`, "number"], ["", null], ["calls", "number"], ["rows", "number"],
    ["bytes", "number"], ["stored", "number"], ["put for a byte", "number"],
  ];
  const number = (text, kind) => el("td", { class: `number ${kind || ""}`.trim() }, text);
  const rows = methods.map((method) =>
    el(
      "tr",
      { class: method.method === design.method ? "chosen" : null },
      el("th", { scope: "row" }, method.method),
      number(cost(design.money ? method.cost * MONTH : method.cost), method.cost === least ? "best" : null),
      el("td", null, bar(largest > 0 ? method.cost / largest : 0)),
      number(count(method.requests)),
      number(count(method.rows)),
      number(bytes(method.bytes)),
      number(bytes(method.storage)),
      number(count(method.write_amplification)),
    ));
  return table("lines methods", heads, rows, "Methods on this workload");
}

function matrix({ methods, statements }) {
  const heads = [["one call", null], ...methods.map((method) => [method.method, "number"])];
  const rows = statements.map((statement) => {
    const of = (method) => statement.cells.find((one) => one.method === method);
    const least = Math.min(...statement.cells.map((one) => one.cost));
    const cells = methods.map(({ method }) => {
      const one = of(method);
      if (!one) return el("td", { class: "number" }, "–");
      const kind = one.cost === least ? "number best" : "number";
      return el("td", { class: kind }, `${cost(one.cost)} ${design.unit}`, el("br"), el("span", { class: "soft" }, amount(one.requests, "call")));
    });
    return el("tr", null, el("th", { scope: "row" }, statement.statement), cells);
  });
  return table("lines matrix", heads, rows, "Methods by statement");
}

function comparison() {
  if (!design.comparison || design.comparison.methods.length === 0) return;
  const said = design.comparison.methods.map(({ method, sentence }) => el("li", null, el("b", null, method), ` ${sentence}`));
  said.push(...design.comparison.left_out.map(({ method, why }) => el("li", { class: "soft" }, el("b", null, method), ` left out, ${why}`)));
  const parts = [methodsTable(design.comparison), el("ul", { class: "notes" }, said), matrix(design.comparison)];
  document.getElementById("comparison-body").append(...parts.map((part) => el("div", { class: "block" }, part)));
  document.getElementById("comparison").hidden = false;
}

// Why, what to watch, what was assumed

function decisions() {
  if (design.decisions.length === 0) return;
  const heads = [["about", null], ["decision", null], ["source", null]];
  const rows = design.decisions.map(({ about, says, source }) =>
    el("tr", null, el("th", { scope: "row" }, about), el("td", { class: "wide" }, says), el("td", { class: "soft" }, source)));
  document.getElementById("decisions-body").append(table("lines", heads, rows, "Decisions and where they come from"));
  document.getElementById("decisions").hidden = false;
}

/** A note, with a link to the line that it is about. */
function note(said) {
  const link = lineLink(said);
  return el("li", null, said.text, link ? [" ", link] : null);
}

function notes(name, all) {
  if (all.length === 0) return;
  document.getElementById(`${name}-list`).append(...all.map(note));
  document.getElementById(name).hidden = false;
}

/** The text of every file, a line in each row, so that links can lead to it. */
function model() {
  const row = (file, text, at) =>
    el("li", { id: `line-${file}-${at + 1}` }, el("span", { class: "line", "aria-hidden": "true" }, String(at + 1)), el("code", null, text || " "));
  const one = ({ file, text }, at) => [
    sources.length > 1 ? el("h3", null, file) : null,
    el("ol", { class: "source" }, text.replace(/\n$/, "").split("\n").map((line, number) => row(at, line, number))),
  ];
  document.getElementById("model-body").append(...sources.flatMap(one).filter((part) => part));
}

figures();
document.getElementById("collection-list").append(...design.collections.map(collectionCard));
const largestShare = Math.max(0, ...design.plans.map((plan) => plan.share));
document.getElementById("statement-list").append(...design.plans.map((plan, at) => statementItem(plan, at, largestShare)));
comparison();
decisions();
notes("watch", design.watch);
notes("assumed", design.assumed);
model();
document.addEventListener("keydown", keys);
window.addEventListener("resize", reachable);
reachable();
