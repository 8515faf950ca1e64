import { lookupTable, pushAll } from '#base';

type Args = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => string | undefined;

const integer =
  (min: number, max: number): Check =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? undefined
      : `must be a whole number from ${min} to ${max}`;
const bool: Check = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false');
const anyObject: Check = (value) => (typeof value === 'object' && value !== null ? undefined : 'must be an object');
const texts: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? undefined : 'must be a list of strings';
const oneOf =
  (...allowed: readonly string[]): Check =>
  (value) =>
    allowed.includes(value as string) ? undefined : `must be ${allowed.join(' or ')}`;

/** Decoders of plugin arguments; plugins not listed take none. */
const ARGUMENTS = lookupTable<Readonly<Record<string, Check>>>({
  DefaultPreemption: { minCandidateNodesPercentage: integer(0, 100), minCandidateNodesAbsolute: integer(0, 2 ** 31 - 1) },
  InterPodAffinity: { hardPodAffinityWeight: integer(0, 100), ignorePreferredTermsOfExistingPods: bool },
  NodeAffinity: { addedAffinity: anyObject },
  NodeResourcesFit: { ignoredResources: texts, ignoredResourceGroups: texts, scoringStrategy: checkStrategy },
  NodeResourcesBalancedAllocation: { resources: checkResources },
  PodTopologySpread: { defaultConstraints: checkConstraints, defaultingType: oneOf('System', 'List') },
  VolumeBinding: { bindTimeoutSeconds: integer(0, 2 ** 31 - 1), shape: checkShape },
});

/** Errors in a plugin's arguments, each with its path. */
export function validatePluginArgs(plugin: string, args: Args): string[] {
  const { apiVersion: _, kind, ...rest } = args;
  const schema = ARGUMENTS[plugin] ?? {};
  const problems = kind === undefined || kind === `${plugin}Args` ? [] : [`kind: must be ${plugin}Args`];
  for (const [name, value] of Object.entries(rest)) {
    const check = schema[name];
    const problem = check === undefined ? 'unknown field' : value === undefined || value === null ? undefined : check(value);
    if (problem !== undefined) problems.push(`${name}: ${problem}`);
  }
  if (plugin === 'PodTopologySpread') pushAll(problems, checkDefaulting(args));
  return problems;
}

function checkDefaulting({ defaultingType = 'System', defaultConstraints }: Args): string[] {
  const isSet = Array.isArray(defaultConstraints) && defaultConstraints.length > 0;
  return defaultingType === 'System' && isSet ? ["defaultConstraints: must be empty when defaultingType is 'System'"] : [];
}

function checkStrategy(value: unknown): string | undefined {
  const { type, resources, requestedToCapacityRatio } = (value ?? {}) as Args;
  const wrongType = type === undefined ? undefined : oneOf('LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio')(type);
  if (wrongType !== undefined) return `type ${wrongType}`;
  const wrongResources = resources === undefined ? undefined : checkResources(resources);
  if (wrongResources !== undefined) return `resources ${wrongResources}`;
  if (type !== 'RequestedToCapacityRatio') return undefined;
  return checkShape((requestedToCapacityRatio as Args | undefined)?.shape);
}

function checkResources(value: unknown): string | undefined {
  const isValid = (entry: Args) =>
    typeof entry?.name === 'string' && (entry.weight === undefined || integer(1, 100)(entry.weight) === undefined);
  return Array.isArray(value) && value.every(isValid) ? undefined : 'must be a list of names with weights from 1 to 100';
}

function checkConstraints(value: unknown): string | undefined {
  const isValid = ({ topologyKey, maxSkew, whenUnsatisfiable, labelSelector }: Args) =>
    typeof topologyKey === 'string' &&
    integer(1, 2 ** 31 - 1)(maxSkew) === undefined &&
    (whenUnsatisfiable === 'DoNotSchedule' || whenUnsatisfiable === 'ScheduleAnyway') &&
    labelSelector === undefined;
  return Array.isArray(value) && value.every(isValid)
    ? undefined
    : 'each needs topologyKey, maxSkew above 0, whenUnsatisfiable, and no labelSelector';
}

function checkShape(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return 'shape must have at least one point';
  const points = value as readonly Args[];
  if (points.some(({ utilization, score }) => integer(0, 100)(utilization) !== undefined || integer(0, 10)(score) !== undefined)) {
    return 'shape has a point whose utilization is not from 0 to 100 or whose score is not from 0 to 10';
  }
  const sorted = points.every((point, i) => i === 0 || (point.utilization as number) > (points[i - 1]?.utilization as number));
  return sorted ? undefined : 'shape must be sorted by utilization, without repetition';
}
