import { meta } from '#api';
import { decodeObject, FieldError, type JsonValue, Path, StatusError } from '#machinery';
import { readBodyValue } from './decode-body.ts';
import type { ResourceCall } from './resource-call.ts';
import { dryRunErrors } from './write-options.ts';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan' | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly dryRun: boolean;
  readonly raw: unknown;
}

const POLICIES = ['Foreground', 'Background', 'Orphan'] as const;

/** From the body when there is one, else from the query. */
export async function deleteOptions(call: ResourceCall): Promise<DeleteOptions> {
  const body = await readBodyValue(call);
  return checkedDeleteOptions(body === undefined ? fromQuery(call.request.query) : fromBody(body));
}

/** Refuses options that make no sense. */
export function checkedDeleteOptions(options: meta.DeleteOptions): DeleteOptions {
  refuse(options);
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } = options;
  return {
    gracePeriodSeconds: gracePeriodSeconds !== undefined && gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds,
    propagationPolicy: propagationPolicy as DeleteOptions['propagationPolicy'],
    orphanDependents,
    uid: preconditions?.uid,
    resourceVersion: preconditions?.resourceVersion,
    dryRun: (dryRun?.length ?? 0) > 0,
    raw: options,
  };
}

function fromBody(value: JsonValue): meta.DeleteOptions {
  const { object, error } = decodeObject(meta.DeleteOptions, value);
  if (error !== undefined) throw StatusError.badRequest(error);
  return object as meta.DeleteOptions;
}

function fromQuery(query: URLSearchParams): meta.DeleteOptions {
  const grace = query.get('gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  const orphan = query.get('orphanDependents');
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  return {
    ...(grace && { gracePeriodSeconds: integer(grace) }),
    ...(policy && { propagationPolicy: policy }),
    ...(orphan && { orphanDependents: orphan === 'true' || orphan === '1' }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}

function integer(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw StatusError.badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  return Number(text);
}

function refuse({ propagationPolicy, orphanDependents, dryRun }: meta.DeleteOptions): void {
  const errors = [...dryRunErrors(dryRun ?? [])];
  const path = Path.of('propagationPolicy');
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    errors.push(FieldError.invalid(path, propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'));
  }
  if (propagationPolicy !== undefined && !(POLICIES as readonly string[]).includes(propagationPolicy)) {
    errors.push(FieldError.notSupported(path, propagationPolicy, [...POLICIES, 'nil']));
  }
  if (errors.length > 0) throw StatusError.invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
}
