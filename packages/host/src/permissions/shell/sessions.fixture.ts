/** Calls of tools as models send them, in the order in which a session had them. */
export type Recorded = readonly (readonly [tool: string, main: string])[];

const sh = (command: string) => ["shell", command] as const;
const write = (path: string) => ["write", path] as const;
const edit = (path: string) => ["edit", path] as const;
const read = (path: string) => ["read", path] as const;

const MODULES = ["args", "cache", "config", "fetch", "format", "index", "log", "parse", "store", "watch"];

export const sessions: Readonly<Record<string, Recorded>> = {
  "a small fix": [
    sh("git status --short"),
    sh("ls -la"),
    sh("grep -rn parseDate src | head"),
    read("src/date.ts"),
    sh("sed -n 1,80p src/date.ts"),
    sh("sed -n 80,160p src/date.ts"),
    sh("git log --oneline -5"),
    sh("npm test 2>&1 | tail -20"),
    edit("src/date.ts"),
    sh("npm test -- src/date.test.ts"),
    edit("src/date.test.ts"),
    sh("npm test"),
    sh("git diff --stat"),
    sh("git diff src/date.ts"),
    sh("git add -A && git commit -m 'Dates before 1970 are read'"),
  ],
  "a refactoring of ten files": [
    sh("ls"),
    sh("find src -name '*.ts' -type f"),
    sh("rg -n 'createStore' src"),
    sh("rg -l createStore"),
    sh("wc -l src/*.ts"),
    ...MODULES.flatMap((name) => [sh(`sed -n 1,120p src/${name}.ts`), edit(`src/${name}.ts`)]),
    sh("npx tsc --noEmit"),
    sh("rg -n createStore src || true"),
    edit("src/store.ts"),
    sh("npx tsc --noEmit"),
    sh("npm run lint"),
    sh("npm run build 2>&1 | tail -5"),
    sh("npm test"),
    sh("cat <<'EOF' > notes.md\n# What moved\nEOF"),
    sh("mkdir -p src/stores"),
    write("src/stores/index.ts"),
    sh("npm test"),
    sh("git status"),
    sh("git diff --stat"),
    sh("git diff HEAD -- src/store.ts | head -50"),
    sh("git add src && git commit -m 'Stores in a folder of their own'"),
  ],
  "a test-and-fix loop": [
    sh("ls tests"),
    sh("python -m pytest -q"),
    ...["one", "two", "three", "four"].flatMap((name) => [
      sh(`python -m pytest -q tests/test_${name}.py`),
      sh(`cat app/${name}.py`),
      sh(`sed -n 1,80p tests/test_${name}.py`),
      edit(`app/${name}.py`),
      sh(`python -m pytest -q tests/test_${name}.py -k first`),
    ]),
    sh("cd app && grep -n TODO *.py"),
    sh("python -m pytest -q 2>&1 | tail -3"),
    sh("for file in app/*.py; do echo $file; done"),
    sh("echo $(git rev-parse HEAD)"),
    sh("python -m pytest -q"),
    sh("git diff"),
    sh("git diff --cached --name-only"),
  ],
};
