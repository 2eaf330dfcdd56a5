/**
 * How a person runs this program with some arguments, from where they started it: in a checkout by `npm start`, of an
 * installation through npx if that is how they did it.
 */
export function ownCommand(args: string, env: Readonly<Record<string, string | undefined>> = process.env): string {
  // npm says in the environment which of its commands it carries out.
  if (env.npm_lifecycle_event === "start") return `npm start -- ${args}`;
  return env.npm_command === "exec" ? `npx banyan ${args}` : `banyan ${args}`;
}
