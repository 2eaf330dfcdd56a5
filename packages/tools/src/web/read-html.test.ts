import { expect, test } from "vitest";
import { readHtml, tagless } from "./read-html.ts";

const never = new AbortController().signal;

async function markdown(html: string, address = "https://example.org/a/b"): Promise<string> {
  const page = await readHtml({ html, address }, never, 60_000);
  if (page === undefined) throw new Error("The page was not read.");
  return page.markdown;
}

const long = "Something is said here, at some length, and goes on. ".repeat(20);

test("the main part of a page is shown without its surroundings", async () => {
  const html = `<html><head><title>The title</title></head><body><nav><a href="/">Home</a> <a href="/all">All</a></nav>
    <article><h1>Head</h1><p>${long}</p><p>${long}</p></article><aside>Buy this</aside><footer>Imprint</footer></body></html>`;
  const page = await readHtml({ html, address: "https://example.org/" }, never, 60_000);
  expect(page?.title).toBe("The title");
  expect(page?.markdown).toContain("Something is said here");
  expect(page?.markdown).not.toMatch(/Home|Buy|Imprint/);
});

test("a page without a main part is shown as a whole", async () => {
  const links = Array.from({ length: 40 }, (_, index) => `<li><a href="p${index}">Page ${index}</a></li>`).join("");
  const text = await markdown(`<html><body><h1>Index</h1><ul>${links}</ul></body></html>`);
  expect(text).toMatch(/# Index.*\[Page 0\]\(https:\/\/example\.org\/a\/p0\).*\[Page 39\]/s);
});

test("a small part of a page does not replace the page", async () => {
  const rows = `<table>${"<tr><td>a cell</td><td>another</td></tr>".repeat(2000)}</table>`;
  const text = await markdown(`<html><body><article><p>${long}</p></article>${rows}</body></html>`);
  expect(text).toContain("| a cell | another |");
});

test("code keeps its language and its lines, tables and lists their form", async () => {
  expect(await markdown('<pre><code class="language-ts">let a = 1 &lt; 2;\n\n  b();</code></pre>')).toBe(
    "```ts\nlet a = 1 < 2;\n\n  b();\n```",
  );
  expect(
    await markdown("<table><thead><tr><th>Name<th>What</thead><tr><td><code>a|b</code><td><p>one<p>two</table>"),
  ).toBe("| Name | What |\n| --- | --- |\n| `a\\|b` | one two |");
  expect(await markdown("<ul><li>one<ol><li>two</ol></ul>")).toMatch(/^- +one\n+ +1\. +two$/);
  expect(await markdown("<table><tr><td>side<td><table><tr><td>laid<td>out</table></table>")).toBe(
    "side\n\nlaid\n\nout",
  );
});

test("S12: addresses are complete and lead only to the web; scripts and raw HTML disappear", async () => {
  const links = '<p><a href="../x?y#z">up</a> <a href="javascript:alert(1)">bad</a> <a href="file:///etc">file</a>';
  expect(await markdown(links)).toBe("[up](https://example.org/x?y#z) bad file");
  expect(await markdown(`<base href="//other.example/d/"><p><a href="x">x</a>`)).toBe("[x](https://other.example/d/x)");
  expect(await markdown('<p>a <img src="i.png" alt="pic"> <img src="data:image/png;base64,AAAA" alt="inline">')).toBe(
    "a ![pic](https://example.org/a/i.png)",
  );
  expect(
    await markdown("<p>a<script>alert(1)</script><style>b{}</style><iframe src=x></iframe><svg><text>t</text></svg>"),
  ).toBe("a");
});

test.each([
  ["nothing", "", ""],
  ["no HTML at all", "only text", "only text"],
  ["no end", "<p>open <b>bold", "open **bold**"],
  ["ends only", "</div></p>text", "text"],
  ["two bodies", "<html><body>one</body><body>two</body></html>", "one"],
])("a page with %s is read too", async (_, html, text) => {
  expect(await markdown(html)).toContain(text);
});

test.each([
  ["nested deeper than any stack", "<table>".repeat(3000)],
  ["nested to be slow", "<div>".repeat(100_000)],
  ["of many elements", "<a href=x>x</a>".repeat(300_000)],
  ["of half tags", "<".repeat(1_000_000)],
])("S11: reading a page %s stops in time, and returns the bare text", async (_, html) => {
  const start = performance.now();
  expect(await readHtml({ html, address: "https://example.org/" }, never, 300)).toBeUndefined();
  tagless(html);
  expect(performance.now() - start).toBeLessThan(10_000);
});

test.runIf(process.env.BANYAN_LONG)(
  "S11: a page that takes more memory than there is ends nothing but its own reading",
  async () => {
    const attributes = Array.from({ length: 1_500_000 }, (_, index) => `a${index}`).join(" ");
    expect(
      await readHtml({ html: `<p ${attributes}>x</p>`, address: "https://example.org/" }, never, 120_000),
    ).toBeUndefined();
  },
);

test("reading ends when the call is cancelled", async () => {
  const cancel = new AbortController();
  const reading = readHtml({ html: "<div>".repeat(100_000), address: "https://example.org/" }, cancel.signal);
  cancel.abort(new Error("cancelled"));
  await expect(reading).rejects.toThrow("cancelled");
});

test("bare text is without tags, scripts and styles, in lines, and made in time that grows with the page only", () => {
  const html =
    "<title>A &amp; B</title><STYLE>x</STYLE><h1>Head</h1><!-- <p>no --><p>İİ one<br>two  three &lt;b&gt;</p><script>if (a < b) {}</script>end<script>open";
  expect(tagless(html)).toEqual({ title: "A & B", markdown: "A & B\nHead\nİİ one\ntwo three <b>\nend" });
  for (const piece of ["<", "<p ", "<!--", "<script", "<script></script", "&", "<title", " \n", "<p<"]) {
    const start = performance.now();
    tagless(piece.repeat(500_000));
    // Quadratic time would take minutes.
    expect(performance.now() - start).toBeLessThan(5000);
  }
});
