// The official TypeScript client at a portal: lists, calls an open tool, then a closed one.
//
//   node one_url.mjs ADDRESS REVISION CLOSED_TOOL [REDIRECT]
//
// It prints one line of JSON for each thing that happens. With REDIRECT it can sign in: it prints
// where the browser is to go, and reads on stdin where the browser ended.

import { createInterface } from "node:readline/promises";

import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "../node/node_modules/@modelcontextprotocol/client/dist/index.mjs";

const [address, revision, closed, redirect] = process.argv.slice(2);
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (what) => console.log(JSON.stringify(what));

const kept = {};
const oauth = redirect && {
  redirectUrl: redirect,
  clientMetadata: { client_name: "TypeScript", redirect_uris: [redirect], token_endpoint_auth_method: "none" },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: (url) => say({ browse: String(url) }),
};

const transport = new StreamableHTTPClientTransport(new URL(address), oauth ? { authProvider: oauth } : {});
const mode = revision === "legacy" ? "legacy" : { pin: revision };
const client = new Client({ name: "one-url", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);

const listed = async () => (await client.listTools({}, { cacheMode: "refresh" })).tools.map((tool) => tool.name);
const called = async (name, args) => {
  const { isError = false, content } = await client.callTool({ name, arguments: args });
  return { isError, text: content[0].text };
};

say({ listed: await listed() });
say({ open: await called("search_knowledge", { query: "who may use what" }) });
for (const _ of ["before signing in", "after"]) {
  try {
    say({ closed: await called(closed, {}) });
    break;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) {
      say({ refused: error.message });
      break;
    }
    const { value: answer } = await answers.next();
    await transport.finishAuth(new URL(answer).searchParams);
  }
}
say({ listed: await listed() });
process.exit(0);
