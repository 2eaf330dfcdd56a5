import { expect, test } from "vitest";
import { titleParts } from "./process-title.tsx";

test("S39: the page links the open ports of a process, if the page is on the same machine", () => {
  const title = "npm run dev (http://127.0.0.1:5173, http://127.0.0.1:40001)";
  const addresses = ["http://127.0.0.1:5173", "http://127.0.0.1:40001"];
  expect(titleParts(title, "localhost")).toEqual({ text: "npm run dev", addresses });
  expect(titleParts(title, "127.0.0.1")).toEqual({ text: "npm run dev", addresses });
  expect(titleParts(title, "banyan.example.org")).toEqual({ text: title, addresses: [] });
});

test.each([
  "npm run dev",
  "curl (http://example.org:80)",
  "curl (http://127.0.0.1:80@example.org)",
  "echo (http://127.0.0.1:80) more",
])("S39: the page links no other words of a title: %s", (title) => {
  expect(titleParts(title, "localhost")).toEqual({ text: title, addresses: [] });
});
