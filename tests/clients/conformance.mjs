// MCP's conformance suite, as its own command line: `node conformance.mjs server --url …`.
//
// The suite takes `globSync` from Node.js 22 for a command that is not used here; older ones are given a stand-in.

import * as fs from "node:fs";
import { register } from "node:module";

const STAND_IN = "export * from 'node:fs'; export const globSync = () => [];";
const HOOKS = `
export async function resolve(specifier, context, next) {
  const wanted = specifier === "fs" && context.parentURL?.includes("/conformance/dist/");
  return wanted ? { url: "standin:fs", shortCircuit: true } : next(specifier, context);
}
export async function load(url, context, next) {
  const standIn = { format: "module", shortCircuit: true, source: ${JSON.stringify(STAND_IN)} };
  return url === "standin:fs" ? standIn : next(url, context);
}`;

if (!("globSync" in fs)) {
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
}
await import("./node_modules/@modelcontextprotocol/conformance/dist/index.js");
