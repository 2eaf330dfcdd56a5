import { posix } from "node:path";

/**
 * Makes packages report the required Node version on an older Node (B77). The check is a separate module, because Node
 * runs the imports of a module in their order. It needs no top-level await, so that bundles for CommonJS and
 * `require` work.
 */
interface Checked {
  readonly name: string;
  /** The required Node as in `engines`, such as `>=24`. */
  readonly engines: { readonly node: string };
}

/** The name of the module that checks Node. */
export const NODE_CHECK = "node-check.js";

/** Returns the source of the module that checks Node. It throws on an old Node. */
export function nodeCheck(checked: Checked): string {
  return `if (${isTooOld(checked)}) {\n  throw new Error(${sentence(checked)});\n}\n`;
}

/** Returns the source of the module that replaces `module`, with the same exports. */
export function checkedModule(module: string): string {
  const up = posix.relative(posix.dirname(module), NODE_CHECK);
  return `import "${up.startsWith(".") ? up : `./${up}`}";\nexport * from "./${posix.basename(module)}.js";\n`;
}

/**
 * Returns the source of the command that replaces `module`. On an old Node, its exit code is that of a usage error. An
 * old Node does not read the module, whose syntax may be newer.
 */
export function checkedCommand(checked: Checked, module: string): string {
  const refuse = `process.stderr.write(${sentence(checked)} + "\\n");\n  process.exitCode = 2;`;
  return `#!/usr/bin/env node\nif (${isTooOld(checked)}) {\n  ${refuse}\n} else {\n  import("./${posix.basename(module)}.js");\n}\n`;
}

function isTooOld(checked: Checked): string {
  return `Number.parseInt(process.versions.node, 10) < ${majorOf(checked)}`;
}

function sentence(checked: Checked): string {
  const needed = `${checked.name} needs Node ${majorOf(checked)} or newer, and this is Node `;
  return `${JSON.stringify(needed)} + process.versions.node + ": install a newer one from https://nodejs.org."`;
}

function majorOf({ name, engines }: Checked): number {
  const [, major] = /^>=(\d+)$/.exec(engines.node) ?? [];
  if (major === undefined) throw new Error(`${name}: engines.node is "${engines.node}", and must be like ">=24".`);
  return Number(major);
}
