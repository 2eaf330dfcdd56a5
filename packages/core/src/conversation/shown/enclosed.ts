/**
 * A text between tags that say what it is, for the model. What the text holds never ends it: where it bears the closing tag, the
 * name of the tags gets a number that it does not bear. `attributes` stand in the opening tag.
 */
export function enclosed(name: string, text: string, attributes = ""): string {
  const lower = text.toLowerCase();
  let tag = name;
  for (let number = 2; lower.includes(`</${tag.toLowerCase()}`); number++) tag = `${name}-${number}`;
  return `<${tag}${attributes}>\n${text}\n</${tag}>`;
}
