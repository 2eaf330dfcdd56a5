import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync } from "node:fs";
import { connect, createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";

/** An SSH server. Only its own key signs in, as the user of this process. */
export interface SshServer extends AsyncDisposable {
  readonly port: number;
  readonly user: string;
  /** The file of the private key. */
  readonly key: string;
}

/** Starts the server with its files in an empty folder. Rejects with the reason if the machine has no `sshd` that works. */
export async function startSshServer(folder: string, host: string): Promise<SshServer> {
  mkdirSync(folder, { recursive: true });
  const [hostKey, key, allowed] = ["host", "key", "allowed"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const file of [hostKey, key]) execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file]);
  copyFileSync(`${key}.pub`, allowed);
  const port = await freePort(host);
  // The program itself insists on its whole path.
  const { stdout } = spawnSync("sh", ["-c", "PATH=$PATH:/usr/sbin; command -v sshd"], { encoding: "utf8" });
  const program = stdout.trim();
  if (program === "") throw new Error("sshd is not installed");
  const settings = [
    `ListenAddress=${host}:${port}`,
    `AuthorizedKeysFile=${allowed}`,
    "StrictModes=no",
    "UsePAM=no",
    "PidFile=none",
  ];
  const options = settings.flatMap((setting) => ["-o", setting]);
  const server = spawn(program, ["-D", "-e", "-f", "/dev/null", "-h", hostKey, ...options], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  server.stderr.on("data", (data) => (said += data));
  const exited = once(server, "exit");
  while (server.exitCode === null && !(await answers(port, host)))
    await new Promise((resolve) => setTimeout(resolve, 50));
  if (server.exitCode !== null) throw new Error(`sshd does not start: ${said.trim()}`);
  return {
    port,
    key,
    user: userInfo().username,
    async [Symbol.asyncDispose]() {
      server.kill();
      await exited;
    },
  };
}

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

function answers(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}
