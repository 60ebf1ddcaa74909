// The reference host of MCP Apps around one app: its bridge answers the app, as in a real client.

import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";

console.debug = () => {}; // The bridge tells every message; a test's console must be silent.

window.sizes = [];
window.opened = [];

/** Shows an app, and gives it what a tool was called with and what it answered. */
window.host = async (html, input, result) => {
  const frame = document.querySelector("iframe");
  const bridge = new AppBridge(
    null,
    { name: "reference-host", version: "1" },
    { serverTools: {}, openLinks: {} },
    { hostContext: { theme: "dark", displayMode: "inline" } },
  );
  bridge.oncalltool = ({ name, arguments: given }) => window.callTool(name, given ?? {});
  bridge.onopenlink = async ({ url }) => {
    window.opened.push(url);
    return {};
  };
  bridge.onsizechange = (size) => window.sizes.push(size);
  bridge.oninitialized = () => {
    bridge.sendToolInput({ arguments: input });
    bridge.sendToolResult(result);
  };
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = html.replace(
    "<head>",
    `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
  );
};
