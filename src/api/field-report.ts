import { FieldError, MAX_FIELD_ERRORS, type Path, TooManyFieldErrors } from '#machinery';

/**
 * A field being validated, and the list of its errors. Validators of large objects visit hundreds of fields and report almost none, so the path is
 * built only for an error. Throws TooManyFieldErrors.
 */
export class FieldReport {
  private constructor(
    readonly errors: FieldError[],
    private readonly parent: FieldReport | Path,
    private readonly step: string | number | undefined,
    private readonly isKey: boolean,
  ) {}

  static on(path: Path, errors: FieldError[] = []): FieldReport {
    return new FieldReport(errors, path, undefined, false);
  }

  child(name: string): FieldReport {
    return new FieldReport(this.errors, this, name, false);
  }

  index(index: number): FieldReport {
    return new FieldReport(this.errors, this, index, false);
  }

  key(key: string): FieldReport {
    return new FieldReport(this.errors, this, key, true);
  }

  get path(): Path {
    if (!(this.parent instanceof FieldReport)) return this.parent;
    if (typeof this.step === 'number') return this.parent.path.index(this.step);
    return this.isKey ? this.parent.path.key(this.step ?? '') : this.parent.path.child(this.step ?? '');
  }

  get isClean(): boolean {
    return this.errors.length === 0;
  }

  add(errors: readonly FieldError[]): void {
    for (const error of errors) this.#push(error);
  }

  #push(error: FieldError): void {
    this.errors.push(error);
    if (this.errors.length >= MAX_FIELD_ERRORS) throw new TooManyFieldErrors(this.errors);
  }

  invalid(value: unknown, detail: string): void {
    this.#push(FieldError.invalid(this.path, value, detail));
  }

  /** One error for each message about a value. */
  problems(value: unknown, problems: readonly string[]): void {
    for (const problem of problems) this.invalid(value, problem);
  }

  required(detail = ''): void {
    this.#push(FieldError.required(this.path, detail));
  }

  forbidden(detail: string): void {
    this.#push(FieldError.forbidden(this.path, detail));
  }

  duplicate(value: unknown): void {
    this.#push(FieldError.duplicate(this.path, value));
  }

  notFound(value: unknown): void {
    this.#push(FieldError.notFound(this.path, value));
  }

  notSupported(value: unknown, supported: readonly string[]): void {
    this.#push(FieldError.notSupported(this.path, value, supported));
  }

  /** An enum value; the message lists the supported ones as given. */
  oneOf(value: string | undefined, supported: readonly string[]): void {
    if (!supported.includes(value ?? '')) this.notSupported(value ?? '', supported);
  }

  tooLong(max: number): void {
    this.#push(FieldError.tooLong(this.path, max));
  }

  tooMany(actual: number, max: number): void {
    this.#push(FieldError.tooMany(this.path, actual, max));
  }

  nonNegative(value: number | undefined): void {
    if (value !== undefined && value < 0) this.invalid(value, 'must be greater than or equal to 0');
  }

  positive(value: number | undefined): void {
    if ((value ?? 0) <= 0) this.invalid(value ?? 0, 'must be greater than zero');
  }
}
