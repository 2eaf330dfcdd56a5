import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { shellWords } from "./find-program.ts";
import { listeningPorts } from "./loopback.ts";
import type { NetworkEntrance } from "./messages.ts";

/** The programs that make a shared network, and the socket of the sandbox's proxy if domains are allowed. */
interface NetworkMakers {
  readonly bwrap: string;
  readonly nsenter: string;
  readonly socat: string;
  readonly proxy: string | undefined;
}

/** The ports at which commands expect the proxies for HTTP and SOCKS. The sandbox runtime chose the numbers. */
const PROXY_PORTS = [3128, 1080];
/** Milliseconds for which a network without programs stays. Opening a network takes as long as half a command. */
const IDLE = 60_000;
/** Milliseconds. */
const LONGEST_OPENING = 5_000;
const LONGEST_INFO = 500;
const PAUSE = 2;

interface UsedNetwork {
  opening: Promise<SharedNetwork> | undefined;
  programs: number;
  idle: NodeJS.Timeout | undefined;
  wasLost: boolean;
}

/**
 * The shared networks of a sandbox by name (S39). Programs in one network have the same loopback, which no other program
 * reaches. A network opens with its first program, and closes a minute after its last program.
 */
export class SharedNetworks {
  readonly #makers: NetworkMakers;
  readonly #used = new Map<string, UsedNetwork>();

  constructor(makers: NetworkMakers) {
    this.#makers = makers;
  }

  /** Returns the entrance of a network, and opens the network if necessary. Each successful call needs one `leave`. */
  async join(name: string): Promise<NetworkEntrance> {
    const used = this.#used.get(name) ?? { opening: undefined, programs: 0, idle: undefined, wasLost: false };
    this.#used.set(name, used);
    used.programs += 1;
    clearTimeout(used.idle);
    used.opening ??= this.#open(used);
    try {
      return (await used.opening).entrance;
    } catch (error) {
      used.opening = undefined;
      this.leave(name);
      throw error;
    }
  }

  /** Ends the use by one program. Returns whether the network was lost since the last call, with its servers. */
  leave(name: string): boolean {
    const used = this.#used.get(name);
    if (used === undefined) return false;
    used.programs -= 1;
    if (used.programs === 0) used.idle = setTimeout(() => this.#close(name, used), IDLE);
    const { wasLost } = used;
    used.wasLost = false;
    return wasLost;
  }

  close(): void {
    for (const [name, used] of this.#used) this.#close(name, used);
  }

  async #open(used: UsedNetwork): Promise<SharedNetwork> {
    const onLost = () => {
      used.opening = undefined;
      used.wasLost = true;
    };
    return SharedNetwork.open(this.#makers, onLost);
  }

  #close(name: string, used: UsedNetwork): void {
    clearTimeout(used.idle);
    this.#used.delete(name);
    used.opening?.then(
      (network) => network.close(),
      () => {},
    );
  }
}

/**
 * A network namespace with a loopback, inside a user namespace. A holder process in bubblewrap opens both and runs the
 * relays to the proxies. Descriptors of this process name the namespaces, because the holder's id may be reused.
 */
class SharedNetwork {
  readonly entrance: NetworkEntrance;
  readonly #holder: ChildProcess;
  readonly #spaces: readonly number[];
  #isClosed = false;

  private constructor(holder: ChildProcess, inside: number, nsenter: string, relays: readonly number[]) {
    const [user, net] = ["user", "net"].map((kind) => openSync(`/proc/${inside}/ns/${kind}`, "r")) as [number, number];
    const own = `/proc/${process.pid}/fd`;
    this.#holder = holder;
    this.#spaces = [user, net];
    this.entrance = {
      enter: [nsenter, "--preserve-credentials", `--user=${own}/${user}`, `--net=${own}/${net}`, "--"],
      process: inside,
      relays,
    };
  }

  /** Calls `onLost` if the holder ends before `close`. Rejects if this machine permits no such network. */
  static async open({ bwrap, nsenter, socat, proxy }: NetworkMakers, onLost: () => void): Promise<SharedNetwork> {
    const ports = proxy === undefined ? [] : PROXY_PORTS;
    const script = [...ports.map((port) => relay(socat, port, proxy ?? "")), "echo", "exec cat"].join("\n");
    const spaces = ["--unshare-user", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL"];
    const options = [
      "--die-with-parent",
      ...spaces,
      "--ro-bind",
      "/",
      "/",
      "--dev-bind",
      "/dev",
      "/dev",
      "--info-fd",
      "3",
    ];
    // The shell's `cat` reads from this process and ends with it.
    const holder = spawn(bwrap, [...options, "--", "/bin/sh", "-c", script], {
      stdio: ["pipe", "pipe", "ignore", "pipe"],
      env: { PATH: process.env.PATH },
    });
    holder.stdin?.on("error", () => {});
    try {
      await firstText(holder, 1, "\n", LONGEST_OPENING);
      // bubblewrap wrote this before the script ran.
      const info = await firstText(holder, 3, "}", LONGEST_INFO);
      const network = new SharedNetwork(
        holder,
        (JSON.parse(info) as { "child-pid": number })["child-pid"],
        nsenter,
        ports,
      );
      holder.once("exit", () => {
        if (!network.#isClosed) onLost();
        network.close();
      });
      await untilListening(network.entrance.process, ports);
      return network;
    } catch (error) {
      holder.kill("SIGKILL");
      throw error;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#holder.kill("SIGKILL");
    for (const space of this.#spaces) closeSync(space);
  }
}

/** Returns a shell command in the background that passes connections on to the sandbox's proxy. */
function relay(socat: string, port: number, proxy: string): string {
  const listen = (family: string) =>
    shellWords({ file: socat, args: [`${family}:${port},fork,reuseaddr,backlog=4096`, `UNIX-CONNECT:${proxy}`] });
  // A kernel without IPv6 has only the second.
  return `{ ${listen("TCP6-LISTEN").replace(",fork", ",ipv6only=0,fork")} || exec ${listen("TCP4-LISTEN")}; } &`;
}

/** Returns the output of a process up to a text. Rejects if the process ends first or takes too long. */
async function firstText(holder: ChildProcess, descriptor: number, end: string, longest: number): Promise<string> {
  const output = holder.stdio[descriptor] as Readable;
  const late = setTimeout(() => output.destroy(), longest);
  let text = "";
  try {
    for await (const bytes of output.iterator({ destroyOnReturn: false })) {
      text += String(bytes);
      if (text.includes(end)) return text;
    }
  } finally {
    clearTimeout(late);
  }
  throw new Error("a shared network did not open");
}

async function untilListening(inside: number, ports: readonly number[]): Promise<void> {
  const deadline = performance.now() + LONGEST_OPENING;
  while (!ports.every((port) => listeningPorts(inside).has(port))) {
    if (performance.now() > deadline) throw new Error("the relays of a shared network did not start");
    await sleep(PAUSE);
  }
}
