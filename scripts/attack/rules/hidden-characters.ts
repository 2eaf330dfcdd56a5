import type { Attack } from "../attack.ts";
import { questionAbout, TERMINALS } from "../question.fixture.ts";

// S23: characters that hide or reverse text are visible in approval prompts.

const KINDS: Readonly<Record<string, readonly number[]>> = {
  "turned directions": [0x200e, 0x200f, 0x61c, 0x202a, 0x202b, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069],
  "letters that are blank": [0x3164, 0x115f, 0x1160, 0xffa0, 0x2800, 0x17b4, 0x1d159, 0x13441],
  "blanks that are no space": [0xa0, 0x1680, 0x2003, 0x202f, 0x205f, 0x3000],
  "nothing at all": [0x200b, 0x2060, 0xfeff, 0xad, 0x34f, 0x180b, 0xfe0f, 0xe0101, 0xe0041, 0x2028, 0x206a],
  controls: [0x1b, 0x9b, 0x7f, 0x8, 0xd],
};

export const attacks: readonly Attack[] = Object.entries(KINDS).flatMap(([kind, codes]) =>
  TERMINALS.map((terminal) => ({
    rule: "S23" as const,
    name: `${kind}, in a command, in ${terminal}`,
    async attempt(place) {
      const command = `echo ${codes.map((code) => `x${String.fromCodePoint(code)}y`).join(" ")}`;
      const asked = await questionAbout(place, terminal, { tool: "shell", input: { command } });
      const question = asked.slice(asked.lastIndexOf("asks to run")).replaceAll(/\s+/g, "");
      const hidden = codes.filter((code) => !question.includes(`x\\u{${code.toString(16)}}y`));
      return hidden.length === 0
        ? undefined
        : `not written out: ${hidden.map((code) => `U+${code.toString(16)}`).join(", ")}`;
    },
  })),
);
