import { readFileSync } from "node:fs";
import { parseSync, Visitor } from "rolldown/utils";

/** Returns whether a module has `using`, or an `await` outside functions. Programs without exports may wait. */
export function hasNewSyntax(source: string): boolean {
  const { program, module } = parseSync("module.js", source);
  const functions: Span[] = [];
  const waits: Span[] = [];
  let hasUsing = false;
  const add = (to: Span[]) => (node: Span) => {
    to.push(node);
  };
  new Visitor({
    FunctionDeclaration: add(functions),
    FunctionExpression: add(functions),
    ArrowFunctionExpression: add(functions),
    AwaitExpression: add(waits),
    ForOfStatement: (node) => node.await && waits.push(node),
    VariableDeclaration: ({ kind }) => {
      hasUsing ||= kind.endsWith("using");
    },
  }).visit(program);
  const isInside = ({ start }: Span) => functions.some((outer) => outer.start <= start && start < outer.end);
  return hasUsing || (module.staticExports.some(({ entries }) => entries.length > 0) && !waits.every(isInside));
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns what a module imports, or only what it loads at its start. */
export function importsOf(file: string, when?: "at its start"): string[] {
  const { program, errors } = parseSync(file, readFileSync(file, "utf8"));
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const imports: unknown[] = [];
  new Visitor({
    ImportDeclaration: ({ source }) => imports.push(source.value),
    ExportNamedDeclaration: ({ source }) => source && imports.push(source.value),
    ExportAllDeclaration: ({ source }) => imports.push(source.value),
    ...(when === undefined && {
      ImportExpression: ({ source }) => imports.push("value" in source ? source.value : source.type),
      TSImportType: ({ source }) => imports.push(source.value),
      NewExpression({ callee, arguments: [path, base] }) {
        if (callee.type !== "Identifier" || callee.name !== "URL" || base?.type !== "MemberExpression") return;
        if (base.object.type === "MetaProperty" && path && "value" in path) imports.push(path.value);
      },
    }),
  }).visit(program);
  return imports.map(String);
}
