import { FieldError, Path, StatusError } from '#machinery';
import { queryFlag, queryInteger } from '../request/query-values.ts';

/** Validated options of a list, watch or deletecollection. */
export interface ListOptions {
  readonly limit: number;
  readonly timeoutSeconds: number | undefined;
  readonly continue: string;
  readonly resourceVersion: string;
  readonly match: string;
  readonly bookmarks: boolean;
  /** Undefined: the resource version decides. */
  readonly sendInitialEvents: boolean | undefined;
}

/** Numbers and selectors are parsed before options are validated: `parseSelectors` throws for bad selectors. */
export function listOptions(query: URLSearchParams, watch: boolean, parseSelectors: () => void): ListOptions {
  const timeoutSeconds = queryInteger(query, 'timeoutSeconds');
  const limit = queryInteger(query, 'limit') ?? 0;
  parseSelectors();
  const options = withDefaults(
    {
      limit,
      timeoutSeconds,
      continue: query.get('continue') ?? '',
      resourceVersion: query.get('resourceVersion') ?? '',
      match: query.get('resourceVersionMatch') ?? '',
      bookmarks: queryFlag(query, 'allowWatchBookmarks') ?? false,
      sendInitialEvents: queryFlag(query, 'sendInitialEvents'),
    },
    watch,
  );
  const errors = watch ? watchErrors(options) : listErrors(options);
  if (errors.length > 0) throw StatusError.invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
  return options;
}

/** A watch without a resourceVersion starts with the current state. */
function withDefaults(options: ListOptions, watch: boolean): ListOptions {
  const isLegacy = options.resourceVersion === '' || options.resourceVersion === '0';
  if (!watch || !isLegacy || options.sendInitialEvents !== undefined || options.match !== '') return options;
  return { ...options, sendInitialEvents: true, match: 'NotOlderThan' };
}

const MATCH = Path.of('resourceVersionMatch');

function listErrors({ match, resourceVersion, continue: continued, sendInitialEvents }: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (match !== '') {
    if (resourceVersion === '')
      errors.push(FieldError.forbidden(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (continued !== '') errors.push(FieldError.forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(FieldError.notSupported(MATCH, match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && resourceVersion === '0') {
      errors.push(FieldError.forbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (sendInitialEvents !== undefined) {
    errors.push(FieldError.forbidden(Path.of('sendInitialEvents'), 'sendInitialEvents is forbidden for list'));
  }
  return errors;
}

function watchErrors({ match, continue: continued, sendInitialEvents }: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(FieldError.forbidden(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match === '') return errors;
  if (sendInitialEvents === undefined) {
    errors.push(FieldError.forbidden(MATCH, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
  }
  if (match !== 'NotOlderThan') errors.push(FieldError.notSupported(MATCH, match, ['NotOlderThan']));
  if (continued !== '') errors.push(FieldError.forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
  return errors;
}
