import type { Node } from "web-tree-sitter";
import type { SymbolGrammar } from "./grammar.ts";

/** The range of a symbol in a text. Symbols that are declared together, as in `let a, b`, share one range. */
export interface SymbolExtent {
  /** UTF-16 offsets into the text. */
  readonly start: number;
  readonly end: number;
  /** First and last line, from 1. */
  readonly firstLine: number;
  readonly lastLine: number;
  readonly parses: boolean;
  readonly names: string[];
}

/** A symbol that a text declares, such as a function, class or variable. */
export interface DeclaredSymbol {
  /** The dotted name. */
  readonly name: string;
  readonly extent: SymbolExtent;
}

interface NodeContext {
  readonly node: Node;
  readonly outer: string;
  readonly inFunction: boolean;
  readonly statement: SymbolExtent | undefined;
  /**
   * True if the symbol is in a part that the parser could not read. In such a part, an indented node can belong to any
   * symbol.
   */
  readonly adrift: boolean;
}

interface Lead {
  readonly start: number;
  readonly end: number;
  readonly firstLine: number;
}

/** Comments about the whole file, not the next symbol: `#!`, Rust's `//!`, licences, and the encoding of a Python file. */
const OF_THE_FILE = /^(?:#!|\/\/!|\/\*!)/;
const ENCODING = /^#.*coding[:=]/;

/** In characters. Symbols inside a symbol with a longer name are not listed. */
const LONGEST_NAME = 1000;

/**
 * Yields the symbols of a syntax tree in order. In between, yields undefined, so that the caller can pause. Does not
 * search expressions: a function that is only an argument has no name.
 */
export function* findDeclarations(
  root: Node,
  text: string,
  grammar: SymbolGrammar,
): Generator<DeclaredSymbol | undefined> {
  const ahead: NodeContext[] = [];
  const enter = (context: NodeContext): void => {
    for (const node of context.node.namedChildren.toReversed()) ahead.push({ ...context, node });
  };
  let lead: Lead | undefined;
  enter({ node: root, outer: "", inFunction: false, statement: undefined, adrift: root.isError });
  for (let context = ahead.pop(); context; context = ahead.pop()) {
    yield;
    const { node, outer } = context;
    if (grammar.leads.has(node.type)) {
      lead = continued(lead, node, text);
      continue;
    }
    const isIndented = node.startPosition.column > 0;
    if ((context.adrift && isIndented) || outer.length > LONGEST_NAME) continue;
    const names = grammar.symbols[node.type]?.(node, context.inFunction) ?? [];
    const inFunction = context.inFunction || grammar.functions.has(node.type);
    if (names.length > 0 || grammar.statements(node)) {
      const extent = context.statement ?? symbolExtent(node, lead, text);
      lead = undefined;
      for (const name of names) {
        extent.names.push(outer + name);
        yield { name: outer + name, extent };
      }
      if (names.length === 0) enter({ ...context, statement: extent, adrift: false });
      else enter({ node, outer: `${outer}${names[0]}.`, inFunction, statement: undefined, adrift: false });
    } else if (node.isError) {
      enter({ ...context, statement: undefined, adrift: true });
    } else if (grammar.scopes[node.type]) {
      const name = grammar.scopes[node.type]?.(node);
      enter({ ...context, outer: name === undefined ? outer : `${outer}${name}.`, inFunction, statement: undefined });
    }
  }
}

/** Returns the lines with syntax errors, in order. */
export function errorLines(root: Node): number[] {
  const lines: number[] = [];
  const ahead = [root];
  for (let node = ahead.pop(); node; node = ahead.pop()) {
    const { children } = node;
    const within = children.filter((child) => child.hasError);
    for (const child of within.reverse()) ahead.push(child);
    if (within.length > 0 || !(node.isError || node.isMissing)) continue;
    // Whole declarations may be inside an error node. The unexpected token is a leaf among its children, or the last
    // child.
    const word = children.find((child) => child.childCount === 0 && !child.isExtra) ?? children.at(-1) ?? node;
    lines.push(word.startPosition.row + 1);
  }
  return lines;
}

function symbolExtent(node: Node, lead: Lead | undefined, text: string): SymbolExtent {
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

/** Extends the lead by a comment or attribute directly below; starts a new lead after a gap. */
function continued(lead: Lead | undefined, node: Node, text: string): Lead | undefined {
  const { startIndex: start, endIndex: end, startPosition } = node;
  const comment = text.slice(start, end);
  if (OF_THE_FILE.test(comment) || (startPosition.row < 2 && ENCODING.test(comment))) return undefined;
  if (lead && isGap(text.slice(lead.end, start))) return { ...lead, end };
  return beginsLine(text, start) ? { start, end, firstLine: startPosition.row + 1 } : undefined;
}

function isGap(between: string): boolean {
  return between.trim() === "" && between.indexOf("\n") === between.lastIndexOf("\n");
}

function beginsLine(text: string, place: number): boolean {
  let at = place;
  while (text[at - 1] === " " || text[at - 1] === "\t") at -= 1;
  return at === 0 || text[at - 1] === "\n" || text.slice(0, at) === "\ufeff";
}
