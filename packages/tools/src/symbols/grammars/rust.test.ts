import { expect, test } from "vitest";
import { findingIn } from "../finding.fixture.ts";

const rust = findingIn("rust");

const source = `//! A crate.
use std::fmt;
/// A tree.
#[derive(Debug)]
// Really.
pub struct Tree<K> {
    pub age: u32,
}

enum Season {
    /// Green.
    Spring,
    Winter { snow: bool },
}

impl<K> Tree<K> {
    const LIMIT: u32 = 1;

    /**
     * Grows.
     */
    #[inline]
    pub fn age(&self) -> u32 {
        fn inner() -> u32 {
            1
        }
        inner()
    }
}

impl<K> fmt::Display for Tree<K> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        Ok(())
    }
}

impl Grow for &'static forest::Oak {
    type By = u32;
}

pub trait Grow {
    type By;
    fn grow(&mut self);
    fn rest(&self) {}
}

macro_rules! plant {
    () => {};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows() {}
}
`;

test.each([
  ["Tree", "/// A tree.\n#[derive(Debug)]\n// Really.\npub struct Tree<K> {\n    pub age: u32,\n}\n"],
  ["Season.Spring", "    /// Green.\n    Spring,\n"],
  ["Season.Winter", "    Winter { snow: bool },\n"],
  ["Tree.LIMIT", "    const LIMIT: u32 = 1;\n"],
  [
    "Tree.age",
    "    /**\n     * Grows.\n     */\n    #[inline]\n    pub fn age(&self) -> u32 {\n        fn inner() -> u32 {\n            1\n        }\n        inner()\n    }\n",
  ],
  ["Tree::age::inner", "        fn inner() -> u32 {\n            1\n        }\n"],
  ["Tree.fmt", "    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {\n        Ok(())\n    }\n"],
  ["Oak.By", "    type By = u32;\n"],
  ["Grow.grow", "    fn grow(&mut self);\n"],
  ["Grow.rest", "    fn rest(&self) {}\n"],
  ["plant", "macro_rules! plant {\n    () => {};\n}\n"],
  ["tests.grows", "    #[test]\n    fn grows() {}\n"],
])("B27: %s is found in Rust", async (name, lines) => {
  expect(await rust.lines(source, name)).toBe(lines);
});

test("B27: the comment of a crate does not belong to its first item", async () => {
  expect(await rust.lines("//! A crate.\nfn main() {}\n", "main")).toBe("fn main() {}\n");
});

test("B27: methods with the same name from several traits are ambiguous", async () => {
  const two = "impl From<A> for T {\n    fn from() {}\n}\nimpl From<B> for T {\n    fn from() {}\n}\n";
  expect(await rust.problem(two, "T.from")).toMatch(/^ambiguous: T\.from is declared 2 times: line 2; line 5\./);
});
