// Shows an answer while it is written. Without it the page loads itself again until the answer is
// there. What comes is shown as plain text; once all is there, the portal's own page replaces it.

const turn = document.querySelector("[data-stream]");

function shown(name, text) {
  const part = document.createElement(name === "text" ? "div" : "p");
  part.className = name === "text" ? "said growing" : "call faint";
  part.textContent = text;
  turn.querySelector(".status").before(part);
  return part;
}

// The page as it is now, in place of what was shown meanwhile.
async function renew() {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!answer.ok || answer.redirected) return location.reload();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const typed = document.querySelector("#message")?.value;
  document.querySelector("#main").replaceWith(document.importNode(page.querySelector("#main"), true));
  const field = document.querySelector("#message");
  if (field && typed) field.value = typed;
  const done = document.createElement("p");
  done.className = "unseen";
  done.setAttribute("role", "status");
  document.querySelector("#main").append(done);
  done.textContent = "The answer is there.";
}

function follow() {
  const stream = new EventSource(turn.dataset.stream);
  const parts = new Map();
  const end = () => {
    stream.close();
    renew().catch(() => location.reload());
  };
  // What the page showed already comes again from the beginning.
  for (const old of turn.querySelectorAll(".answer > .said, .answer > .call")) old.remove();
  stream.onmessage = (event) => {
    if (event.data === "[DONE]") return end();
    const news = JSON.parse(event.data);
    if (news.type === "text-start") parts.set(news.id, shown("text", ""));
    else if (news.type === "text-delta") {
      if (!parts.has(news.id)) parts.set(news.id, shown("text", ""));
      parts.get(news.id).textContent += news.delta;
    } else if (news.type === "tool-input-available") shown("call", `Asking ${news.toolName} …`);
  };
  stream.onerror = () => {
    if (stream.readyState === EventSource.CLOSED) end();
  };
}

if (turn) follow();
