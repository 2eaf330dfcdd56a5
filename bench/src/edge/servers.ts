import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, normalize } from "node:path";
import { type SshServer, startSshServer } from "./ssh-server.ts";

/** The servers of this test, on one address of this machine. Each registry has one package. */
export interface Servers extends AsyncDisposable {
  readonly host: string;
  /** `host:port` of the registries of npm, pip, cargo and Go, and of a git repository. */
  readonly address: string;
  /** The path of the git repository. */
  readonly garden: string;
  /** An SSH server, or the reason why there is none. */
  readonly ssh: SshServer | string;
}

/** Starts the servers with their files in an empty folder. `host`: an IPv4 address of this machine. */
export async function startServers(folder: string, host = "127.0.0.1"): Promise<Servers> {
  const server = createServer(({ url = "/" }, response) => {
    const { pathname } = new URL(url, "http://registry");
    const path = join(folder, normalize(decodeURIComponent(pathname)));
    const file = [path, join(path, "index.html"), `${path}.json`].find(isFile);
    if (file === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": typeOf(file) }).end(readFileSync(file));
  });
  server.listen(0, host);
  await once(server, "listening");
  const address = `${host}:${(server.address() as AddressInfo).port}`;
  fill(folder, `http://${address}`);
  const ssh = await startSshServer(join(folder, "ssh"), host).catch((error: Error) => error.message);
  return {
    host,
    address,
    garden: join(folder, "garden.git"),
    ssh,
    async [Symbol.asyncDispose]() {
      if (typeof ssh === "object") await ssh[Symbol.asyncDispose]();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function typeOf(file: string): string {
  if (file.endsWith(".html")) return "text/html";
  return file.endsWith(".json") ? "application/json" : "application/octet-stream";
}

function fill(folder: string, address: string): void {
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  const run = (file: string, ...args: string[]) => execFileSync(file, args, { cwd: folder, stdio: "pipe" });

  const leaf = { name: "leaf-names", version: "1.0.0", type: "module", main: "index.js" };
  write("package/package.json", JSON.stringify(leaf));
  write("package/index.js", 'export const leaf = () => "oak";\n');
  run("tar", "czf", "leaf-names-1.0.0.tgz", "package");
  const tarball = readFileSync(join(folder, "leaf-names-1.0.0.tgz"));
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const dist = { tarball: `${address}/leaf-names-1.0.0.tgz`, integrity };
  const versions = { "1.0.0": { ...leaf, dist } };
  write("leaf-names.json", JSON.stringify({ name: "leaf-names", "dist-tags": { latest: "1.0.0" }, versions }));

  write("wheel/leaf_names.py", 'def leaf():\n    return "oak"\n');
  write("wheel/leaf_names-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: leaf-names\nVersion: 1.0.0\n");
  write(
    "wheel/leaf_names-1.0.0.dist-info/WHEEL",
    "Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
  );
  write("wheel/leaf_names-1.0.0.dist-info/RECORD", "");
  const wheel = "leaf_names-1.0.0-py3-none-any.whl";
  zip(folder, wheel, "wheel");
  write("simple/leaf-names/index.html", `<a href="/${wheel}">${wheel}</a>`);

  write("leaf_names-1.0.0/Cargo.toml", '[package]\nname = "leaf_names"\nversion = "1.0.0"\nedition = "2021"\n');
  write("leaf_names-1.0.0/src/lib.rs", 'pub fn leaf() -> &\'static str {\n    "oak"\n}\n');
  mkdirSync(join(folder, "cargo/dl/leaf_names/1.0.0"), { recursive: true });
  run("tar", "czf", "cargo/dl/leaf_names/1.0.0/download", "leaf_names-1.0.0");
  const crate = readFileSync(join(folder, "cargo/dl/leaf_names/1.0.0/download"));
  const cksum = createHash("sha256").update(crate).digest("hex");
  write("cargo/config.json", JSON.stringify({ dl: `${address}/cargo/dl` }));
  write(
    "cargo/le/af/leaf_names",
    `${JSON.stringify({ name: "leaf_names", vers: "1.0.0", deps: [], cksum, features: {}, yanked: false })}\n`,
  );

  const mod = "module example.org/leaf\n\ngo 1.20\n";
  write("source/example.org/leaf@v1.0.0/go.mod", mod);
  write("source/example.org/leaf@v1.0.0/leaf.go", 'package leaf\n\nfunc Leaf() string { return "oak" }\n');
  write("go/example.org/leaf/@v/list", "v1.0.0\n");
  write("go/example.org/leaf/@v/v1.0.0.info", JSON.stringify({ Version: "v1.0.0", Time: "2026-01-01T00:00:00Z" }));
  write("go/example.org/leaf/@v/v1.0.0.mod", mod);
  zip(folder, "go/example.org/leaf/@v/v1.0.0.zip", "source");

  const author = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org"];
  run("git", "init", "-q", "-b", "main", "garden");
  write("garden/leaf.txt", "oak\n");
  run("git", "-C", "garden", "add", ".");
  run("git", "-C", "garden", ...author, "commit", "-qm", "Plant an oak");
  run("git", "clone", "-q", "--bare", "garden", "garden.git");
  run("git", "-C", "garden.git", "update-server-info");
}

const ZIP = `
import os, sys, zipfile
target, source = sys.argv[1:]
with zipfile.ZipFile(target, "w") as archive:
    for folder, _, names in os.walk(source):
        for name in names:
            path = os.path.join(folder, name)
            archive.write(path, os.path.relpath(path, source))
`;

function zip(folder: string, target: string, source: string): void {
  execFileSync("python3", ["-c", ZIP, target, source], { cwd: folder, stdio: "pipe" });
}
