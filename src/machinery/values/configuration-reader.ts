import { isJsonObject } from '../json/json-value.ts';
import { parseDurationMs } from './duration.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Reads the fields of a configuration and collects all errors. */
export class ConfigurationReader {
  readonly problems: string[] = [];

  fail(path: string, problem: string): void {
    this.problems.push(`${path}: ${problem}`);
  }

  object(value: unknown, path: string): Fields {
    if (value === undefined || value === null) return {};
    if (isJsonObject(value as never)) return value as Fields;
    this.fail(path, 'must be an object');
    return {};
  }

  rejectUnknownFields(fields: Fields, names: readonly string[], path: string): void {
    for (const name of Object.keys(fields)) if (!names.includes(name)) this.fail(path === '' ? name : `${path}.${name}`, 'unknown field');
  }

  list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    this.fail(path, 'must be a list');
    return [];
  }

  text(value: unknown, path: string, fallback: string): string {
    if (value === undefined || value === '') return fallback;
    if (typeof value === 'string') return value;
    this.fail(path, 'must be a string');
    return fallback;
  }

  oneOf(value: unknown, path: string, allowed: readonly string[]): void {
    if (value !== undefined && !allowed.includes(value as string)) this.fail(path, `must be ${allowed.join(' or ')}`);
  }

  number(value: unknown, path: string, { fallback, min, max = 2 ** 31 - 1 }: { fallback: number; min: number; max?: number }): number {
    if (value === undefined || value === null) return fallback;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    this.fail(path, `must be a whole number from ${min} to ${max}`);
    return fallback;
  }

  /** Not only whole ones. */
  rate(value: unknown, path: string, fallback: number): number {
    if (value === undefined || value === null) return fallback;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    this.fail(path, 'must be a number');
    return fallback;
  }

  boolean(value: unknown, path: string, fallback: boolean): boolean {
    if (value === undefined || value === null) return fallback;
    if (typeof value === 'boolean') return value;
    this.fail(path, 'must be true or false');
    return fallback;
  }

  /** Milliseconds of a duration such as `15s`. */
  duration(value: unknown, path: string, fallbackMs: number): number {
    const text = this.text(value, path, '');
    if (text === '') return fallbackMs;
    try {
      return parseDurationMs(text);
    } catch {
      this.fail(path, `"${text}" is no duration such as 15s`);
      return fallbackMs;
    }
  }
}
