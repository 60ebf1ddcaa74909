// What a page of another origin does with the official TypeScript client; bundled for browsers.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

window.visit = async (address, revision, tool) => {
  const mode = revision === "legacy" ? "legacy" : { pin: revision };
  const client = new Client({ name: "page", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(address));
  await client.connect(transport);
  const heard = [];
  const onprogress = ({ progress }) => heard.push(progress);
  const { content } = await client.callTool({ name: tool, arguments: {} }, { onprogress });
  const session = transport.sessionId;
  if (session) await transport.terminateSession();
  await client.close();
  return { text: content[0].text, heard, session: Boolean(session) };
};

window.challenge = async (address) => {
  const headers = { authorization: "Bearer wrong", "content-type": "application/json" };
  const answer = await fetch(address, { method: "POST", headers, body: "{}" });
  const read = (name) => answer.headers.get(name);
  return [answer.status, read("www-authenticate"), read("x-request-id")];
};
