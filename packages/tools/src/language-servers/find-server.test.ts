import { chmodSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test, vi } from "vitest";
import { TestFolder } from "../workspace/test-folder.fixture.ts";
import { findServers } from "./find-server.ts";

test("E2, E6: a program that rustup only has a name for is not found, until a toolchain has it", () => {
  using folder = new TestFolder({ "bin/rustup": "" });
  chmodSync(folder.path("bin/rustup"), 0o755);
  symlinkSync("rustup", folder.path("bin/rust-analyzer"));
  vi.stubEnv("RUSTUP_HOME", folder.path("rustup"));
  const found = () => findServers({ commands: [["rust-analyzer"]] }, folder.root, dirname(folder.path("bin/rustup")));
  expect(found()).toEqual([]);
  folder.add("rustup/toolchains/stable/bin/rust-analyzer", "");
  expect(found()).toEqual([{ file: folder.path("bin/rust-analyzer"), args: [] }]);
  vi.unstubAllEnvs();
});
