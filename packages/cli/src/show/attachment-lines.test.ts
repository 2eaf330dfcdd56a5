import { attachNamedFiles } from "@banyan/host";
import { expect, test } from "vitest";
import { attachedLine, attachmentsOfMessage } from "./attachment-lines.ts";

test("T15: a message's attachments are listed from the message itself, with their sizes", async () => {
  const readPage = async () => "the page";
  const { parts, attached } = await attachNamedFiles("see @https://a.example/ and @.", {
    folder: import.meta.dirname,
    readPage,
  });
  expect(attachmentsOfMessage(parts)).toEqual(attached);
  const png = { type: "file", mediaType: "image/png", name: "a.png", data: "AAAA".repeat(1000) } as const;
  const output = { type: "text", text: '<output name="ls">\nfiles\n</output>' } as const;
  expect(attachmentsOfMessage([{ type: "text", text: "!ls" }, output, png])).toEqual([
    { name: "a.png", kind: "image", size: 3000 },
  ]);
});

test("T15: a long list of files names the first files", () => {
  const some = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `${index}.ts`, kind: "text", size: 100 }));
  expect(attachedLine([])).toEqual([]);
  expect(attachedLine(some(6))[0]).toMatch(/^Attached: 0\.ts \(text, 100 B\), .*5\.ts \(text, 100 B\)$/);
  expect(attachedLine(some(50))[0]).toMatch(/, 4\.ts \(text, 100 B\), 45 more \(4\.5 kB\)$/);
});
