import { checkDns1123Subdomain, checkDns1123SubdomainCaseless, FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { immutable, sameValue } from '../../field-checks.ts';
import { FieldReport } from '../../field-report.ts';
import { validateConditions } from '../../meta/v1/condition.validation.ts';
import { FIELD_IS_IMMUTABLE, validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { PoolStatus, ResourcePoolStatusRequest } from './resource-pool-status-request.ts';

type Request = ResourcePoolStatusRequest;

const META = { namespaced: false, nameRule: nameIsDnsSubdomain };
const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const MAX_LIMIT = 1000;
const MAX_POOLS = 1000;
const MAX_CONDITIONS = 10;
const MAX_ERROR_BYTES = 256;
const MAX_POOL_NAME = 253;

export function validateResourcePoolStatusRequest({ metadata, spec }: Request): FieldError[] {
  const errors = validateObjectMeta(metadata, META);
  const at = FieldReport.on(SPEC, errors);
  validateDriver(spec?.driver, at.child('driver'));
  if (spec?.poolName !== undefined) validatePool(spec.poolName, at.child('poolName'));
  if (spec?.limit === undefined) at.child('limit').required();
  else if (spec.limit > MAX_LIMIT) at.child('limit').invalid(spec.limit, `must be less than or equal to ${MAX_LIMIT}`);
  else atLeast(1, spec.limit, at.child('limit'));
  return errors;
}

export function validateResourcePoolStatusRequestUpdate({ metadata, spec }: Request, old: Request): FieldError[] {
  const errors = validateObjectMetaUpdate(metadata, old.metadata);
  if (!sameValue(spec, old.spec)) errors.push(FieldError.invalid(SPEC, null, FIELD_IS_IMMUTABLE));
  return errors;
}

/** A status is set once. */
export function validateResourcePoolStatusRequestStatus({ metadata, status }: Request, old: Request): FieldError[] {
  const errors = validateObjectMetaUpdate(metadata, old.metadata);
  if (old.status) return [...errors, ...immutable(STATUS, { value: status, old: old.status })];
  if (!status) return errors;
  const { poolCount, pools = [], conditions = [] } = status;
  const at = FieldReport.on(STATUS, errors);
  at.add(validateConditions(conditions, STATUS.child('conditions')));
  if (poolCount === undefined) at.child('poolCount').required();
  else atLeast(0, poolCount, at.child('poolCount'));
  if (pools.length > MAX_POOLS) at.child('pools').tooMany(pools.length, MAX_POOLS);
  else for (const [i, pool] of pools.entries()) validatePoolStatus(pool, at.child('pools').index(i));
  if (conditions.length > MAX_CONDITIONS) at.child('conditions').tooMany(conditions.length, MAX_CONDITIONS);
  return errors;
}

function validatePoolStatus(pool: PoolStatus, at: FieldReport): void {
  validateDriver(pool.driver, at.child('driver'));
  if (pool.poolName) validatePool(pool.poolName, at.child('poolName'));
  else at.child('poolName').required();
  if (!pool.generation) at.child('generation').required();
  else atLeast(0, pool.generation, at.child('generation'));
  atLeast(1, pool.resourceSliceCount, at.child('resourceSliceCount'));
  for (const count of ['totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices'] as const) {
    atLeast(0, pool[count], at.child(count));
  }
  if (pool.nodeName !== undefined) at.child('nodeName').problems(pool.nodeName, checkDns1123Subdomain(pool.nodeName));
  if (Buffer.byteLength(pool.validationError ?? '') > MAX_ERROR_BYTES) at.child('validationError').tooLong(MAX_ERROR_BYTES);
}

function validateDriver(driver: string | undefined, at: FieldReport): void {
  if (driver) at.problems(driver, checkDns1123SubdomainCaseless(driver));
  else at.required();
}

function validatePool(name: string, at: FieldReport): void {
  if (Buffer.byteLength(name) > MAX_POOL_NAME) at.tooLong(MAX_POOL_NAME);
  for (const [i, part] of name.split('/').entries()) {
    if (part === '') at.invalid(name, `segment ${i}: must not be empty`);
    else for (const problem of checkDns1123Subdomain(part)) at.invalid(part, `segment ${i}: ${problem}`);
  }
}

function atLeast(min: number, value: number | undefined, at: FieldReport): void {
  if (value !== undefined && value < min) at.invalid(value, `must be greater than or equal to ${min}`);
}
