import { describe, expect, test } from "vitest";
import { textWidth, withoutColors } from "../screen/cells.ts";
import { createTheme } from "../theme/theme.ts";
import { MarkdownStream, markdownLines } from "./markdown-stream.ts";

const ADDRESS = `https://example.com/${"path/".repeat(56)}`;
const plain = { theme: createTheme(1, "dark"), links: false };
const linked = { theme: createTheme(8, "dark"), links: true };

/** The URLs of OSC 8 links. */
const linksIn = (lines: readonly string[]) =>
  new Set([...lines.join("\n").matchAll(/\]8;[^;]*;([!-~]+)\p{Cc}/gu)].map(([, address]) => address));

describe("T63, K20: an address that is longer than the window", () => {
  test.each([
    ["by itself", ADDRESS],
    ["in words", `See ${ADDRESS} for more.`],
    ["with a full stop", `It is at ${ADDRESS}.`],
    ["in brackets", `There (${ADDRESS}), where else.`],
    ["behind the text of a link", `Look at [the page](${ADDRESS}).`],
    ["in bold words", `**All of ${ADDRESS} is there**`],
    ["in code", `Open \`${ADDRESS}\` now`],
    ["in an item", `- ${ADDRESS}\n- two`],
    ["in a quote", `> ${ADDRESS} and more`],
    ["in a heading", `## ${ADDRESS}`],
    ["in a block of code", `\`\`\`\ncurl ${ADDRESS}\n\`\`\``],
  ])("has no line end of ours, and is one link where terminals have links: %s", (_, markdown) => {
    for (const look of [plain, linked]) {
      const lines = markdownLines(markdown, 80, look);
      expect(lines.filter((line) => withoutColors(line).includes(ADDRESS))).toHaveLength(1);
      for (const line of lines)
        if (!withoutColors(line).includes("://")) expect(textWidth(line)).toBeLessThanOrEqual(80);
      const isCode = markdown.includes("`");
      if (look.links && !isCode) expect(linksIn(lines)).toEqual(new Set([ADDRESS]));
    }
  });

  test("no word around it is lost, and a short one stays in its line", () => {
    const words = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
    const lines = markdownLines(`${words} ${ADDRESS} ${words} https://example.com/ end`, 40, plain);
    expect(lines.join(" ")).toBe(`${words} ${ADDRESS} ${words} https://example.com/ end`);
    expect(lines).toContain(ADDRESS);
    expect(lines.at(-1)).toBe("https://example.com/ end");
  });

  test("is broken to fit as long as it may still change, and whole when it is final, in whatever pieces it comes", () => {
    for (const size of [1, 7, 50, 1_000]) {
      const stream = new MarkdownStream();
      const finished: string[] = [];
      const markdown = `Look at ${ADDRESS} there.\n\n${"word ".repeat(300)}${ADDRESS}\n\nEnd.`;
      for (let at = 0; at < markdown.length; at += size) {
        stream.push(markdown.slice(at, at + size));
        const { finished: more, open } = stream.show(60, 12, linked);
        finished.push(...more);
        for (const line of open) expect(textWidth(line)).toBeLessThanOrEqual(60);
      }
      stream.end();
      finished.push(...stream.show(60, 12, linked).finished);
      expect(finished.filter((line) => withoutColors(line).includes(ADDRESS))).toHaveLength(2);
      expect(withoutColors(finished.join(" ")).match(/\bword\b/g)).toHaveLength(300);
    }
  });
});
