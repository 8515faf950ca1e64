import { checkDns1123Label, compareBytes, FieldError, Quantity } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';
import type { PodSpec } from '../pod/pod-spec.ts';
import { aggregateContainerResources } from '../resource-list/pod-resources.ts';
import {
  isHugePages,
  isIntegerResource,
  isOvercommitAllowed,
  isPodLevelResource,
  isWholePages,
  POD_LEVEL_RESOURCES,
} from '../resource-list/resource-name.ts';
import { validateContainerResourceName, validateResourceName } from '../resource-list/resource-name.validation.ts';
import type { ResourceClaim, ResourceRequirements } from './resource-requirements.ts';

interface ResourceRules {
  readonly validateName: (name: string, at: FieldReport) => void;
  readonly claimNames: ReadonlySet<string>;
}

const NO_CLAIMS: ReadonlySet<string> = new Set();

export function validateContainerResources(
  requirements: ResourceRequirements,
  at: FieldReport,
  claimNames: ReadonlySet<string> = NO_CLAIMS,
): void {
  validateRequirements(requirements, at, { validateName: validateContainerName, claimNames });
}

function validateContainerName(name: string, at: FieldReport): void {
  if (name === 'cpu' || name === 'memory') return;
  at.add(validateContainerResourceName(at.path, name));
}

function validatePodLevelName(name: string, at: FieldReport): void {
  const errors = validateResourceName(at.path, name);
  at.add(errors);
  if (errors.length === 0 && !isPodLevelResource(name)) at.notSupported(name, POD_LEVEL_RESOURCES);
}

function validateRequirements({ limits, requests, claims }: ResourceRequirements, at: FieldReport, rules: ResourceRules): void {
  const kinds = new Set<'compute' | 'hugepages'>();
  const parsed = new Map<string, Quantity>();
  for (const name in limits) {
    const quantity = Quantity.parse(limits[name] ?? '0');
    parsed.set(name, quantity);
    const field = at.child('limits').key(name);
    validateAmount({ name, quantity }, field, rules);
    validatePages({ name, quantity }, field);
    noteKind(name, kinds);
  }
  for (const name in requests) {
    const quantity = Quantity.parse(requests[name] ?? '0');
    const field = at.child('requests').key(name);
    validateAmount({ name, quantity }, field, rules);
    validateAgainstLimit({ name, quantity }, at, parsed.get(name));
    validatePages({ name, quantity }, field);
    noteKind(name, kinds);
  }
  if (kinds.has('hugepages') && !kinds.has('compute')) at.forbidden('HugePages require cpu or memory');
  if (claims) validateClaims(claims, at.child('claims'), rules.claimNames);
}

function noteKind(name: string, kinds: Set<'compute' | 'hugepages'>): void {
  if (name === 'cpu' || name === 'memory') kinds.add('compute');
  else if (isHugePages(name)) kinds.add('hugepages');
}

interface Amount {
  readonly name: string;
  readonly quantity: Quantity;
}

function validateAmount({ name, quantity }: Amount, at: FieldReport, rules: ResourceRules): void {
  rules.validateName(name, at);
  if (quantity.sign < 0) at.invalid(quantity.toString(), 'must be greater than or equal to 0');
  if (isFractionOfCounted(name, quantity)) at.invalid(quantity.toString(), 'must be an integer');
}

function validatePages({ name, quantity }: Amount, at: FieldReport): void {
  if (!isHugePages(name) || isWholePages(name, quantity)) return;
  at.invalid(quantity.toString(), `${quantity} is not positive integer multiple of ${name}`);
}

// Only resources with a domain can be extended resources in a container; the common ones need no lookup.
function isFractionOfCounted(name: string, quantity: Quantity): boolean {
  return name !== 'cpu' && name !== 'memory' && isIntegerResource(name) && !quantity.roundUp(-3).isMultipleOf(0);
}

function validateAgainstLimit({ name, quantity }: Amount, at: FieldReport, limit: Quantity | undefined): void {
  const mayOvercommit = isOvercommitAllowed(name);
  if (!limit) {
    if (!mayOvercommit) at.child('limits').required('Limit must be set for non overcommitable resources');
    return;
  }
  const order = quantity.compare(limit);
  if (order !== 0 && !mayOvercommit) at.child('requests').invalid(quantity.toString(), `must be equal to ${name} limit of ${limit}`);
  else if (order > 0) at.child('requests').invalid(quantity.toString(), `must be less than or equal to ${name} limit of ${limit}`);
}

function validateClaims(claims: readonly ResourceClaim[], at: FieldReport, claimNames: ReadonlySet<string>): void {
  const seen = new Set<string>();
  claims.forEach((claim, i) => {
    const field = at.index(i);
    if (!claim.name) {
      field.required();
      return;
    }
    validateClaimUnique(claim, field, seen);
    if (!claimNames.has(claim.name)) field.add([unknownClaim(claim.name, field, claimNames)]);
  });
}

function validateClaimUnique({ name, request }: ResourceClaim, at: FieldReport, seen: Set<string>): void {
  if (seen.has(name)) {
    at.duplicate(name);
    return;
  }
  if (request) at.child('request').problems(request, checkDns1123Label(request));
  const key = request ? `${name}/${request}` : name;
  if (seen.has(key)) at.duplicate(key);
  else if (!request) for (const other of seen) if (other.startsWith(`${name}/`)) at.duplicate(name);
  seen.add(key);
}

function unknownClaim(name: string, at: FieldReport, claimNames: ReadonlySet<string>): FieldError {
  const available = claimNames.size === 0 ? ' which is empty' : `: ${[...claimNames].sort(compareBytes).join(', ')}`;
  return FieldError.notFound(at.path, name).prefixDetail(`must be one of the names in pod.spec.resourceClaims${available}`);
}

/** Pod-level resources, and whether they cover those of the containers. */
export function validatePodResources(spec: PodSpec, at: FieldReport, claimNames: ReadonlySet<string>): void {
  const { resources, os } = spec;
  if (!resources) return;
  if (os?.name === 'windows') {
    at.forbidden('may not be set for a windows pod');
    return;
  }
  if (resources.claims) at.child('claims').forbidden('claims may not be set for Resources at pod-level');
  validateRequirements(resources, at, { validateName: validatePodLevelName, claimNames });
  validateCoversContainers(spec, at, resources);
}

function validateCoversContainers(spec: PodSpec, at: FieldReport, { requests = {}, limits = {} }: ResourceRequirements): void {
  for (const [name, total] of aggregateContainerResources(spec, 'requests')) {
    const own = requests[name];
    if (own === undefined || total.compare(Quantity.parse(own)) <= 0) continue;
    at.child('requests').key(name).invalid(own, `must be greater than or equal to aggregate container requests of ${total}`);
  }
  for (const [name, total] of aggregateContainerResources(spec, 'limits')) {
    const own = limits[name];
    if (!isHugePages(name) || own === undefined || total.compare(Quantity.parse(own)) <= 0) continue;
    at.child('limits').key(name).invalid(own, `must be greater than or equal to aggregate container limits of ${total}`);
  }
  validateContainerLimits(spec, at, limits);
}

function validateContainerLimits(spec: PodSpec, at: FieldReport, limits: Readonly<Record<string, string>>): void {
  spec.containers?.forEach(({ resources }, i) => {
    for (const [name, text] of Object.entries(resources?.limits ?? {})) {
      const own = limits[name];
      if (own === undefined || Quantity.parse(text).compare(Quantity.parse(own)) <= 0) continue;
      at.child('containers').index(i).key(name).child('limits').invalid(text, `must be less than or equal to pod limits of ${own}`);
    }
  });
}
