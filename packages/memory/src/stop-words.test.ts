import { expect, test } from "vitest";
import { memoryIn, recalled, said } from "./memory.fixture.ts";

// [language, query, matching text, text that only shares uninformative words]
const QUESTIONS = [
  [
    "English",
    "What was it that you did with the kettle?",
    "The kettle stands in the shed.",
    "What did you do with it after that?",
  ],
  [
    "German",
    "Was war das noch mal mit der Heizung?",
    "Die Heizung tropft seit Montag.",
    "Was war denn das mit der anderen Sache?",
  ],
  [
    "Spanish",
    "¿Qué es lo que hay que hacer con la caldera?",
    "Nuestra caldera gotea desde el lunes.",
    "¿Qué es lo que hay que saber con la lista?",
  ],
  [
    "French",
    "Qu'est-ce que je dois faire avec la chaudière ?",
    "Notre chaudière fuit depuis lundi.",
    "Qu'est-ce que je dois dire avec la réponse ?",
  ],
  ["Arabic", "ما هو الشيء الذي قلته عن المدفأة؟", "المدفأة تسرب الماء منذ الاثنين", "ما هو الكتاب الذي كان عن البحر"],
  ["Chinese", "我们可以怎么修理锅炉？", "锅炉从星期一开始漏水。", "我们可以怎么去那里呢。"],
  ["Japanese", "この暖房はどうすればいいですか？", "暖房は月曜日から壊れたまま", "このことはどうすればいいですかね"],
] as const;

test.each(QUESTIONS)("F108: recall ignores words of %s without meaning", async (_, query, fits, shares) => {
  const memory = await memoryIn();
  await memory.remember([said(fits, "a"), said(shares, "b")]);
  expect(await recalled(memory, query)).toEqual([fits]);
});

test("F108: recall uses a word that lacks meaning only in another language than the query's", async () => {
  const memory = await memoryIn();
  await memory.remember([said("The die is made of steel.", "a"), said("Der Hut ist aus Filz.", "b")]);
  expect(await recalled(memory, "Which die did we buy?")).toEqual(["The die is made of steel."]);
  expect(await recalled(memory, "Wo ist denn der Hut?")).toEqual(["Der Hut ist aus Filz."]);
});
