import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Session, say } from "@banyan/core";
import { collect, scriptedModel } from "@banyan/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { copyAnswer, writeExport } from "./copy-and-export.ts";

const ANSWER =
  "Two ways:\n\n```ts\nconst a = 1;\n```\n\n- or\n\n  ```sh\n  echo 1\n  echo 2\n  ```\n\n```sh\necho 3\n```";

/** Runs commands after an answer, in a temporary folder. `copied` is the clipboard's content. */
async function behind(answer: string) {
  const session = Session.inMemory();
  await collect(new Agent({ model: scriptedModel([answer]) }).chat(say("How?"), { session }));
  const directory = mkdtempSync(join(tmpdir(), "banyan-taking-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const copied: string[] = [];
  const told: string[] = [];
  const context = {
    state: session.state,
    leaf: session.state.leaf,
    directory,
    exported: async (format: string) => ({ name: `it.${format}`, text: `as ${format}` }),
    screen: {
      copy: async (text: string) => {
        copied.push(text);
        return "taken";
      },
    },
    write: (...lines: string[]) => told.push(...lines),
  };
  return { context: context as never, directory, copied, told };
}

test("T54: /copy takes the last answer, or the block of code that is named by its number or language", async () => {
  const { context, copied, told } = await behind(ANSWER);
  for (const named of ["", "2", "TS"]) await copyAnswer(context, named);
  expect(copied).toEqual([ANSWER, "echo 1\necho 2", "const a = 1;"]);
  expect(told).toEqual([
    "Copied the answer, 16 lines.",
    "Copied a block of sh, 2 lines.",
    "Copied a block of ts, 1 line.",
  ]);
  for (const named of ["sh", "0", "rust"]) await copyAnswer(context, named);
  expect(copied).toHaveLength(3);
  expect(told.slice(3)).toEqual([
    "2 blocks are sh. Choose a block by its number, such as /copy 1: 1 ts, 1 line; 2 sh, 2 lines; 3 sh, 1 line.",
    "There is no code block 0. Choose a block by its number, such as /copy 1: 1 ts, 1 line; 2 sh, 2 lines; 3 sh, 1 line.",
    "There is no code block rust. Choose a block by its number, such as /copy 1: 1 ts, 1 line; 2 sh, 2 lines; 3 sh, 1 line.",
  ]);
});

test("T54: /export writes a new file, as its name says, and never over one", async () => {
  const { context, directory, told } = await behind("Yes.");
  await writeExport(context, { format: "markdown", file: "" });
  expect(readFileSync(join(directory, "it.markdown"), "utf8")).toBe("as markdown");
  await writeExport(context, { format: "html", file: "a b.HTML" });
  expect(told.at(-1)).toBe(`Written: ${join(directory, "a b.HTML")}`);
  await expect(writeExport(context, { format: "html", file: "a b.HTML" })).rejects.toThrow("The file exists already");
});
