/** The text without trailing repetitions of a character. Linear, unlike a regular expression that is only anchored at the end. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
