import type { AssistantMessage } from "@banyan/core/conversation";
import { describe, expect, it } from "vitest";
import { artifactFileName, artifactOf, artifactsOf, versionsOf } from "./artifact.ts";

const answer = (text: string) =>
  ({ id: text, role: "assistant", parts: [{ type: "text", text }], calls: [] }) as unknown as AssistantMessage;

const page = (title: string, body: string) => `<title>${title}</title><p>${body}`;
const fenced = (language: string, text: string) => `So:\n\n\`\`\`${language}\n${text}\n\`\`\`\n`;

describe("W61: artifacts in an answer", () => {
  it("a page, picture, diagram or long text is an artifact with its own name; other code stays code", () => {
    expect(artifactOf("html", page("An  oak", ""))).toMatchObject({ kind: "html", name: "An oak" });
    for (const language of ["svg", "xml", "html"])
      expect(artifactOf(language, '<?xml version="1.0"?>\n<svg><title>A leaf</title></svg>')).toMatchObject({
        kind: "svg",
        name: "A leaf",
      });
    expect(artifactOf("mermaid", "---\ntitle: Growth\n---\ngraph TD")).toMatchObject({
      kind: "mermaid",
      name: "Growth",
    });
    expect(artifactOf("md", `# Oaks #\n${"line\n".repeat(12)}`)).toMatchObject({ kind: "markdown", name: "Oaks" });
    for (const [language, text] of [
      ["md", "# short"],
      ["xml", "<a/>"],
      ["ts", "<svg>"],
      ["html", " \n"],
      ["", "<html>"],
    ] as const)
      expect(artifactOf(language, text)).toBeUndefined();
  });

  it("artifacts of the same name on a branch are versions, or of the same kind without names; incomplete text is no artifact", () => {
    const all = artifactsOf([
      answer(fenced("html", page("Oak", "1")) + fenced("html", page("Elm", "1"))),
      answer(`- in a list\n\n  \`\`\`html\n  <p>no name\n  \`\`\`\n`),
      answer(fenced("html", page("Oak", "2"))),
      answer("```html\n<p>still coming"),
    ]);
    expect(all.map(({ name }) => name)).toEqual(["Oak", "Elm", "", "Oak"]);
    const [oak, elm] = all;
    expect(oak && versionsOf(oak, all)).toMatchObject({
      at: 0,
      versions: [{ name: "Oak" }, { name: "" }, { name: "Oak" }],
    });
    expect(elm && versionsOf(elm, all)).toMatchObject({ at: 0, versions: [{ name: "Elm" }, { name: "" }] });
    const coming = { kind: "svg", name: "", text: "<svg/>" } as const;
    expect(versionsOf(coming, all)).toEqual({ at: 0, versions: [coming] });
  });

  it("the download of an artifact has its name", () => {
    expect(artifactFileName({ kind: "html", name: "../Über uns?.html", text: "" })).toBe("über-uns-html.html");
    expect(artifactFileName({ kind: "mermaid", name: "…", text: "" })).toBe("mermaid.mmd");
  });
});
