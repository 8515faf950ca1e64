import { meta } from '#api';
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

/** Reads the options of create, update and patch from the query. Errors found before, of the kind of patch, are reported with its own. */
export function writeOptions(
  request: ApiRequest,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  found: readonly FieldError[] = [],
): WriteOptions {
  const { query } = request;
  const userAgent = request.header('user-agent');
  if (query.size === 0 && found.length === 0) return plainOptions(kind, managerFromUserAgent(userAgent));
  const dryRun = query.getAll('dryRun');
  const fieldValidation = query.get('fieldValidation') ?? '';
  const manager = query.get('fieldManager') ?? '';
  const errors = [
    ...found,
    ...meta.validateFieldManager(manager, Path.of('fieldManager')),
    ...dryRunErrors(dryRun),
    ...validationErrors(fieldValidation),
  ];
  if (errors.length > 0) throw StatusError.invalid({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
    fieldManager: manager || managerFromUserAgent(userAgent),
    raw: {
      kind,
      apiVersion: 'meta.k8s.io/v1',
      ...(dryRun.length > 0 && { dryRun }),
      ...(manager && { fieldManager: manager }),
      ...(fieldValidation && { fieldValidation }),
    },
  };
}

/** What a client asks for that asks for nothing special. */
function plainOptions(kind: keyof typeof PLAIN, fieldManager: string): WriteOptions {
  return { dryRun: false, fieldValidation: 'Warn', fieldManager, raw: PLAIN[kind] };
}

const PLAIN = {
  CreateOptions: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
  UpdateOptions: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' },
  PatchOptions: { kind: 'PatchOptions', apiVersion: 'meta.k8s.io/v1' },
} as const;

export function dryRunErrors(values: readonly string[]): FieldError[] {
  const path = Path.of('dryRun');
  return values.every((value) => value === 'All') ? [] : [FieldError.notSupported(path, values, ['All'])];
}

function validationErrors(value: string): FieldError[] {
  if (value === '' || VALIDATIONS.includes(value as FieldValidation)) return [];
  return [FieldError.notSupported(Path.of('fieldValidation'), value, ['', ...VALIDATIONS])];
}

/** The program's name: what stands before the first slash of the user agent. */
export function managerFromUserAgent(userAgent: string | undefined): string {
  return (userAgent ?? '').split('/', 1)[0]!.slice(0, MAX_MANAGER_LENGTH) || 'unknown';
}
