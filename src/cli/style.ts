const ESC = '\u001b[';

export function bold(text: string): string {
  return `${ESC}1m${text}${ESC}0m`;
}

export function red(text: string): string {
  return `${ESC}31m${text}${ESC}0m`;
}
