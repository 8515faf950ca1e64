import { FieldError, type JsonValue, nameIsDnsSubdomain, Path, semanticEqual } from '#machinery';
import { goStruct } from '../../go-struct.ts';
import { METADATA, validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';
import { validateFlowConditions } from './flow-schema.validation.ts';
import { MANDATORY_PRIORITY_LEVELS } from './mandatory.ts';
import {
  type ExemptPriorityLevelConfiguration,
  type LimitedPriorityLevelConfiguration,
  type LimitResponse,
  type PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  type QueuingConfiguration,
} from './priority-level-configuration.ts';

const MAX_QUEUES = 10_000_000;
const MAX_HASH_BITS = 60;
const ZERO_SHARES = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';
const TYPES = ['Exempt', 'Limited'];
const RESPONSES = ['Queue', 'Reject'];
const EXEMPT = 'exempt';
const SPEC = Path.of('spec');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain };

export function validatePriorityLevelConfiguration(level: PriorityLevelConfiguration): FieldError[] {
  const { metadata, spec } = level;
  const errors = validateObjectMeta(metadata, META);
  if (metadata.annotations?.[ZERO_SHARES] !== undefined) {
    errors.push(FieldError.forbidden(METADATA.child('annotations'), `annotation '${ZERO_SHARES}' is forbidden`));
  }
  return [
    ...errors,
    ...validateSpec(metadata.name, spec ?? ({} as PriorityLevelConfigurationSpec)),
    ...validateMandatory(level),
    ...validateFlowConditions(level.status?.conditions ?? []),
  ];
}

export const validatePriorityLevelConfigurationUpdate = (level: PriorityLevelConfiguration) => validatePriorityLevelConfiguration(level);
export const validatePriorityLevelConfigurationStatusUpdate = (level: PriorityLevelConfiguration) =>
  validateFlowConditions(level.status?.conditions ?? []);

/** Only `exempt` of the exempt level may be changed. */
function validateMandatory({ metadata, spec }: PriorityLevelConfiguration): FieldError[] {
  const fixed = MANDATORY_PRIORITY_LEVELS.get(metadata.name);
  if (!fixed) return [];
  const isExempt = metadata.name === EXEMPT;
  const compared = isExempt ? { ...spec, ...(fixed.exempt && { exempt: fixed.exempt }) } : spec;
  if (semanticEqual((compared ?? {}) as JsonValue, fixed as JsonValue, PriorityLevelConfigurationSpec)) return [];
  const exception = isExempt ? " except the 'spec.exempt' field" : '';
  const printed = goStruct(PriorityLevelConfigurationSpec, spec ?? {});
  return [FieldError.invalid(SPEC, printed, `spec of '${metadata.name}'${exception} must equal the fixed value`)];
}

function validateSpec(name: string, { type = '', limited, exempt }: PriorityLevelConfigurationSpec): FieldError[] {
  const errors: FieldError[] = [];
  if ((name === EXEMPT) !== (type === 'Exempt')) {
    errors.push(FieldError.invalid(SPEC.child('type'), type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  if (type === '') return [...errors, FieldError.required(SPEC.child('type'))];
  if (!TYPES.includes(type)) return [...errors, FieldError.notSupported(SPEC.child('type'), type, TYPES)];
  if (type === 'Exempt') {
    if (limited) errors.push(FieldError.forbidden(SPEC.child('limited'), 'must be nil if the type is not Limited'));
    return exempt ? [...errors, ...validateShares(SPEC.child('exempt'), exempt)] : errors;
  }
  if (exempt) errors.push(FieldError.forbidden(SPEC.child('exempt'), 'must be nil if the type is Limited'));
  if (!limited) return [...errors, FieldError.required(SPEC.child('limited'), 'must not be empty when type is Limited')];
  return [...errors, ...validateLimited(SPEC.child('limited'), limited)];
}

function nonNegativeShares(path: Path, shares: number): FieldError[] {
  return shares < 0 ? [FieldError.invalid(path.child('nominalConcurrencyShares'), shares, 'must be a non-negative integer')] : [];
}

function percentage(path: Path, percent: number): FieldError[] {
  return percent < 0 || percent > 100
    ? [FieldError.invalid(path.child('lendablePercent'), percent, 'must be between 0 and 100, inclusive')]
    : [];
}

function validateShares(path: Path, { nominalConcurrencyShares, lendablePercent }: ExemptPriorityLevelConfiguration): FieldError[] {
  return [...nonNegativeShares(path, nominalConcurrencyShares ?? 0), ...percentage(path, lendablePercent ?? 0)];
}

function validateLimited(path: Path, limited: LimitedPriorityLevelConfiguration): FieldError[] {
  const { nominalConcurrencyShares, limitResponse, lendablePercent, borrowingLimitPercent } = limited;
  const errors = [
    ...nonNegativeShares(path, nominalConcurrencyShares ?? 0),
    ...validateResponse(path.child('limitResponse'), limitResponse ?? ({} as LimitResponse)),
    ...percentage(path, lendablePercent ?? 0),
  ];
  if ((borrowingLimitPercent ?? 0) >= 0) return errors;
  const detail = 'if specified, must be a non-negative integer';
  return [...errors, FieldError.invalid(path.child('borrowingLimitPercent'), borrowingLimitPercent, detail)];
}

function validateResponse(path: Path, { type = '', queuing }: LimitResponse): FieldError[] {
  if (type === '') return [FieldError.required(path.child('type'))];
  if (!RESPONSES.includes(type)) return [FieldError.notSupported(path.child('type'), type, RESPONSES)];
  const at = path.child('queuing');
  if (type === 'Reject') {
    return queuing ? [FieldError.forbidden(at, 'must be nil if limited.limitResponse.type is not Limited')] : [];
  }
  if (!queuing) return [FieldError.required(at, 'must not be empty if limited.limitResponse.type is Limited')];
  return validateQueuing(at, queuing);
}

function validateQueuing(path: Path, { queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration): FieldError[] {
  const errors: FieldError[] = [];
  const addError = (field: string, value: number, detail: string) => errors.push(FieldError.invalid(path.child(field), value, detail));
  if (queueLengthLimit <= 0) addError('queueLengthLimit', queueLengthLimit, 'must be positive');
  if (queues <= 0) addError('queues', queues, 'must be positive');
  else if (queues > MAX_QUEUES) addError('queues', queues, `must not be greater than ${MAX_QUEUES}`);
  if (handSize <= 0) addError('handSize', handSize, 'must be positive');
  else if (handSize > queues) addError('handSize', handSize, `should not be greater than queues (${queues})`);
  else if (entropyBits(queues, handSize) > MAX_HASH_BITS) {
    const detail = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${MAX_HASH_BITS}`;
    addError('handSize', handSize, detail);
  }
  return errors;
}

/** The entropy of shuffle sharding: one digit per card, in the base of the number of remaining cards. */
function entropyBits(deckSize: number, handSize: number): number {
  return Math.ceil(Math.log2(deckSize) * handSize);
}
