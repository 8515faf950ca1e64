import { FieldError, Path, StatusError } from '#machinery';
import type { ApiRequest } from '../request/api-request.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  readonly fieldManager: string;
  /** What was asked for, as admission sees it. */
  readonly raw: Readonly<Record<string, unknown>>;
}

const VALIDATIONS: readonly FieldValidation[] = ['Ignore', 'Strict', 'Warn'];
const MAX_MANAGER_LENGTH = 128;

/** Reads the options of create, update and patch from the query. `kind` is CreateOptions, UpdateOptions or PatchOptions. */
export function writeOptions(request: ApiRequest, kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'): WriteOptions {
  const { query } = request;
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const fieldValidation = query.get('fieldValidation') ?? '';
  const manager = query.get('fieldManager') ?? '';
  const errors = [...dryRunErrors(dryRun), ...managerErrors(manager), ...validationErrors(fieldValidation)];
  if (errors.length > 0) throw StatusError.invalid({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
    fieldManager: manager || managerFromUserAgent(request.header('user-agent')),
    raw: {
      kind,
      apiVersion: 'meta.k8s.io/v1',
      ...(dryRun.length > 0 && { dryRun }),
      ...(manager && { fieldManager: manager }),
      ...(fieldValidation && { fieldValidation }),
    },
  };
}

export function dryRunErrors(values: readonly string[]): FieldError[] {
  const path = Path.of('dryRun');
  return values.every((value) => value === 'All') ? [] : [FieldError.notSupported(path, values, ['All'])];
}

function validationErrors(value: string): FieldError[] {
  if (value === '' || VALIDATIONS.includes(value as FieldValidation)) return [];
  return [FieldError.notSupported(Path.of('fieldValidation'), value, ['', ...VALIDATIONS])];
}

function managerErrors(manager: string): FieldError[] {
  const path = Path.of('fieldManager');
  if (manager.length > MAX_MANAGER_LENGTH) return [FieldError.tooLong(path, MAX_MANAGER_LENGTH)];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return /[\u0000-\u001f\u007f-\u009f]/.test(manager)
    ? [FieldError.invalid(path, manager, 'should only contain printable characters')]
    : [];
}

/** The program's name: what stands before the first slash of the user agent. */
export function managerFromUserAgent(userAgent: string | undefined): string {
  return (userAgent ?? '').split('/', 1)[0]!.slice(0, MAX_MANAGER_LENGTH) || 'unknown';
}
