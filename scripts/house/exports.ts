import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "rolldown/utils";

/** Returns the names that a module exports, including re-exports; only types if `types` is set. */
export function exportsOf(file: string, types = false): string[] {
  const { program } = parseSync(file, readFileSync(file, "utf8"));
  return program.body
    .flatMap((node) => {
      if (node.type === "ExportAllDeclaration") {
        return exportsOf(join(file, "..", node.source.value), types || node.exportKind === "type");
      }
      if (node.type !== "ExportNamedDeclaration") return [];
      const { declaration } = node;
      if (declaration === null)
        return node.specifiers.flatMap(({ exported }) => ("name" in exported ? exported.name : []));
      if (types && !declaration.type.startsWith("TS")) return [];
      const ids = "declarations" in declaration ? declaration.declarations.map(({ id }) => id) : [declaration.id];
      return ids.flatMap((id) => (id && "name" in id ? id.name : []));
    })
    .filter((name, index, all) => all.indexOf(name) === index);
}
