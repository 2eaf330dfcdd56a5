import { expect, test } from "vitest";
import { findingIn } from "../finding.fixture.ts";

const go = findingIn("go");

const source = `// Package tree grows.
package tree

import "fmt"

// Tree is one.
type Tree[K comparable] struct {
	age int
}

type (
	// Leaf falls.
	Leaf  int
	Alias = string
)

// Grower grows.
type Grower interface {
	// Grow grows.
	Grow(by int) error
	fmt.Stringer
}

const Limit = 1

const (
	Spring = iota
	Summer, Autumn
)

var first, second = 1, 2

var (
	// forest is large.
	forest []Tree[int]
)

// Grow grows
// a bit.
//
//go:noinline
func (t *Tree[K]) Grow(by int) error {
	helper := func() {}
	type inner struct{}
	return nil
}

func (Leaf) Fall() {} // down

func Plant() *Tree[int] {
	return nil
}
func init() {}
func init() {}
`;

test.each([
  ["Tree", "// Tree is one.\ntype Tree[K comparable] struct {\n\tage int\n}\n"],
  ["Leaf", "\t// Leaf falls.\n\tLeaf  int\n"],
  ["Alias", "\tAlias = string\n"],
  ["Grower.Grow", "\t// Grow grows.\n\tGrow(by int) error\n"],
  ["Limit", "const Limit = 1\n"],
  ["Spring", "\tSpring = iota\n"],
  ["forest", "\t// forest is large.\n\tforest []Tree[int]\n"],
  [
    "Tree.Grow",
    "// Grow grows\n// a bit.\n//\n//go:noinline\nfunc (t *Tree[K]) Grow(by int) error {\n\thelper := func() {}\n\ttype inner struct{}\n\treturn nil\n}\n",
  ],
  ["Leaf.Fall", "func (Leaf) Fall() {} // down\n"],
  ["Plant", "func Plant() *Tree[int] {\n\treturn nil\n}\n"],
])("B27: %s is found in Go", async (name, lines) => {
  expect(await go.lines(source, name)).toBe(lines);
});

test("B27: names of one declaration, and functions of one name, are refused", async () => {
  expect(await go.problem(source, "first")).toMatch(/^shared: first and second are declared together/);
  expect(await go.problem(source, "Autumn")).toMatch(/^shared: Summer and Autumn are declared together/);
  expect(await go.problem(source, "init")).toMatch(/^ambiguous: init is declared 2 times/);
});

test.each(["helper", "inner", "Tree.Grow.inner", "Tree.age"])("B27: %s is no symbol", async (name) => {
  expect(await go.problem(source, name)).toMatch(/^unknown/);
});
