import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";

const packages = fileURLToPath(new URL("../../packages", import.meta.url));

/** An export of a module, with its declaration in this or another module of the package. */
export interface DeclaredExport {
  readonly name: string;
  /** The file in packages/ that declares the name. */
  readonly file: string;
  readonly isType: boolean;
  /** The doc comments before all declarations of the name; empty without one. */
  readonly doc: string;
  /** The source text of all declarations. A function with several signatures has several. */
  readonly text: string;
}

/**
 * Returns the exports of a module, including re-exports of modules of the same package. `names`: only these names of the
 * module.
 */
export function declaredExports(file: string, names?: ReadonlySet<string>): DeclaredExport[] {
  const found = parsed(file).flatMap((node): readonly DeclaredExport[] => {
    if ("declared" in node) return node.declared.filter(({ name }) => names?.has(name) ?? true);
    if (!node.from.startsWith(".")) return [];
    const from = join(dirname(file), node.from);
    if (node.locals === undefined) return declaredExports(from, names).filter(({ isType }) => isType || !node.isType);
    const wanted = node.locals.filter(({ exported }) => names?.has(exported) ?? true);
    return declaredExports(from, new Set(wanted.map(({ local }) => local)));
  });
  return [...Map.groupBy(found, (each) => `${each.file} ${each.name}`).values()].map((parts) => ({
    ...(parts[0] as DeclaredExport),
    doc: [...new Set(parts.map(({ doc }) => doc))].join("\n"),
    text: [...new Set(parts.map(({ text }) => text))].join("\n"),
  }));
}

type ExportNode =
  | { readonly declared: readonly DeclaredExport[] }
  | {
      readonly from: string;
      readonly isType: boolean;
      /** Absent for `export *`. */
      readonly locals?: readonly { readonly local: string; readonly exported: string }[];
    };

const known = new Map<string, readonly ExportNode[]>();

function parsed(file: string): readonly ExportNode[] {
  const nodes = known.get(file) ?? exportNodesOf(file);
  known.set(file, nodes);
  return nodes;
}

function exportNodesOf(file: string): readonly ExportNode[] {
  const source = readFileSync(file, "utf8");
  const { program, comments } = parseSync(file, source);
  const docs = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"));
  return program.body.flatMap((node): readonly ExportNode[] => {
    if (node.type === "ExportAllDeclaration") return [{ from: node.source.value, isType: node.exportKind === "type" }];
    if (node.type !== "ExportNamedDeclaration") return [];
    const { declaration, start, end } = node;
    if (declaration === null) {
      const locals = node.specifiers.map(({ local, exported }) => ({
        local: nameOf(local),
        exported: nameOf(exported),
      }));
      if (node.source !== null) return [{ from: node.source.value, isType: false, locals }];
      // Names exported apart from their declarations have no doc comment here.
      return [{ declared: locals.map(({ exported: name }) => ({ name, file, isType: false, doc: "", text: "" })) }];
    }
    // A linter comment may come in between.
    const doc = docs.findLast(
      (doc) => doc.end <= start && /^(?:\s|\/\/ biome-ignore .*)*$/.test(source.slice(doc.end, start)),
    );
    const about = {
      file: relative(packages, file).replaceAll("\\", "/"),
      isType: declaration.type.startsWith("TS"),
      doc: doc?.value ?? "",
      text: source.slice(start, end),
    };
    return [{ declared: namesDeclaredBy(declaration).map((name) => ({ name, ...about })) }];
  });
}

type Name = { readonly name: string } | { readonly value: string };

function nameOf(name: Name): string {
  return "name" in name ? name.name : name.value;
}

function namesDeclaredBy(declaration: object): string[] {
  const { id, declarations = [] } = declaration as { id?: Name; declarations?: readonly { id: Name }[] };
  return [...(id ? [id] : []), ...declarations.map(({ id }) => id)].map(nameOf);
}
