import { basename } from "node:path";

/**
 * What a package does on a Node that is too old is to say which it needs (B77). A module is read as a whole, with all that it
 * imports, before any of it runs, and an older Node stumbles over the syntax: so the check is a module of its own, in words
 * that every Node knows, and loads the real one only afterwards.
 */
interface Checked {
  readonly name: string;
  /** The Node that is needed, as `engines` has it, such as `>=24`. */
  readonly engines: { readonly node: string };
}

/** The module that Node loads in place of `module`, and that exports the same. */
export function checkedModule(checked: Checked, module: string, exported: readonly string[]): string {
  const real = `await import("./${basename(module)}.js")`;
  const names = exported.length === 0 ? `${real};` : `export const { ${exported.join(", ")} } = ${real};`;
  return `if (${isTooOld(checked)}) {\n  throw new Error(${sentence(checked)});\n}\n${names}\n`;
}

/** The command that people start in place of `module`. Its exit code is that of a command that cannot be carried out so. */
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
