import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { CHECKS, inPlace } from "../../examples/src/compared/programs.fixture.ts";
import type { Manifest } from "./manifest.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const examples = join(root, "examples", "src");

const STRICT = {
  target: "es2024",
  types: ["node"],
  noEmit: true,
  strict: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUncheckedSideEffectImports: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noFallthroughCasesInSwitch: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  allowUnreachableCode: false,
  allowUnusedLabels: false,
  isolatedModules: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
};

/** Returns the packages that the programs of examples/src/compared need too, and an older compiler. */
export function packagesOfPrograms(): Record<string, string> {
  const versionsIn = (file: string): Record<string, string> => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, file), "utf8"));
    return { ...dependencies, ...devDependencies };
  };
  const known = {
    ...versionsIn("package.json"),
    ...versionsIn("packages/models/package.json"),
    ...versionsIn("examples/package.json"),
  };
  const needed = ["@ai-sdk/openai", "@hono/node-server", "@types/node", "ai", "hono", "vitest", "zod"];
  return {
    ...Object.fromEntries(needed.map((name) => [name, known[name] ?? "a version that is missing"])),
    "typescript-5.9": "npm:typescript@~5.9.3",
  };
}

/** Tests the docs in the packages, and the programs that docs/coming-from.md compares in a project in which the packed packages are installed. */
export function testPrograms(
  project: string,
  packages: readonly { readonly name: string; readonly manifest: Manifest }[],
  run: (program: string, args: readonly string[]) => Promise<{ readonly stdout: string }>,
): void {
  const installed = (name: string) => join(project, "node_modules", name);
  test("L12: the pages, the programs and a skill for coding agents are in the package, and their links lead somewhere", () => {
    const core = installed("@banyan/core");
    const pages = globSync("docs/*.md", { cwd: core });
    expect(pages).toEqual(expect.arrayContaining(["docs/SKILL.md", "docs/getting-started.md", "docs/library.md"]));
    expect(globSync("examples/src/*.ts", { cwd: core }).length).toBeGreaterThan(30);
    const dead = pages.flatMap((page) => {
      const text = readFileSync(join(core, page), "utf8").replace(/^```[\s\S]*?^```$/gm, "");
      const links = [...text.matchAll(/\]\(([^)#\s]+)[^)\s]*\)/g)].map(([, link = ""]) => link);
      return links.filter((link) => !/^\w+:/.test(link) && !existsSync(join(core, "docs", link)));
    });
    expect(dead).toEqual([]);
  });

  describe("the programs that docs/coming-from.md compares", () => {
    const programs = join(project, "programs", "compared");
    beforeAll(() => {
      cpSync(join(examples, "compared"), programs, {
        recursive: true,
        filter: (file) => !/(fixture|(compared|ports)\.test)\.ts$/.test(file),
      });
      cpSync(join(examples, "recordings"), join(project, "programs", "recordings"), { recursive: true });
      const entries = packages.flatMap(({ name, manifest }) =>
        Object.keys(manifest.exports ?? {}).map((path) => posix.join(name, path)),
      );
      writeFileSync(
        join(programs, "entries.ts"),
        entries.map((entry, index) => `export * as entry${index} from "${entry}";\n`).join(""),
      );
    });

    test.each(Object.entries(CHECKS))("L12: %s runs", async (name, check) => {
      await inPlace(join(programs, `${name}.ts`), check);
    });

    test("L12: the test with a recording passes", async () => {
      const { stdout } = await run(process.execPath, [
        join(installed("vitest"), "vitest.mjs"),
        "run",
        "--root",
        programs,
      ]);
      expect(stdout).toMatch(/1 passed/);
    });

    const compilers = {
      "TypeScript 7": join(root, "node_modules", "typescript"),
      "TypeScript 5.9": installed("typescript-5.9"),
    };
    test.each(
      Object.entries(compilers).flatMap(([name, folder]) => [
        [name, "nodenext", folder] as const,
        [name, "bundler", folder] as const,
      ]),
    )(
      "L12: %s finds no error in them and in any entry, with all strict options, resolved as %s",
      async (_, how, folder) => {
        // `nodenext` is a project for Node alone. The types of hono need those of a browser.
        const isForNode = how === "nodenext";
        const compilerOptions = {
          ...STRICT,
          module: isForNode ? "nodenext" : "esnext",
          moduleResolution: how,
          lib: isForNode ? ["esnext"] : ["esnext", "dom", "dom.iterable"],
        };
        const exclude = isForNode ? ["compared/use-chat.ts"] : [];
        const file = join(project, "programs", `tsconfig.${how}.json`);
        writeFileSync(file, JSON.stringify({ compilerOptions, include: ["compared"], exclude }));
        await run(process.execPath, [join(folder, "bin", "tsc"), "-p", file]);
      },
    );
  });
}
