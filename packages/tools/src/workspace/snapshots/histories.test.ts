import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Scene, scopeOf } from "./scene.fixture.ts";
import { change, make, treeOf } from "./tree.fixture.ts";

const IS_LONG = process.env.BANYAN_LONG === "1";

test("E7: in random histories each earlier state is restored byte for byte, and so is the state before that", {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(change, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: IS_LONG ? 6 : 4 }),
      fc.infiniteStream(fc.nat()),
      async (steps, choices) => {
        using scene = new Scene({ ".gitignore": "*.log\n", a: "first\n" });
        mkdirSync(scene.path(".git/objects"), { recursive: true });
        const states = new Map<string, Record<string, string>>();
        for (const changes of steps) {
          const before = treeOf(scene.root);
          // Each command is in a new process with its own view of the store.
          const message = await scene.command(scene.open(), () => {
            for (const each of changes) make(scene.root, each);
          });
          states.set(message, before);
        }
        const messages = [...states.keys()];
        for (let count = 0; count < 3; count++) {
          const message = messages[(choices.next().value as number) % messages.length] ?? "";
          const now = treeOf(scene.root);
          const snapshots = scene.open();
          const { problems, undo } = await scene.rewind(snapshots, message);
          expect(problems).toEqual([]);
          expect(treeOf(scene.root)).toEqual(states.get(message));
          if (count === 1) continue;
          const back = await snapshots.compare(undo, scopeOf("talk"));
          expect((await snapshots.restore(back, scopeOf("talk"))).problems).toEqual([]);
          expect(treeOf(scene.root)).toEqual(now);
        }
      },
    ),
    { numRuns: IS_LONG ? 100 : 6 },
  );
});

test.runIf(IS_LONG)(
  "E7: among 20,000 files, exactly the changed ones are restored, and that is undone",
  { timeout: 600_000 },
  async () => {
    using scene = new Scene({ ".gitignore": "*.log\n" });
    for (let folder = 0; folder < 200; folder++) {
      mkdirSync(scene.path(`src/${folder}`), { recursive: true });
      for (let file = 0; file < 100; file++) writeFileSync(scene.path(`src/${folder}/${file}`), `${folder} ${file}\n`);
    }
    const before = treeOf(scene.root);
    const message = await scene.command(scene.open(), () => {
      for (let folder = 0; folder < 200; folder += 2) writeFileSync(scene.path(`src/${folder}/7`), "changed\n");
      rmSync(scene.path("src/1"), { recursive: true });
      renameSync(scene.path("src/3"), scene.path("moved"));
      chmodSync(scene.path("src/5/1"), 0o600);
    });
    const now = treeOf(scene.root);
    const snapshots = scene.open();
    const { problems, undo } = await scene.rewind(snapshots, message);
    expect(problems).toEqual([]);
    expect(treeOf(scene.root)).toEqual(before);
    const back = await snapshots.compare(undo, scopeOf("talk"));
    expect((await snapshots.restore(back, scopeOf("talk"))).problems).toEqual([]);
    expect(treeOf(scene.root)).toEqual(now);
  },
);
