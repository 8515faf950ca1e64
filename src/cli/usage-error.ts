/** The command line cannot be understood or fulfilled as given: exit code 2, with a hint what to do instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}
