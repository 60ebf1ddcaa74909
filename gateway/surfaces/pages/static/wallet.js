// Signing in with a wallet of this browser: finds the wallets (EIP-6963, and the older
// window.ethereum), has one sign the portal's message, and sends the form.

const list = document.querySelector("[data-wallets]");
const form = list.closest("form");
const status = document.querySelector("[data-wallet-status]");
const accepted = list.dataset.chains.split(" ").map(Number);
const found = new Map();

document.querySelector("[data-without-script]").remove();

const say = (text, bad = false) => {
  status.textContent = text;
  status.classList.toggle("bad", bad);
};

const hex = (text) =>
  "0x" + [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const askForMessage = async (address, chain) => {
  const url = new URL(list.dataset.message, location.origin);
  url.search = new URLSearchParams({ address, chain });
  const answer = await fetch(url, { headers: { accept: "application/json" } });
  const { message, error } = await answer.json();
  if (!message) throw new Error(error);
  return message;
};

// A wallet signs for any chain; one that the portal does not list is no reason to switch.
const chainOf = async (wallet) => {
  const chain = Number(await wallet.request({ method: "eth_chainId" }));
  return accepted.includes(chain) ? chain : accepted[0];
};

const reason = (error) => {
  if (error?.code === 4001) return "You declined in the wallet. Nothing was signed.";
  if (error?.code === -32002) return "The wallet waits for you: open it and answer there.";
  return `It did not work: ${error?.message || "the wallet did not answer"}`;
};

const signIn = async (wallet) => {
  const buttons = list.querySelectorAll("button");
  buttons.forEach((button) => (button.disabled = true));
  try {
    say("Open your wallet and choose an account.");
    const [address] = await wallet.request({ method: "eth_requestAccounts" });
    if (!address) throw new Error("the wallet shared no account.");
    const message = await askForMessage(address, await chainOf(wallet));
    say("Read the message in your wallet and sign it.");
    const signature = await wallet.request({ method: "personal_sign", params: [hex(message), address] });
    form.elements.message.value = message;
    form.elements.signature.value = signature;
    say("Signing you in.");
    form.submit();
  } catch (error) {
    say(reason(error), true);
    buttons.forEach((button) => (button.disabled = false));
  }
};

const offer = (id, name, wallet) => {
  if (found.has(id) || [...found.values()].includes(wallet)) return;
  found.set(id, wallet);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "full";
  button.textContent = `Continue with ${name}`;
  button.addEventListener("click", () => signIn(wallet));
  list.append(button);
  list.hidden = false;
  say("");
};

addEventListener("eip6963:announceProvider", ({ detail }) =>
  offer(detail.info.uuid, String(detail.info.name).slice(0, 40), detail.provider),
);
dispatchEvent(new Event("eip6963:requestProvider"));

// Wallets announce themselves at once; the older way is for those that do not.
setTimeout(() => {
  if (!found.size && window.ethereum) offer("window.ethereum", "your browser's wallet", window.ethereum);
  if (found.size) return;
  say("No wallet was found in this browser. Install one, open this page in your wallet’s browser, or sign by hand.");
  const elsewhere = document.querySelector("[data-wallet-elsewhere]");
  elsewhere.querySelector("pre").textContent = location.href;
  elsewhere.hidden = false;
}, 300);
