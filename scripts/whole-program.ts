import { writeFileSync } from "node:fs";
import { dirname, join, parse } from "node:path";
import { bundle } from "./build/bundle.ts";

/**
 * Puts a program that a test starts again and again into a folder as one module, with all that it imports: it starts in half
 * of the time. Answers the module.
 */
export async function wholeProgram(source: string, folder: string): Promise<string> {
  const { name } = parse(source);
  await bundle(dirname(source), { [name]: source }, { dist: folder, inlines: (id) => !id.startsWith("node:") });
  takesModules(folder);
  return join(folder, `${name}.js`);
}

/** Says that what lies in a folder are ES modules: else Node would try each as CommonJS first. */
export function takesModules(folder: string): void {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
}
