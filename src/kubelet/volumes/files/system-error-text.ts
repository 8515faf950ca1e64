/** A system error in upstream's format: `open /a/b: no such file or directory`. */
export function systemErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, syscall, path, message } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined || path === undefined) return message;
  const text = message.slice(message.indexOf(': ') + 2, message.lastIndexOf(`, ${syscall}`));
  return `${syscall} ${path}: ${text}`;
}
