import { expect, test } from "vitest";
import { ModelLists } from "./workplace.ts";

test("simultaneous requests for the list of models cost one request", async () => {
  let asked = 0;
  const models = new ModelLists({
    listProviders: async () => {
      asked++;
      return [{ name: "one", usable: true, reason: "It is part of the test.", known: 1 }];
    },
    listModels: async () => [{ name: "one/model" }],
  });
  const answers = await Promise.all(Array.from({ length: 100 }, () => models.of("one")));
  expect(asked).toBe(1);
  expect(new Set(answers)).toEqual(new Set([{ providers: [expect.anything()], models: [{ name: "one/model" }] }]));
  await models.of("one");
  expect(asked).toBe(2);
  await Promise.all(["one", "two", undefined].map((provider) => models.of(provider)));
  expect(asked).toBe(3);
});
