// Brings a page up to date while somebody reads it: what is marked data-live, as often as the element
// around it says in data-refresh. What they have open, hold or select stays as it is; without this,
// the page is as of when it was loaded.

const whole = document.querySelector("[data-refresh]");
const seconds = Number(whole?.dataset.refresh);
let changes = whole !== null; // A page that says data-refresh no more has nothing to wait for.

function isHeld(part) {
  const selection = getSelection();
  const selected = selection && !selection.isCollapsed && selection.containsNode(part, true);
  return selected || part.contains(document.activeElement);
}

function renew(part, next) {
  for (const kept of part.querySelectorAll("details[open][data-keep]")) {
    next.querySelector(`details[data-keep="${CSS.escape(kept.dataset.keep)}"]`)?.setAttribute("open", "");
  }
  if (next.outerHTML !== part.outerHTML && !isHeld(part)) part.replaceWith(next);
}

async function refresh() {
  if (document.hidden) return;
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  changes = page.querySelector("[data-refresh]") !== null;
  for (const part of whole.querySelectorAll("[data-live]")) {
    const next = page.querySelector(`[data-live="${CSS.escape(part.dataset.live)}"]`);
    if (next) renew(part, document.importNode(next, true));
  }
}

async function again() {
  try {
    await refresh();
  } catch {
    // The portal is away; the next time may find it.
  }
  if (changes) setTimeout(again, 1000 * seconds);
}

if (changes) setTimeout(again, 1000 * seconds);
