/** The text without the run of one character at its end. Linear, unlike a regular expression that is anchored at the end alone. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
