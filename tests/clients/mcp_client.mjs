// One of MCP's official clients in TypeScript, at an endpoint: lists the tools, calls those that it is told to.
//
// Told on stdin as JSON: `url`, `token`, `line` (1: @modelcontextprotocol/sdk, 2: @modelcontextprotocol/client),
// `revision`, and `calls`, a list of [tool, arguments]. Tells on stdout as `tests.clients.session.Session` has it.
// Both check structured answers against the output schemas that were listed, and throw where one does not fit.

import { readFileSync } from "node:fs";

const STATELESS = "2026-07-28";
const INFORMATION = { name: "zarniwoop-tests", version: "1.0.0" };

async function first(transport) {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const client = new Client(INFORMATION);
  await client.connect(transport);
  return [client, transport.protocolVersion];
}

async function second(transport, revision) {
  const { Client } = await import("@modelcontextprotocol/client");
  const options =
    revision === STATELESS
      ? { versionNegotiation: { mode: "auto" } }
      : { versionNegotiation: { mode: "legacy" }, supportedProtocolVersions: [revision] };
  const client = new Client(INFORMATION, options);
  await client.connect(transport);
  return [client, client.getNegotiatedProtocolVersion()];
}

async function transportTo(told) {
  const module = told.line === 1 ? "@modelcontextprotocol/sdk/client/streamableHttp.js" : "@modelcontextprotocol/client";
  const { StreamableHTTPClientTransport } = await import(module);
  const requestInit = { headers: { Authorization: `Bearer ${told.token}` } };
  return new StreamableHTTPClientTransport(new URL(told.url), { requestInit });
}

const told = JSON.parse(readFileSync(0, "utf8"));
const connect = told.line === 1 ? first : second;
const [client, revision] = await connect(await transportTo(told), told.revision);
const { tools } = await client.listTools();
const results = {};
for (const [name, args] of told.calls) {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
  results[name] = { text: content[0].text, structured: structuredContent, is_error: Boolean(isError) };
}
const server = client.getServerVersion();
await client.close();
console.log(JSON.stringify({ revision, server: server.name, tools: tools.map((tool) => tool.name), results }));
