// A program that makes or restores snapshots while something goes wrong: `node killed-snapshots.fixture.ts ORDER`, with an
// `Order` in JSON. Each step that changes the disk is an instant. The program prints the `Outcome` of each scene.
import {
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync, StatementSync } from "node:sqlite";

/** The work of the program in each scene, in order. */
export interface Order {
  readonly what: "make" | "restore" | "settle";
  /**
   * `copied`: right before each instant, the disk is copied into a folder of `copies` with the instant's number, so the
   * copy is the state that a kill leaves. `killed`: the program kills itself right before an instant. `full`: only steps
   * that need room are instants, and all fail from an instant on.
   */
  readonly fault: "copied" | "killed" | "full";
  /** `instant`: that of the kill, or the first without room; absent: none. */
  readonly scenes: readonly { readonly root: string; readonly stores: string; readonly instant?: number }[];
  readonly copies?: string;
}

/** The end of the work in a scene. */
export interface Outcome {
  readonly instants: number;
  /** False if there was no room. */
  readonly isDone: boolean;
}

const { what, fault, scenes, copies = "" } = JSON.parse(process.argv[2] ?? "") as Order;
let [scene] = scenes;
let instants = 0;

/** Wraps a function so that each call is an instant. `needsRoom`: whether a call fails on a full disk. */
function counted<This, Given extends unknown[], Result>(
  step: (this: This, ...given: Given) => Result,
  needsRoom: (...given: Given) => boolean = () => false,
) {
  return function (this: This, ...given: Given): Result {
    if (fault !== "full" || needsRoom(...given)) beginInstant();
    return step.apply(this, given);
  };
}

function beginInstant(): void {
  instants++;
  const { root = "", stores = "", instant = Number.POSITIVE_INFINITY } = scene ?? {};
  if (fault === "copied") {
    mkdirSync(`${copies}/${instants}`, { recursive: true });
    copyTree(root, `${copies}/${instants}/root`);
    copyTree(stores, `${copies}/${instants}/stores`);
  } else if (fault === "killed" && instants === instant) process.kill(process.pid, "SIGKILL");
  else if (fault === "full" && instants >= instant)
    throw Object.assign(new Error("No space left on device."), { code: "ENOSPC" });
}

function copyTree(from: string, to: string): void {
  const stats = lstatSync(from, { throwIfNoEntry: false });
  // A step that still runs may have removed the file.
  if (!stats) return;
  if (stats.isSymbolicLink()) return symlinkSync(readlinkSync(from), to);
  if (stats.isFile()) writeFileSync(to, readFileSync(from));
  else {
    mkdirSync(to);
    for (const name of readdirSync(from)) copyTree(`${from}/${name}`, `${to}/${name}`);
  }
  chmodSync(to, stats.mode & 0o7777);
}

const { chmod, mkdir, open, rename, rmdir, symlink, unlink } = files;
const writes = (flags: unknown) => typeof flags === "number" && (flags & constants.O_CREAT) !== 0;
const opened = counted(open, () => true);
Object.assign(files, {
  chmod: counted(chmod),
  mkdir: counted(mkdir, () => true),
  open: (...given: Parameters<typeof open>) => (writes(given[1]) ? opened(...given) : open(...given)),
  rename: counted(rename),
  rmdir: counted(rmdir),
  symlink: counted(symlink, () => true),
  unlink: counted(unlink),
});
syncBuiltinESMExports();
DatabaseSync.prototype.exec = counted(DatabaseSync.prototype.exec, (sql) => sql.startsWith("COMMIT"));
Object.assign(StatementSync.prototype, { run: counted(StatementSync.prototype.run, () => true) });

// Import only now, so that the imported modules use the wrapped functions.
const { openWorkspace } = await import("../files/paths.ts");
const { WorkspaceSnapshots } = await import("./snapshots.ts");
const outcomes: Outcome[] = [];
for (scene of scenes) {
  instants = 0;
  const snapshots = new WorkspaceSnapshots(openWorkspace(scene.root), { folder: scene.stores });
  const isDone = await work(snapshots).then(
    () => true,
    (error: unknown) => {
      if (fault !== "full") throw error;
      return false;
    },
  );
  outcomes.push({ instants, isDone });
}
writeSync(1, JSON.stringify(outcomes));

async function work(snapshots: InstanceType<typeof WorkspaceSnapshots>): Promise<void> {
  if (what === "make") return snapshots.before({ conversation: "talk", message: "m2", call: "c" }, "all");
  if (what === "settle") {
    await snapshots.settle();
    return;
  }
  const [first] = await snapshots.moments("talk");
  const scope = { conversation: "talk", isOwn: () => true };
  const plan = await snapshots.compare(first?.id ?? 0, scope);
  await snapshots.restore(plan, scope, undefined, { leaf: "m1", message: "told" });
}
