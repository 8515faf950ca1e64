/** The result would exceed the limit. */
export class ExpansionTooLarge extends Error {}

/**
 * Expands `$(NAME)` to the variable's value and `$$` to a dollar sign. Unknown names are left as they are.
 * Expansion can grow exponentially, so a result longer than `limit` throws ExpansionTooLarge before it is built.
 */
export function expandVariables(text: string, variables: ReadonlyMap<string, string>, limit: number): string {
  const parts: string[] = [];
  let length = 0;
  const add = (part: string) => {
    length += part.length;
    if (length > limit) throw new ExpansionTooLarge(`it is longer than ${limit} characters`);
    parts.push(part);
  };
  const lastClosing = text.lastIndexOf(')');
  let from = 0;
  for (let dollar = text.indexOf('$'); dollar >= 0; dollar = text.indexOf('$', from)) {
    add(text.slice(from, dollar));
    const next = text[dollar + 1];
    if (next === '(' && dollar < lastClosing) {
      const closing = text.indexOf(')', dollar);
      add(variables.get(text.slice(dollar + 2, closing)) ?? text.slice(dollar, closing + 1));
      from = closing + 1;
    } else {
      add(next === '$' ? '$' : text.slice(dollar, dollar + 2));
      from = dollar + 2;
    }
  }
  add(text.slice(from));
  return parts.join('');
}
