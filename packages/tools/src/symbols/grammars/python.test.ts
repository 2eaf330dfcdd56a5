import { expect, test } from "vitest";
import { findingIn } from "../finding.fixture.ts";

const python = findingIn("python");

const source = `#!/usr/bin/env python
# -*- coding: utf-8 -*-
# The limit.
LIMIT: int = 3

# A tree.
@register
@dataclass(frozen=True)
class Tree(Base):  # first
    # How old.
    age: int = 1

    class Leaf:
        def fall(self):
            """Falls."""
            return 1

    @property
    # In metres.
    async def height(self) -> int:
        def double(x):
            return 2 * x

        local = 1
        return double(local)
        # The end.

if LIMIT:
    def plant(): pass
try:
    import json
except ImportError:
    def load():
        return None

a, b = 1, 2
type Seeds = list[int]
`;

test.each([
  ["LIMIT", "# The limit.\nLIMIT: int = 3\n"],
  ["Tree.age", "    # How old.\n    age: int = 1\n"],
  ["Tree.Leaf.fall", '        def fall(self):\n            """Falls."""\n            return 1\n'],
  ["Tree.height.double", "        def double(x):\n            return 2 * x\n"],
  ["plant", "    def plant(): pass\n"],
  ["load", "    def load():\n        return None\n"],
  ["Seeds", "type Seeds = list[int]\n"],
])("B27: %s is found in Python", async (name, lines) => {
  expect(await python.lines(source, name)).toBe(lines);
});

test("B27: a class or a function has its decorators and comments in their order", async () => {
  expect(await python.lines(source, "Tree")).toMatch(
    /^# A tree\.\n@register\n@dataclass\(frozen=True\)\nclass Tree.*# The end\.\n$/s,
  );
  expect(await python.lines(source, "Tree.height")).toMatch(
    /^ {4}@property\n {4}# In metres\.\n {4}async def height.*# The end\.\n$/s,
  );
});

test.each(["Tree.height.local", "a", "a, b", "json"])("B27: %s is no symbol", async (name) => {
  expect(await python.problem(source, name)).toMatch(/^unknown/);
});

test("B27: a comment that resembles an encoding is a plain comment, except at the top", async () => {
  expect(await python.lines("# coding: latin-1\nx = 1\n", "x")).toBe("x = 1\n");
  expect(await python.lines("y = 1\n\n# Decoding: strict.\nx = 1\n", "x")).toBe("# Decoding: strict.\nx = 1\n");
});

test("B27: a name with two declarations is ambiguous", async () => {
  const twice = "if new:\n    def f(): pass\nelse:\n    f = None\n";
  expect(await python.problem(twice, "f")).toMatch(/^ambiguous: f is declared 2 times: line 2; line 4\./);
  const property = "class A:\n    @property\n    def x(self): pass\n    @x.setter\n    def x(self, y): pass\n";
  expect(await python.problem(property, "A.x")).toMatch(/2 times: lines 2 to 3; lines 4 to 5/);
});

test("B27: the finder refuses a symbol that shares its lines with other code", async () => {
  expect(await python.problem("class A: x = 1\n", "A.x")).toMatch(/^shared/);
  expect(await python.problem("x = 1; y = 2\n", "x")).toMatch(/^shared/);
  expect(await python.lines("x = 1;  # one\n", "x")).toBe("x = 1;  # one\n");
});
