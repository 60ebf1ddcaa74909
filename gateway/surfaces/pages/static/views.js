// Views, on a page and in a client that shows MCP Apps. Without it every page can still be read:
// links lead to pages, forms send themselves. In an App both become calls of tools.

const main = document.querySelector("#main");
const version = document.body.dataset.app;
const waiting = new Map();
let last = 0;

function post(message) {
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

function ask(method, params) {
  last += 1;
  const id = last;
  post({ id, method, params });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
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
  resized();
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
  const form = event.target.closest("form[data-form]");
  if (!form) return;
  event.preventDefault();
  call(form.dataset.form, Object.fromEntries(new FormData(form)));
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
  post({ method: "ui/notifications/initialized" });
  new ResizeObserver(resized).observe(document.documentElement);
}

if (version !== undefined && window.parent !== window) connect();
