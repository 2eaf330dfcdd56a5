import { ODD_IDS } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { type PageView, pageAddress, readPageAddress } from "./address.ts";

/** The place of an address after the browser has encoded it in ASCII. */
const arrived = (address: string) => readPageAddress(new URL(address, "http://localhost"));

const NOTHING: PageView = {
  conversation: undefined,
  leaf: undefined,
  whole: false,
  panel: undefined,
  beside: undefined,
  message: undefined,
};

test("W80: the address of a page names its conversation, branch and message, with any ids", () => {
  for (const id of ODD_IDS) {
    const place: PageView = { conversation: id, leaf: id, whole: true, panel: "compare", beside: id, message: id };
    expect(arrived(pageAddress(place))).toEqual(place);
  }
  expect(pageAddress({ conversation: "an oak" })).toBe("/c/an~20oak");
  expect(pageAddress({})).toBe("/");
});

test("W5: invalid parts of an address are ignored", () => {
  expect(arrived("/c/an%20oak")).toEqual({ ...NOTHING, conversation: "an oak" });
  expect(arrived("/c/oak?panel=none")).toEqual({ ...NOTHING, conversation: "oak", panel: "none" });
  expect(arrived("/c/oak?panel=toString&leaf=&whole=1&beside=#top")).toEqual({ ...NOTHING, conversation: "oak" });
  expect(arrived("/c/%")).toEqual(NOTHING);
  expect(arrived("/")).toEqual(NOTHING);
});
