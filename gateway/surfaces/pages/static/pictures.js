// Pictures of graphs: zoom, pan, filter, what stands around a box, and saving. Without it a picture
// can be scrolled, its boxes followed as links, and saved as SVG.

const STEP = 1.25;
const SMALLEST = 0.2;
const LARGEST = 4;
const onPage = document.body.dataset.app === undefined;

function button(text, label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "secondary";
  made.textContent = text;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

/** Zooms by the picture's own size, so that scrolling stays the browser's. */
class Zoom {
  constructor(canvas, svg) {
    this.canvas = canvas;
    this.svg = svg;
    this.width = svg.viewBox.baseVal.width;
    this.height = svg.viewBox.baseVal.height;
    this.scale = 1;
  }

  to(scale, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const next = Math.min(LARGEST, Math.max(SMALLEST, scale));
    const left = (this.canvas.scrollLeft + x) / this.scale;
    const top = (this.canvas.scrollTop + y) / this.scale;
    this.scale = next;
    this.svg.setAttribute("width", this.width * next);
    this.svg.setAttribute("height", this.height * next);
    this.canvas.scrollTo(left * next - x, top * next - y);
  }

  fit() {
    this.to(Math.min(1, this.canvas.clientWidth / this.width, innerHeight * 0.7 / this.height));
  }

  begin() {
    this.to(Math.min(1, Math.max(0.6, this.canvas.clientWidth / this.width)));
    const start = this.svg.querySelector(".node.start rect");
    if (!start) return;
    // Its attributes, and not its box, for which all texts would be laid out twice.
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(start.getAttribute(name)));
    this.canvas.scrollTo(
      (x + width / 2) * this.scale - this.canvas.clientWidth / 2,
      (y + height / 2) * this.scale - this.canvas.clientHeight / 2,
    );
  }
}

function dragged(canvas) {
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    from = { x: event.clientX, y: event.clientY, left: canvas.scrollLeft, top: canvas.scrollTop, moved: false };
  });
  window.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [x, y] = [event.clientX - from.x, event.clientY - from.y];
    from.moved ||= Math.hypot(x, y) > 4;
    if (!from.moved) return;
    canvas.classList.add("held");
    canvas.scrollTo(from.left - x, from.top - y);
  });
  window.addEventListener("pointerup", () => {
    if (from?.moved) {
      // The click that ends a drag opens nothing.
      canvas.addEventListener("click", (event) => { event.preventDefault(); event.stopPropagation(); }, { capture: true, once: true });
      setTimeout(() => canvas.classList.remove("held"));
    }
    from = null;
  });
  canvas.addEventListener("dragstart", (event) => event.preventDefault());
}

/** The edges of each node, and the nodes at their ends. */
function neighbours(svg) {
  const nodes = new Map([...svg.querySelectorAll(".node")].map((node) => [node.dataset.node, node]));
  const around = new Map([...nodes.keys()].map((id) => [id, []]));
  for (const edge of svg.querySelectorAll(".edge")) {
    const { from, to } = edge.dataset;
    around.get(from)?.push(edge, nodes.get(to));
    around.get(to)?.push(edge, nodes.get(from));
  }
  return around;
}

function pointed(svg) {
  const around = neighbours(svg);
  let near = [];
  const show = (event) => {
    const node = event.target.closest?.(".node");
    for (const each of near) each.classList.remove("near");
    near = node ? [node, ...around.get(node.dataset.node)] : [];
    for (const each of near) each.classList.add("near");
  };
  svg.addEventListener("pointerover", show);
  svg.addEventListener("focusin", show);
  svg.addEventListener("pointerleave", show);
}

function filter(svg) {
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Filter";
  field.setAttribute("aria-label", "Show only boxes with these letters");
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    const kept = new Set();
    for (const node of svg.querySelectorAll(".node")) {
      const fits = node.querySelector("title").textContent.toLowerCase().includes(wanted);
      node.classList.toggle("away", !fits);
      if (fits) kept.add(node.dataset.node);
    }
    for (const edge of svg.querySelectorAll(".edge")) {
      edge.classList.toggle("away", !(kept.has(edge.dataset.from) && kept.has(edge.dataset.to)));
    }
  });
  return field;
}

async function saveAsPng(link, { width, height }) {
  const image = new Image();
  image.src = link.href;
  await image.decode();
  const canvas = document.createElement("canvas");
  // What a browser can hold at most, about; twice as large as on the page for print.
  const scale = Math.min(2, 16_000 / width, 16_000 / height);
  [canvas.width, canvas.height] = [width * scale, height * scale];
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  const saved = document.createElement("a");
  saved.href = URL.createObjectURL(blob);
  saved.download = new URL(link.href).pathname.slice(1).replaceAll("/", "-").replace(/svg$/, "png");
  saved.click();
  URL.revokeObjectURL(saved.href);
}

function enliven(figure) {
  const canvas = figure.querySelector(".canvas");
  const svg = canvas.querySelector("svg");
  const zoom = new Zoom(canvas, svg);
  const tools = document.createElement("div");
  tools.className = "tools";
  tools.append(
    filter(svg),
    button("\u2212", "Smaller", () => zoom.to(zoom.scale / STEP)),
    button("+", "Larger", () => zoom.to(zoom.scale * STEP)),
    button("Fit", "Fit all of it", () => zoom.fit()),
  );
  const file = figure.querySelector("figcaption a[download]");
  if (onPage && file) {
    tools.append(
      button("PNG", "Save as PNG", () => saveAsPng(file, zoom)),
      button("Print", "Print, or save as PDF", () => window.print()),
    );
  }
  figure.querySelector("figcaption").append(tools);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, top } = canvas.getBoundingClientRect();
    zoom.to(zoom.scale * (event.deltaY < 0 ? STEP : 1 / STEP), event.clientX - left, event.clientY - top);
  }, { passive: false });
  dragged(canvas);
  pointed(svg);
  zoom.begin();
}

/** On a page: puts the picture, or the code, of another page where a link to it stands. */
async function bring(link) {
  const answer = await fetch(link.href, { headers: { accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const figure = page.querySelector("figure.picture, figure.source");
  const place = link.closest(".embed");
  if (figure) place.replaceWith(document.importNode(figure, true));
  else place.remove(); // There is nothing to draw.
}

/** Once the page itself is painted: a large picture takes longer than all the rest. */
function afterPaint(work) {
  if (document.visibilityState === "hidden") work(); // It is not painted at all.
  else requestAnimationFrame(() => setTimeout(work));
}

function look() {
  for (const figure of document.querySelectorAll("figure.picture:not([data-begun])")) {
    figure.dataset.begun = "";
    afterPaint(() => {
      enliven(figure);
      figure.dataset.alive = "";
    });
  }
  if (!onPage) return;
  for (const link of document.querySelectorAll("a[data-embed]:not([data-brought])")) {
    link.dataset.brought = "";
    bring(link).catch(() => {}); // The link stays, and leads there.
  }
}

new MutationObserver(look).observe(document.querySelector("#main"), { childList: true, subtree: true });
look();
