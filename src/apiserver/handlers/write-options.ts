import { meta } from '#api';
import { FieldError, Path, StatusError } from '#machinery';
import type { ApiRequest } from '../request/api-request.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  readonly fieldManager: string;
  /** The options as sent, for admission. */
  readonly raw: Readonly<Record<string, unknown>>;
}

const VALIDATIONS: readonly FieldValidation[] = ['Ignore', 'Strict', 'Warn'];
const MAX_MANAGER_LENGTH = 128;

/** Parses the options of create, update and patch. Earlier errors about the patch type are reported together with them. */
export function writeOptions(
  request: ApiRequest,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  initial: readonly FieldError[] = [],
): WriteOptions {
  const { query } = request;
  const userAgent = request.header('user-agent');
  if (query.size === 0 && initial.length === 0) return plainOptions(kind, managerFromUserAgent(userAgent));
  const manager = query.get('fieldManager') ?? '';
  const managerErrors = meta.validateFieldManager(manager, FIELD_MANAGER);
  if (query.size === 1 && manager !== '' && initial.length === 0 && managerErrors.length === 0) return managedOptions(kind, manager);
  const dryRun = query.getAll('dryRun');
  const fieldValidation = query.get('fieldValidation') ?? '';
  const errors = [...initial, ...managerErrors, ...dryRunErrors(dryRun), ...validationErrors(fieldValidation)];
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

const FIELD_MANAGER = Path.of('fieldManager');

/** Options of a request without query parameters. */
function plainOptions(kind: keyof typeof PLAIN, fieldManager: string): WriteOptions {
  return { dryRun: false, fieldValidation: 'Warn', fieldManager, raw: PLAIN[kind] };
}

/** Options of a request that only names its manager. */
function managedOptions(kind: keyof typeof PLAIN, fieldManager: string): WriteOptions {
  return { dryRun: false, fieldValidation: 'Warn', fieldManager, raw: { ...PLAIN[kind], fieldManager } };
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

/** The default field manager: the user agent up to its first slash. */
export function managerFromUserAgent(userAgent: string | undefined): string {
  return (userAgent ?? '').split('/', 1)[0]!.slice(0, MAX_MANAGER_LENGTH) || 'unknown';
}
