import type { Node } from "web-tree-sitter";
import type { Grammar } from "./grammar.ts";

/** All that belongs to a symbol. Symbols that are declared together, as in `let a, b`, have one extent. */
export interface Extent {
  /** UTF-16 offsets into the text. */
  readonly start: number;
  readonly end: number;
  /** The first line and the last one, 1-based. */
  readonly firstLine: number;
  readonly lastLine: number;
  readonly parses: boolean;
  /** Of the symbols that it declares. */
  readonly names: string[];
}

/** A symbol of a text. */
export interface Declared {
  /** Its dotted name. */
  readonly name: string;
  readonly extent: Extent;
}

/** A node, and what there is around it. */
interface Place {
  readonly node: Node;
  /** The names of the symbols around it, each with a dot after it. */
  readonly outer: string;
  readonly inFunction: boolean;
  /** Of the statement that it is the declaration of. */
  readonly statement: Extent | undefined;
  /** The parser has given up on what is around it. It may be a part of anything, unless it is not indented. */
  readonly adrift: boolean;
}

/** Comments and attributes that stand one below the other. */
interface Lead {
  readonly start: number;
  readonly end: number;
  readonly firstLine: number;
}

/** Comments that are not about what comes below them: `#!`, Rust's `//!`, licences; and the encoding of a Python file. */
const OF_THE_FILE = /^(?:#!|\/\/!|\/\*!)/;
const ENCODING = /^#.*coding[:=]/;

/** In characters. What is inside a symbol with a longer name has no use for a name. */
const LONGEST_NAME = 1000;

/**
 * Yields the symbols that are declared in a tree, in their order, and undefined in between, so that whoever asks can
 * pause. Expressions are not looked into: a function that is only handed to another has no name to be found by.
 */
export function* declaredIn(root: Node, text: string, grammar: Grammar): Generator<Declared | undefined> {
  const ahead: Place[] = [];
  const enter = (place: Place): void => {
    for (const node of place.node.namedChildren.toReversed()) ahead.push({ ...place, node });
  };
  let lead: Lead | undefined;
  enter({ node: root, outer: "", inFunction: false, statement: undefined, adrift: root.isError });
  for (let place = ahead.pop(); place; place = ahead.pop()) {
    yield;
    const { node, outer } = place;
    if (grammar.leads.has(node.type)) {
      lead = continued(lead, node, text);
      continue;
    }
    const isIndented = node.startPosition.column > 0;
    if ((place.adrift && isIndented) || outer.length > LONGEST_NAME) continue;
    const names = grammar.symbols[node.type]?.(node, place.inFunction) ?? [];
    const inFunction = place.inFunction || grammar.functions.has(node.type);
    if (names.length > 0 || grammar.statements(node)) {
      const extent = place.statement ?? extentOf(node, lead, text);
      lead = undefined;
      for (const name of names) {
        extent.names.push(outer + name);
        yield { name: outer + name, extent };
      }
      if (names.length === 0) enter({ ...place, statement: extent, adrift: false });
      else enter({ node, outer: `${outer}${names[0]}.`, inFunction, statement: undefined, adrift: false });
    } else if (node.isError) {
      enter({ ...place, statement: undefined, adrift: true });
    } else if (grammar.scopes[node.type]) {
      const name = grammar.scopes[node.type]?.(node);
      enter({ ...place, outer: name === undefined ? outer : `${outer}${name}.`, inFunction, statement: undefined });
    }
  }
}

/** The lines on which a tree has syntax errors, in their order. */
export function errorLines(root: Node): number[] {
  const lines: number[] = [];
  const ahead = [root];
  for (let node = ahead.pop(); node; node = ahead.pop()) {
    const { children } = node;
    const within = children.filter((child) => child.hasError);
    for (const child of within.reverse()) ahead.push(child);
    if (within.length > 0 || !(node.isError || node.isMissing)) continue;
    // Whole declarations may be in an error. What could not be placed is a word among them, or comes last.
    const word = children.find((child) => child.childCount === 0 && !child.isExtra) ?? children.at(-1) ?? node;
    lines.push(word.startPosition.row + 1);
  }
  return lines;
}

function extentOf(node: Node, lead: Lead | undefined, text: string): Extent {
  const above = lead && isGap(text.slice(lead.end, node.startIndex)) ? lead : undefined;
  return {
    start: above?.start ?? node.startIndex,
    end: node.endIndex,
    firstLine: above?.firstLine ?? node.startPosition.row + 1,
    lastLine: node.endPosition.row + 1,
    parses: !node.hasError,
    names: [],
  };
}

/** The lead with one more comment or attribute, when it comes right below; otherwise one that begins with it. */
function continued(lead: Lead | undefined, node: Node, text: string): Lead | undefined {
  const { startIndex: start, endIndex: end, startPosition } = node;
  const comment = text.slice(start, end);
  if (OF_THE_FILE.test(comment) || (startPosition.row < 2 && ENCODING.test(comment))) return undefined;
  if (lead && isGap(text.slice(lead.end, start))) return { ...lead, end };
  return beginsLine(text, start) ? { start, end, firstLine: startPosition.row + 1 } : undefined;
}

/** Whether nothing is between two things, and no empty line. */
function isGap(between: string): boolean {
  return between.trim() === "" && between.indexOf("\n") === between.lastIndexOf("\n");
}

function beginsLine(text: string, place: number): boolean {
  let at = place;
  while (text[at - 1] === " " || text[at - 1] === "\t") at -= 1;
  return at === 0 || text[at - 1] === "\n" || text.slice(0, at) === "\ufeff";
}
