import { expect, test } from "vitest";
import { findingIn } from "../finding.fixture.ts";

const typescript = findingIn("typescript");

const source = `import { Base } from "./base.ts";

// Not about Tree: an empty line follows.

/** A tree. */
@register({ name: "tree" })
@sealed
export abstract class Tree<T> extends Base { // first
  @Input() name = "x"; // the name

  /** How old. */
  readonly #age: number;

  constructor(age: number) {
    super();
    const local = 1;
    this.#age = age;
  }

  // Grows.
  // A bit.
  @log
  grow(): void {
    function inner() {
      return 1;
    }
    inner();
  }

  prune = async () => {
    const cut = (at: number) => {
      return at;
    };
    await cut(1);
  };

  [Symbol.iterator]() {
    return [];
  }
}

export const height = 3; /* metres */
export const plant = (seed: string) => {
  return seed;
};
const { a, b } = source;

export interface Leaf {
  colour: string;
  fall(): void;
}

export type Branch = {
  leaves: Leaf[];
};

export enum Season {
  Spring,
}

declare global {
  interface Window {
    tree: Tree<unknown>;
  }
}

namespace Forest {
  export function size() {
    return 1;
  }
}

const config = {
  /** Where. */
  place: {
    north: true,
  },
  water() {},
} as const satisfies object;

describe("a callback", () => {
  function hidden() {}
});

export default defineConfig({
  trees: [],
});
`;

test.each([
  ["Tree.name", '  @Input() name = "x"; // the name\n'],
  ["Tree.#age", "  /** How old. */\n  readonly #age: number;\n"],
  ["Tree.grow.inner", "    function inner() {\n      return 1;\n    }\n"],
  ["Tree.prune.cut", "    const cut = (at: number) => {\n      return at;\n    };\n"],
  ["Tree.[Symbol.iterator]", "  [Symbol.iterator]() {\n    return [];\n  }\n"],
  ["height", "export const height = 3; /* metres */\n"],
  ["plant", "export const plant = (seed: string) => {\n  return seed;\n};\n"],
  ["Leaf.fall", "  fall(): void;\n"],
  ["Branch", "export type Branch = {\n  leaves: Leaf[];\n};\n"],
  ["Season", "export enum Season {\n  Spring,\n}\n"],
  ["Window.tree", "    tree: Tree<unknown>;\n"],
  ["Forest.size", "  export function size() {\n    return 1;\n  }\n"],
  ["config.place", "  /** Where. */\n  place: {\n    north: true,\n  },\n"],
  ["config.place.north", "    north: true,\n"],
  ["config.water", "  water() {},\n"],
  ["default", "export default defineConfig({\n  trees: [],\n});\n"],
])("B27: %s is found in TypeScript", async (name, lines) => {
  expect(await typescript.lines(source, name)).toBe(lines);
});

test("B27: a class has its decorators, doc comment and export, and nothing above these", async () => {
  const lines = await typescript.lines(source, "Tree");
  expect(lines).toMatch(/^\/\*\* A tree\. \*\/\n@register\({ name: "tree" }\)\n@sealed\nexport abstract class Tree/);
  expect(lines).toMatch(/return \[\];\n {2}}\n}\n$/);
});

test("B27: a method has its decorators and all lines of its comment", async () => {
  expect(await typescript.lines(source, "Tree.grow")).toMatch(
    /^ {2}\/\/ Grows\.\n {2}\/\/ A bit\.\n {2}@log\n {2}grow\(\): void {\n.*inner\(\);\n {2}}\n$/s,
  );
});

test.each(["local", "Tree.constructor.local", "a", "{ a, b }", "hidden", "describe"])(
  "B27: %s is no symbol: a local variable, a part of a pattern, or inside an expression",
  async (name) => {
    expect(await typescript.problem(source, name)).toMatch(/^unknown: There is no symbol /);
  },
);

test("B27: overloads, and a getter with its setter, are ambiguous; the error names the lines of each", async () => {
  const overloads = "/** One. */\nfunction f(a: 1): 1;\nfunction f(a: 2): 2;\nfunction f(a: any) {\n  return a;\n}\n";
  expect(await typescript.problem(overloads, "f")).toBe(
    "ambiguous: f is declared 3 times: lines 1 to 2; line 3; lines 4 to 6. Use line numbers instead.",
  );
  const accessors = "class A {\n  get x() { return 1 }\n  set x(y) {}\n}\n";
  expect(await typescript.problem(accessors, "A.x")).toMatch(/^ambiguous: A\.x is declared 2 times: line 2; line 3\./);
});

test("B27: the finder refuses a symbol that shares its lines with other code", async () => {
  expect(await typescript.problem("let a = 1, b = 2;\n", "a")).toBe(
    "shared: a and b are declared together (line 1). Use line numbers instead.",
  );
  expect(await typescript.problem("const a = 1,\n  b = 2;\n", "b")).toMatch(
    /^shared: a and b are declared together \(lines 1 to 2\)/,
  );
  expect(await typescript.problem("class A { m() {} }\n", "A.m")).toMatch(
    /^shared: Other code shares the lines of A\.m \(line 1\)\. Use/,
  );
  expect(await typescript.problem("f(); function g() {}\n", "g")).toMatch(/^shared/);
  expect(await typescript.problem("function g() {} f();\n", "g")).toMatch(/^shared/);
  expect(await typescript.problem("class A {\n  x = 1; #y = 2;\n}\n", "A.x")).toMatch(/^shared/);
  expect(await typescript.problem("let g; /* a */ f(); /* b */\n", "g")).toMatch(/^shared/);
  expect(await typescript.problem("let g; f", "g")).toMatch(/^shared/);
  expect(await typescript.problem("// f\nif (f) {} let g;\n", "g")).toMatch(/^shared/);
  expect(await typescript.problem("let g; /* begins\nends */\n", "g")).toMatch(/^shared/);
  expect(await typescript.lines("function g() {} /* a */\n", "g")).toBe("function g() {} /* a */\n");
});

test("B27: a comment at the end of the line above, or below an empty line, belongs to something else", async () => {
  expect(await typescript.lines("let a; // a\nlet b;\n", "b")).toBe("let b;\n");
  expect(await typescript.lines("class A { // a\n  b() {}\n}\n", "A.b")).toBe("  b() {}\n");
  expect(await typescript.lines("// a\n\n// b\n/* b */ // b\nlet b;\n", "b")).toBe("// b\n/* b */ // b\nlet b;\n");
  expect(await typescript.lines("// a\n  \nlet b;\n", "b")).toBe("let b;\n");
  expect(await typescript.lines("/*! Licence */\nlet b;\n", "b")).toBe("let b;\n");
});

test("B27: inside a function, functions and classes are symbols, and nothing that is only made there", async () => {
  const source =
    "const f = () => {\n  const A = class {\n    m() {}\n  };\n  a.b = 1;\n};\nconst g = () => ({\n  c: 1,\n});\nd = 1;\n";
  expect(await typescript.lines(source, "f.A.m")).toBe("    m() {}\n");
  for (const name of ["f.a.b", "g.c", "d"]) expect(await typescript.problem(source, name)).toMatch(/^unknown/);
});

test("B27: TSX has JSX in it", async () => {
  const page =
    "/** A page. */\nexport function Page() {\n  const onClick = () => {};\n  return <a onClick={onClick}>x</a>;\n}\n";
  const tsx = findingIn("tsx");
  expect(await tsx.lines(page, "Page")).toBe(page);
  expect(await tsx.lines(page, "Page.onClick")).toBe("  const onClick = () => {};\n");
});

test("B27: JavaScript, as a module and as a script", async () => {
  const javascript = findingIn("javascript");
  const script = `#!/usr/bin/env node
// First.
class A {
  static x = 1;
  @log
  m() {}
  #p = () => <a/>;
}
A.prototype.n = function () {};
exports.f = async function () {
  return 1;
};
module.exports = {
  g() {},
  h: 1,
};
var v = function* () {};
`;
  expect(await javascript.lines(script, "A")).toMatch(/^\/\/ First\.\nclass A {\n.*<a\/>;\n}\n$/s);
  expect(await javascript.lines(script, "A.x")).toBe("  static x = 1;\n");
  expect(await javascript.lines(script, "A.m")).toBe("  @log\n  m() {}\n");
  expect(await javascript.lines(script, "A.#p")).toBe("  #p = () => <a/>;\n");
  expect(await javascript.lines(script, "A.prototype.n")).toBe("A.prototype.n = function () {};\n");
  expect(await javascript.lines(script, "exports.f")).toBe("exports.f = async function () {\n  return 1;\n};\n");
  expect(await javascript.lines(script, "module.exports.g")).toBe("  g() {},\n");
  expect(await javascript.lines(script, "v")).toBe("var v = function* () {};\n");
});
