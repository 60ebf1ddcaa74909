// Adds what pages can do without: buttons that copy a text, and links that unfold what they lead to.

for (const text of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${text.getAttribute("aria-label")}`);
  const said = document.createElement("span");
  said.className = "unseen";
  said.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
    said.textContent = button.textContent;
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  text.parentElement.classList.add("has-button");
  text.after(button, said);
}

const unfold = () => {
  const part = document.getElementById(location.hash.slice(1));
  part?.closest("section")?.querySelector("details")?.setAttribute("open", "");
};
addEventListener("hashchange", unfold);
unfold();
