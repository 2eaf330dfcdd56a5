import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { isTestPath } from "./case-files.ts";

/** Names of folders whose content programs generate. */
export const MADE_BY_PROGRAMS: ReadonlySet<string> = new Set([
  ".git",
  ".hg",
  ".svn",
  "node_modules",
  ".venv",
  "venv",
  "target",
  ".gradle",
  ".next",
  ".turbo",
  ".cache",
  "__pycache__",
  ".pytest_cache",
  ".mypy_cache",
  ".ruff_cache",
]);

/** Files that choose a runner, its options, its plugins or its versions. */
const CONFIGURATION = new RegExp(
  `^(?:${[
    // JavaScript and TypeScript
    "package(?:-lock)?\\.json|npm-shrinkwrap\\.json|yarn\\.lock|pnpm-(?:lock|workspace)\\.yaml|\\.pnpmfile\\.\\w+|bun\\.lockb?",
    "bunfig\\.toml|deno\\.(?:jsonc?|lock)|\\.(?:npm|yarn)rc(?:\\.yml)?|\\.node-version|\\.nvmrc|\\.tool-versions|mise\\.toml",
    "[\\w.-]+\\.(?:config|setup|workspace|project)\\.(?:[cm]?[jt]sx?|json|ya?ml)|[tj]sconfig(?:\\.[\\w-]+)?\\.json",
    "\\.(?:mocha|nyc|c8|tap|babel|swc|eslint|prettier|jasmine|taprc)\\w*(?:\\.\\w+)?|nx\\.json|turbo\\.json|lerna\\.json|biome\\.jsonc?|ava\\.\\w+",
    // Python
    "pyproject\\.toml|setup\\.(?:py|cfg)|tox\\.ini|pytest\\.ini|\\.?pytest\\.toml|conftest\\.py|noxfile\\.py|\\.coveragerc|(?:site|user)customize\\.py",
    "[\\w.-]+\\.pth|(?:dev-)?requirements[\\w.-]*\\.(?:txt|in)|constraints\\.txt|Pipfile(?:\\.lock)?|(?:poetry|uv|pdm)\\.lock|\\.python-version",
    "pyrightconfig\\.json|mypy\\.ini|\\.?(?:pylint|ruff|flake8)(?:rc|\\.toml)?|\\.clang(?:d|-tidy)|\\.golangci\\.\\w+|\\.(?:git|eslint)?ignore",
    // Others
    "Cargo\\.(?:toml|lock)|build\\.rs|rust-toolchain(?:\\.toml)?|clippy\\.toml|nextest\\.toml|go\\.(?:mod|sum|work(?:\\.sum)?)",
    "Gemfile(?:\\.lock)?|\\.rspec|Rakefile|\\.ruby-version|composer\\.(?:json|lock)|phpunit[\\w.-]*\\.xml[\\w.]*|pest\\.php|pom\\.xml",
    "[\\w.-]+\\.gradle(?:\\.kts)?|gradle\\.properties|gradlew(?:\\.bat)?|mvnw(?:\\.cmd)?|gradle-wrapper\\.\\w+|libs\\.versions\\.toml|build\\.sbt",
    "CMakeLists\\.txt|CMakePresets\\.json|CTest[\\w.]*|meson\\.build|BUILD(?:\\.bazel)?|WORKSPACE(?:\\.bazel)?|MODULE\\.bazel|\\.bazelrc",
    "[\\w.-]+\\.(?:csproj|fsproj|sln|slnx|runsettings)|Directory\\.(?:Build|Packages)\\.(?:props|targets)|global\\.json|mix\\.(?:exs|lock)|Package\\.(?:swift|resolved)",
    "(?:GNU)?[Mm]akefile|[\\w.-]+\\.mk|[Jj]ustfile|Taskfile\\.ya?ml|Dockerfile[\\w.]*|(?:docker-)?compose[\\w.-]*\\.ya?ml|\\.env(?:\\.[\\w-]+)?",
    "\\.busted|\\.luacheckrc|dune(?:-project)?|stack\\.yaml|cabal\\.project\\w*|[\\w.-]+\\.cabal|rebar\\.(?:config|lock)|build\\.zig(?:\\.zon)?",
  ].join("|")})$`,
);

/** Programs that a project keeps for its own use. A shell script elsewhere may be the product. */
const SCRIPT =
  /^[^/]+\.(?:sh|bash|zsh|fish|ps1|bat|cmd)$|(?:^|\/)(?:scripts|\.husky|\.github|\.gitlab|\.ci|\.cargo|ci)\//;

/** Returns true for files that decide how tests end: tests and their data, configurations, scripts and lock files. */
export function decidesTests(path: string): boolean {
  return isTestPath(path) || SCRIPT.test(path) || CONFIGURATION.test(path.slice(path.lastIndexOf("/") + 1));
}

/** Returns the files that commands start. This includes scripts of package.json that the commands name. */
export async function pathsStartedBy(directory: string, commands: readonly string[]): Promise<string[]> {
  const scripts = await scriptsIn(directory);
  const seen = new Set<string>();
  const paths = new Set<string>();
  for (const pending = [...commands]; pending.length > 0; ) {
    const command = pending.pop() ?? "";
    if (seen.has(command)) continue;
    seen.add(command);
    for (const path of programsIn(command)) paths.add(path);
    const words = new Set(command.match(/[^\s"'`|&;<>()]+/g));
    for (const [name, script] of scripts)
      if (words.has(name.replace(/^(?:pre|post)/, "")) || words.has(name)) pending.push(script);
  }
  return [...paths];
}

/** Programs that start the file of their first argument. */
const INTERPRETER =
  /^(?:[a-z]*sh|node|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php|lua|Rscript|source|\.|env|exec|time)$/;

/** Options whose value is a file that decides about tests. */
const TAKES_FILE =
  /^(?:-[cr]|--(?:config|import|require|loader|experimental-loader|setup\w*|rcfile|tsconfig|project))$/;

/** Returns the words of a command that are programs, or files that interpreters and options load. */
function programsIn(command: string): string[] {
  return command.split(/&&|\|\||[;|&\n()]/).flatMap((simple) => {
    const words = (simple.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []).map((word) => word.replaceAll(/["']/g, ""));
    const rest = words.slice(words.findIndex((word) => !/^\w+=/.test(word)));
    const loaded = rest.flatMap((word, index) => {
      const [option = "", value = rest[index + 1] ?? ""] = word.split("=");
      return TAKES_FILE.test(option) ? [value] : [];
    });
    const [program = "", ...args] = rest;
    const file = INTERPRETER.test(program) ? args.filter((word) => !word.startsWith("-")).slice(0, 2) : [];
    return [program, ...file, ...loaded].filter((word) => word !== "").map((word) => posix.normalize(word));
  });
}

async function scriptsIn(directory: string): Promise<[string, string][]> {
  const text = await readFile(join(directory, "package.json"), "utf8").catch(() => "{}");
  try {
    const { scripts = {} } = JSON.parse(text) as { readonly scripts?: Readonly<Record<string, unknown>> };
    return Object.entries(scripts).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  } catch {
    // The runner reports a package.json that is no JSON.
    return [];
  }
}
