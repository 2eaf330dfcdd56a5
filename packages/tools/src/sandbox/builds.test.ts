import { spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { expect, test } from "vitest";
import { openWorkspace, shellTool } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import { sandboxOf, whyNoSandbox } from "./sandbox.fixture.ts";

const reason = await whyNoSandbox();

/** A small project with its programs and build command. A test in the project fails if its dependency is not used. */
interface Project {
  readonly needs: readonly (readonly [program: string, version: string])[];
  readonly files: Readonly<Record<string, string>>;
  readonly command: string;
  readonly says: RegExp;
  /** True: only runs in long mode. */
  readonly isLong?: boolean;
}

const projects: Readonly<Record<string, Project>> = {
  Node: {
    needs: [["npm", "--version"]],
    files: {
      "package.json":
        '{"name":"x","version":"1.0.0","scripts":{"test":"node --test"},"dependencies":{"dep":"file:dep"}}',
      "dep/package.json": '{"name":"dep","version":"1.0.0","main":"index.js"}',
      "dep/index.js": "module.exports = 7;\n",
      "a.test.js": 'require("node:test")("seven", () => require("node:assert").equal(require("dep"), 7));\n',
    },
    command: "npm install --offline --no-audit --no-fund && npm test",
    says: /pass 1\b/,
  },
  Python: {
    needs: [["python3", "--version"]],
    files: {
      "dep/__init__.py": "def seven(): return 7\n",
      "test_a.py":
        "import unittest, dep\nclass T(unittest.TestCase):\n  def test_seven(self): self.assertEqual(dep.seven(), 7)\n",
    },
    command: "python3 -m venv env && env/bin/python -m unittest && env/bin/pip --version",
    says: /Ran 1 test\b.*OK.*pip \d/s,
    isLong: true,
  },
  Rust: {
    needs: [["cargo", "--version"]],
    files: {
      "Cargo.toml": '[package]\nname="x"\nversion="0.1.0"\nedition="2021"\n[dependencies]\ndep={path="dep"}\n',
      "src/lib.rs": "#[test]\nfn seven() { assert_eq!(dep::seven(), 7) }\n",
      "dep/Cargo.toml": '[package]\nname="dep"\nversion="0.1.0"\nedition="2021"\n',
      "dep/src/lib.rs": "pub fn seven() -> u8 { 7 }\n",
    },
    command: "cargo build --offline && cargo test --offline",
    says: /test seven \.\.\. ok/,
    isLong: true,
  },
  Go: {
    needs: [["go", "version"]],
    files: {
      "go.mod": "module x\n\ngo 1.20\n",
      "dep/dep.go": "package dep\n\nfunc Seven() int { return 7 }\n",
      "a_test.go":
        'package x\n\nimport (\n\t"testing"\n\t"x/dep"\n)\n\nfunc TestSeven(t *testing.T) {\n\tif dep.Seven() != 7 {\n\t\tt.Fatal()\n\t}\n}\n',
    },
    // The second run uses the cache of the first.
    command: "go build ./... && go vet ./... && go test ./... && go test ./...",
    says: /^ok\s+x\s.*^ok\s+x\s+\(cached\)/ms,
    isLong: true,
  },
};

test.for(Object.entries(projects))(
  "S19: a %s project is built and tested in the sandbox",
  { timeout: 300_000 },
  async ([, { needs, files, command, says, isLong = false }], { skip }) => {
    if (reason !== undefined) skip(reason);
    if (isLong && process.env.BANYAN_LONG === undefined) skip("in long mode only");
    for (const [program, version] of needs)
      if (spawnSync(program, [version]).status !== 0) skip(`${program} is not there`);
    using folder = new TestFolder(files);
    // The cache folder is at its default place.
    const env = { XDG_CACHE_HOME: undefined };
    await using sandbox = await sandboxOf(folder, { home: homedir(), env: { ...process.env, ...env } });
    const said = await call(shellTool(openWorkspace(folder.root), { sandbox, env }), {
      command,
      timeout: 280_000,
    });
    expect(said).toMatch(says);
    expect(said).not.toMatch(/exit code/);
  },
);
