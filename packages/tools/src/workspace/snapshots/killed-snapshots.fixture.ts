// A program that is killed, or whose disk gets full, while it makes or restores a snapshot:
// `node killed-snapshots.fixture.ts WHAT ROOT STORES INSTANT THEN`. Each step that changes the disk is an instant. With
// `killed`, the program kills itself with SIGKILL right before instant INSTANT. With `full`, only steps that need room
// are instants, and all fail from INSTANT on. The program prints the number of instants at its end, or `full`.
import { constants, writeSync } from "node:fs";
import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync, StatementSync } from "node:sqlite";

const [what = "", root = "", stores = "", last = "", then = ""] = process.argv.slice(2);
let instants = 0;

/** Wraps a function so that each call is an instant. `needsRoom`: whether a call fails on a full disk. */
function counted<This, Given extends unknown[], Result>(
  step: (this: This, ...given: Given) => Result,
  needsRoom: (...given: Given) => boolean = () => false,
) {
  return function (this: This, ...given: Given): Result {
    if (then === "full" && !needsRoom(...given)) return step.apply(this, given);
    instants++;
    if (then === "killed" && instants === Number(last)) process.kill(process.pid, "SIGKILL");
    if (then === "full" && instants >= Number(last) && last !== "0")
      throw Object.assign(new Error("No space left on device."), { code: "ENOSPC" });
    return step.apply(this, given);
  };
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
const snapshots = new WorkspaceSnapshots(openWorkspace(root), { folder: stores });
if (what === "make") await snapshots.before({ conversation: "talk", message: "m2", call: "c" }, "all");
else if (what === "settle") await snapshots.settle();
else if (then === "full") {
  try {
    await restore();
  } catch {
    writeSync(1, "full\n");
    process.exit();
  }
} else await restore();
writeSync(1, `${instants}\n`);

async function restore(): Promise<void> {
  const [first] = await snapshots.moments("talk");
  const scope = { conversation: "talk", isOwn: () => true };
  await snapshots.restore(await snapshots.compare(first?.id ?? 0, scope), scope);
}
