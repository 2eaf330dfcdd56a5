import { basename } from "node:path";

/**
 * Makes packages report the required Node version on an older Node (B77). Node parses a module with all its imports
 * before it runs any of them, and an older Node fails at newer syntax. So the check is a separate module in syntax that
 * every Node knows, and loads the real module afterwards.
 */
interface Checked {
  readonly name: string;
  /** The required Node as in `engines`, such as `>=24`. */
  readonly engines: { readonly node: string };
}

/** Returns the source of the module that replaces `module`, with the same exports. */
export function checkedModule(checked: Checked, module: string, exported: readonly string[]): string {
  const real = `await import("./${basename(module)}.js")`;
  const names = exported.length === 0 ? `${real};` : `export const { ${exported.join(", ")} } = ${real};`;
  return `if (${isTooOld(checked)}) {\n  throw new Error(${sentence(checked)});\n}\n${names}\n`;
}

/** Returns the source of the command that replaces `module`. On an old Node, its exit code is that of a usage error. */
export function checkedCommand(checked: Checked, module: string): string {
  const refuse = `process.stderr.write(${sentence(checked)} + "\\n");\n  process.exitCode = 2;`;
  return `#!/usr/bin/env node\nif (${isTooOld(checked)}) {\n  ${refuse}\n} else {\n  await import("./${basename(module)}.js");\n}\n`;
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
