// Views, on a page and in a client that shows MCP Apps. Without it every page can still be used:
// links lead to pages, forms send themselves. In an App both become calls of tools.

const main = document.querySelector("#main");
const version = document.body.dataset.app;
const waiting = new Map();
let last = 0;
let calls = false;

function post(message) {
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

function ask(method, params) {
  last += 1;
  const id = last;
  post({ id, method, params });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

// What a form calls its tool with: fields of the types that the tool wants, as the portal says them.
function filled(form) {
  const types = JSON.parse(form.dataset.types || "{}");
  const given = {};
  for (const [field, text] of new FormData(form)) {
    const listed = field.endsWith(",");
    const name = listed ? field.slice(0, -1) : field;
    if (!text && !listed) continue;
    const parts = name.split(".");
    const last = parts.pop();
    const place = parts.reduce((around, part) => (around[part] ??= {}), given);
    const kind = types[name];
    if (listed) place[last] = text.split(",").map((each) => each.trim()).filter(Boolean);
    else if (kind === "array") (place[last] ??= []).push(text);
    else if (kind === "boolean") place[last] = text === "true";
    else if ((kind === "integer" || kind === "number") && !Number.isNaN(Number(text))) place[last] = Number(text);
    else place[last] = text;
  }
  return withLists(given);
}

// What is numbered (stages.0.name) is a list.
function withLists(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const made = Object.entries(value).map(([name, each]) => [name, withLists(each)]);
  if (!made.length || !made.every(([name]) => /^\d+$/.test(name))) return Object.fromEntries(made);
  return made.sort(([one], [other]) => one - other).map(([, each]) => each);
}

function at(result, path) {
  return path.split(".").reduce((value, part) => value?.[part], result);
}

// Calls the tool of a form that changes something, and then shows where the form leads.
async function write(form) {
  main.setAttribute("aria-busy", "true");
  try {
    const done = await ask("tools/call", { name: form.dataset.write, arguments: filled(form) });
    if (done.isError || "shows" in form.dataset) return show(done);
    const given = JSON.parse(form.dataset.arguments || "{}");
    for (const [name, value] of Object.entries(given)) {
      const place = /^\{([\w.]+)\}$/.exec(value);
      if (place) given[name] = at(done.structuredContent, place[1]);
    }
    await call(form.dataset.then, given);
    const said = document.createElement("p");
    said.className = "notice";
    said.setAttribute("role", "status");
    said.textContent = done.structuredContent?.note ?? "It is done.";
    main.prepend(said);
    resized();
  } catch (error) {
    show({ content: [{ type: "text", text: error.message }] });
  } finally {
    main.removeAttribute("aria-busy");
  }
}

function show(result) {
  const drawn = result?._meta?.["porch/view"];
  if (drawn?.html !== undefined) {
    // Drawn by the portal's templates, which escape whatever they are given.
    main.className = "view";
    main.innerHTML = drawn.html;
  } else {
    const texts = (result?.content ?? []).filter((block) => block.type === "text");
    const text = document.createElement("pre");
    text.textContent = texts.map((block) => block.text).join("\n");
    main.replaceChildren(text);
    if (drawn?.address) {
      const link = document.createElement("a");
      link.href = drawn.address;
      link.textContent = "Open it in the portal";
      main.append(link);
    }
  }
  main.querySelectorAll("a[data-embed]").forEach(bring);
  resized();
}

/** Puts the picture, or the code, that another tool's answer has where a link to it stands. */
async function bring(link) {
  if (!calls) return;
  try {
    const result = await ask("tools/call", { name: link.dataset.tool, arguments: JSON.parse(link.dataset.arguments) });
    const drawn = document.createElement("template");
    drawn.innerHTML = result?._meta?.["porch/view"]?.html ?? "";
    const figure = drawn.content.querySelector("figure.picture, figure.source");
    const place = link.closest(".embed");
    if (figure) place.replaceWith(figure);
    else place.remove(); // There is nothing to draw.
  } catch {
    // The link stays, and asks for it.
  }
}

function resized() {
  const { width, height } = document.documentElement.getBoundingClientRect();
  post({ method: "ui/notifications/size-changed", params: { width: Math.ceil(width), height: Math.ceil(height) } });
}

function themed(context) {
  const root = document.documentElement;
  if (context?.theme) root.dataset.theme = context.theme;
}

async function call(name, given) {
  main.setAttribute("aria-busy", "true");
  try {
    show(await ask("tools/call", { name, arguments: given }));
  } catch (error) {
    show({ content: [{ type: "text", text: error.message }] });
  } finally {
    main.removeAttribute("aria-busy");
  }
}

function clicked(event) {
  const link = event.target.closest("a");
  if (!link) return;
  event.preventDefault();
  if (link.dataset.tool) {
    call(link.dataset.tool, JSON.parse(link.dataset.arguments || "{}"));
  } else if (/^https?:/.test(link.href)) {
    ask("ui/open-link", { url: link.href }).catch(() => {});
  }
}

function sent(event) {
  const form = event.target.closest("form[data-form], form[data-write]");
  if (!form) return;
  event.preventDefault();
  if (form.dataset.write) write(form);
  else call(form.dataset.form, filled(form));
}

function heard(event) {
  if (event.source !== window.parent || event.data?.jsonrpc !== "2.0") return;
  const { id, method, params, result, error } = event.data;
  if (method === undefined) {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error) asked?.reject(new Error(error.message));
    else asked?.resolve(result);
  } else if (method === "ui/notifications/tool-result") {
    show(params);
  } else if (method === "ui/notifications/host-context-changed") {
    themed(params);
  } else if (id !== undefined) {
    const known = method === "ping" || method === "ui/resource-teardown";
    post(known ? { id, result: {} } : { id, error: { code: -32601, message: "Method not found" } });
  }
}

async function connect() {
  window.addEventListener("message", heard);
  document.addEventListener("click", clicked);
  document.addEventListener("submit", sent);
  const hello = await ask("ui/initialize", {
    appInfo: { name: "porch", version },
    appCapabilities: {},
    protocolVersion: "2026-01-26",
  });
  themed(hello.hostContext);
  calls = hello.hostCapabilities?.serverTools !== undefined;
  post({ method: "ui/notifications/initialized" });
  new ResizeObserver(resized).observe(document.documentElement);
}

if (version !== undefined && window.parent !== window) connect();
