import { isAbsolute } from "node:path";

/** The modules of a bundle and their imports. */
export interface Modules {
  getModuleInfo(id: string): {
    readonly isEntry: boolean;
    readonly importedIds: readonly string[];
    readonly dynamicallyImportedIds: readonly string[];
  } | null;
}

/** Returns modules and all that they import. With `onDemand`, also what they load with `import()`. */
export function importsOf(modules: Modules, ids: readonly string[], { onDemand = false } = {}): Set<string> {
  const seen = new Set(ids);
  for (const id of seen) {
    const { importedIds = [], dynamicallyImportedIds = [] } = modules.getModuleInfo(id) ?? {};
    for (const other of onDemand ? [...importedIds, ...dynamicallyImportedIds] : importedIds) seen.add(other);
  }
  return seen;
}

/** Returns the imports by name of a module and of all modules that it imports. */
export function outsideOf(modules: Modules, id: string): Set<string> {
  return new Set([...importsOf(modules, [id])].filter(isDependency));
}

/** True for an import by name, which stays an import. */
export function isDependency(id: string): boolean {
  return !id.startsWith(".") && !isAbsolute(id) && !COMPILED.test(id);
}

/** Modules of the bundler itself, such as the code for `using`. They become part of the bundle. */
const COMPILED = /^\0|^@oxc-project\/runtime\//;
