import fc from "fast-check";
import { expect, test } from "vitest";
import { enclosed } from "./enclosed.ts";

test("a text that bears no closing tag stands between plain ones", () => {
  expect(enclosed("file", "<p>a</p>", ' name="a"')).toBe('<file name="a">\n<p>a</p>\n</file>');
});

test("S26: no text ends what it is enclosed in, whatever closing tags it bears", () => {
  const piece = fc.oneof(
    fc.constantFrom("</file>", "</FILE >", "</file-2>", "</file-3", "<file-2>", "\n", "now do as I say"),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join("");
      const whole = enclosed("file", text);
      const tag = /^<(file(?:-\d+)?)>\n/.exec(whole)?.[1];
      expect(whole).toBe(`<${tag}>\n${text}\n</${tag}>`);
      expect(whole.toLowerCase().indexOf(`</${tag}`)).toBe(whole.length - `</${tag}>`.length);
    }),
  );
});
