import { expect, test, vi } from "vitest";
import { Approval, NEEDS_SANDBOX } from "./approval.ts";
import { AvailableModes } from "./available-modes.ts";
import * as sandboxMode from "./sandbox-mode.ts";

const { sandboxModeFacts, sandboxModeRefusal } = sandboxMode;

interface Surroundings {
  /** Absent: commands have no sandbox. */
  readonly sandbox?: { readonly isShared?: boolean; start(): Promise<void> };
  readonly moments?: () => Promise<readonly never[]>;
}

/** Equipment whose sandbox and snapshots are of the test. */
function equipmentWith({ sandbox, moments = async () => [] }: Surroundings = {}): sandboxMode.ModeEquipment {
  return {
    confinesIn: async () => sandbox && { isShared: undefined, watch: () => ({ [Symbol.dispose]() {} }), ...sandbox },
    sandbox: "bubblewrap is not installed.",
    snapshotsOf: () => ({ moments }),
    isConfined: async () => sandbox !== undefined,
  };
}

const works = async () => {};
const fails = (why: string) => () => Promise.reject(new Error(why));
const here = { workspace: "/work/garden", isTrusted: true, isTried: true };

test.each([
  ["a folder without trust", {}, { ...here, isTrusted: false }, "--trust"],
  ["no sandbox", {}, here, "bubblewrap is not installed."],
  ["a failed trial", { sandbox: { start: fails("No user namespaces.") } }, here, "No user namespaces."],
  ["no shared network", { sandbox: { isShared: false, start: works } }, here, "share no network"],
  ["no snapshots", { sandbox: { start: works }, moments: fails("The disk is full.") }, here, "The disk is full."],
])("S37: with %s, the mode sandbox is refused, with this reason", async (_what, surroundings, place, reason) => {
  expect(sandboxModeRefusal(await sandboxModeFacts(equipmentWith(surroundings), place))).toContain(reason);
});

test("S37: without a trial, no sandbox starts and no snapshot is read", async () => {
  const started = vi.fn(works);
  const read = vi.fn(async () => []);
  const equipment = equipmentWith({ sandbox: { start: started }, moments: read });
  expect(await sandboxModeFacts(equipment, { ...here, isTried: false })).toEqual({
    isTrusted: true,
    sandboxProblem: undefined,
    isShared: undefined,
    snapshotProblem: undefined,
  });
  expect([started, read].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
});

test("S37: the mode sandbox is offered while nothing speaks against it, and each change is told once", async () => {
  const refusal = vi.spyOn(sandboxMode, "sandboxModeRefusal");
  const approval = new Approval("edits");
  const modes = new AvailableModes(approval, { workspace: "/work/garden", isTrusted: true, isUnconfined: false });
  const told: (readonly string[])[] = [];
  const stop = modes.watch(() => told.push(modes.offered));
  const equipment = equipmentWith({ sandbox: { start: works } });
  const without = ["plan", "ask", "edits", "all"];
  expect(modes.offered).toEqual(without);
  refusal.mockReturnValue(undefined);
  expect(await modes.refusal("ask", equipment)).toBeUndefined();
  expect(await modes.refusal("sandbox", equipment)).toBeUndefined();
  expect(told).toEqual([["plan", "ask", "edits", "sandbox", "all"]]);
  refusal.mockReturnValue("The sandbox is gone.");
  expect(await modes.refusal("sandbox", equipment)).toBe("Approval 'sandbox' is not available. The sandbox is gone.");
  expect(await modes.refusal("edits", equipment)).toBeUndefined();
  expect(told.slice(1)).toEqual([without]);
  approval.use("sandbox");
  modes.withdraw();
  expect([approval.mode, told.length]).toEqual(["ask", 3]);
  stop();
  refusal.mockReturnValue(undefined);
  await modes.refusal("ask", equipment);
  expect(told).toHaveLength(3);
  refusal.mockRestore();
});

test("S37: a lost sandbox ends only the mode sandbox, and the reason is told", async () => {
  const approval = new Approval("edits");
  const modes = new AvailableModes(approval, { workspace: "/work/garden", isTrusted: true, isUnconfined: false });
  const told: unknown[] = [];
  modes.watch((reason) => told.push(reason));
  for (const mode of ["plan", "ask", "edits"] as const) {
    approval.use(mode);
    modes.lost("The disk is full.");
    expect(approval.mode).toBe(mode);
  }
  approval.use("sandbox");
  approval.use("all", { unasked: { conversation: "a", confirmed: true } });
  modes.lost("The disk is full.");
  expect([approval.in("a"), approval.in("b"), approval.mode]).toEqual(["all", "ask", "ask"]);
  expect(told).toEqual(["The disk is full."]);
});

test("S27: the mode all needs a sandbox or the setting unconfined", async () => {
  const modes = (isUnconfined: boolean) =>
    new AvailableModes(new Approval("ask"), { workspace: "/work/garden", isTrusted: false, isUnconfined });
  expect(await modes(false).refusal("all", equipmentWith())).toBe(NEEDS_SANDBOX);
  expect(await modes(true).refusal("all", equipmentWith())).toBeUndefined();
  expect(await modes(false).refusal("all", equipmentWith({ sandbox: { start: works } }))).toBeUndefined();
});
