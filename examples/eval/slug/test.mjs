import assert from "node:assert/strict";
import { slug } from "./slug.mjs";

assert.equal(slug("Hello, World!"), "hello-world");
assert.equal(slug("  Two   spaces "), "two-spaces");
assert.equal(slug("plain"), "plain");
console.log("all is well");
