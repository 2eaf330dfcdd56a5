/** Texts to edit: invented, but shaped like real ones, and the same in every run. */

const NOUNS = ["order", "basket", "parcel", "invoice", "refund", "address", "customer", "shelf", "label", "pallet"];
const VERBS = ["load", "check", "price", "print", "merge", "sort", "close"];

/** Returns the n-th name: `loadOrder`, `checkBasket`, ... */
export function nameOf(n: number): string {
  const noun = NOUNS[n % NOUNS.length] ?? "";
  const verb = VERBS[n % VERBS.length] ?? "";
  const round = Math.floor(n / (NOUNS.length * VERBS.length));
  return `${verb}${noun[0]?.toUpperCase()}${noun.slice(1)}${round === 0 ? "" : round + 1}`;
}

/** Returns a TypeScript module of functions with twelve lines each. Half of each function resembles the other functions. */
export function typescript(functions: number): string[] {
  const lines = ['import { readFileSync } from "node:fs";', 'import { log } from "./log.ts";', ""];
  for (let n = 0; n < functions; n += 1) {
    const name = nameOf(n);
    lines.push(
      `/** ${name} for one warehouse, number ${n + 1}. */`,
      `export function ${name}(id: string, limit = ${n * 7 + 10}): number {`,
      `  const text = readFileSync(\`data/${name}/\${id}.json\`, "utf8");`,
      `  const ${name}Rows = JSON.parse(text) as readonly { count: number }[];`,
      "  let total = 0;",
      `  for (const row of ${name}Rows) {`,
      "    if (row.count > limit) continue;",
      "    total += row.count;",
      "  }",
      `  log("${name}", total);`,
      "  return total;",
      "}",
    );
  }
  return lines;
}

/** Returns a Python module of classes with eleven lines each. */
export function python(classes: number): string[] {
  const lines = ["import json", "from dataclasses import dataclass", ""];
  for (let n = 0; n < classes; n += 1) {
    const name = nameOf(n);
    const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    lines.push(
      "@dataclass",
      `class ${title}:`,
      `    """What ${name} needs to know."""`,
      "    id: str",
      `    limit: int = ${n * 3 + 5}`,
      "",
      "    def run(self):",
      `        with open(f"data/{self.id}.json") as file:`,
      "            entries = json.load(file)",
      "        return sum(entry for entry in entries if entry < self.limit)",
      "",
    );
  }
  return lines;
}

/** Returns a settings file with many repeated lines. */
export function yaml(services: number): string[] {
  return Array.from({ length: services }, (_, n) => [
    `${nameOf(n)}:`,
    "  image: registry.example.org/warehouse:4",
    "  replicas: 2",
    "  limits:",
    "    memory: 512Mi",
    "    cpu: 250m",
    "  restart: always",
  ]).flat();
}

/** Returns a Markdown page with a fenced example in each section. */
export function markdown(sections: number): string[] {
  const lines = ["# The warehouse", ""];
  for (let n = 0; n < sections; n += 1) {
    const name = nameOf(n);
    lines.push(
      `## ${name}`,
      "",
      `Call \`${name}\` with the number of the warehouse. It answers the total of all entries below the limit.`,
      "",
      "```js",
      `import { ${name} } from "warehouse";`,
      "",
      `console.log(${name}("W${n + 1}"));`,
      "```",
      "",
    );
  }
  return lines;
}

/** Returns one line of CSS with thousands of characters, like generated code. */
export function minified(rules: number): string {
  return Array.from(
    { length: rules },
    (_, n) => `.${nameOf(n)}{color:#${(n * 7919).toString(16).padStart(6, "0").slice(-6)};margin:${n}px auto}`,
  ).join("");
}
