import type { core, meta } from '#api';
import { lookupTable, type MaybePromise, mapMaybePromise } from '#base';
import { aggregateFieldErrors, StatusError } from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type PluginDeps, pluginForbiddenError, readObject, readObjects } from './plugin-deps.ts';
import { reasonsText, type Standard, standardText, violationsOf, violationsText } from './pod-security/evaluate.ts';
import { isStricter, type NamespacePolicy, policyOf } from './pod-security/namespace-policy.ts';
import type { CheckedPod } from './pod-security/pod-check.ts';
import { DEFAULT_POD_SECURITY, type PodSecurityConfiguration } from './pod-security/pod-security-configuration.ts';

const AUDIT_PREFIX = 'pod-security.kubernetes.io/';
/** Subresources that do not affect security, or are checked elsewhere. */
const IGNORED_SUBRESOURCES: ReadonlySet<string> = new Set([
  'exec',
  'attach',
  'binding',
  'eviction',
  'log',
  'portforward',
  'proxy',
  'status',
]);
const MODES = ['enforce', 'audit', 'warn'] as const;
const MAX_PODS = 3000;
const MAX_MS = 1000;

interface Template {
  readonly metadata?: meta.ObjectMeta;
  readonly spec?: core.PodSpec;
}
interface Workload {
  readonly template?: Template;
  readonly spec?: { readonly template?: Template; readonly jobTemplate?: { readonly spec?: { readonly template?: Template } } };
}

const templateOf = ({ spec }: Workload) => spec?.template;

/** The path of the pod template in each workload resource, by `group/resource`. */
const TEMPLATES = lookupTable<(workload: Workload) => Template | undefined>({
  '/podtemplates': ({ template }) => template,
  '/replicationcontrollers': templateOf,
  'apps/replicasets': templateOf,
  'apps/deployments': templateOf,
  'apps/statefulsets': templateOf,
  'apps/daemonsets': templateOf,
  'batch/jobs': templateOf,
  'batch/cronjobs': ({ spec }) => spec?.jobTemplate?.spec?.template,
});

type Deps = PluginDeps & { readonly configuration: PodSecurityConfiguration };

/** Enforces the pod security standards in the namespace's labels. */
export function podSecurity(pluginDeps: PluginDeps, configuration: PodSecurityConfiguration = DEFAULT_POD_SECURITY): AdmissionPlugin {
  const deps: Deps = { ...pluginDeps, configuration };
  return {
    name: 'PodSecurity',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      const { resource, subresource } = attributes;
      const place = `${resource.group}/${resource.resource}`;
      if (place === '/namespaces') return subresource === '' ? checkNamespace(attributes, deps) : undefined;
      if (place === '/pods') return checkPod(attributes, deps);
      const template = subresource === '' ? TEMPLATES[place]?.(attributes.object as Workload) : undefined;
      if (template?.spec === undefined) return undefined;
      return evaluate(attributes, deps, { pod: checkedPod(template), isEnforced: false });
    },
  };
}

function checkedPod({ metadata, spec }: Template): CheckedPod {
  return { annotations: metadata?.annotations ?? {}, spec: spec ?? ({} as core.PodSpec) };
}

function checkPod(attributes: AdmissionAttributes, deps: Deps): MaybePromise<void> {
  const { subresource, operation, object, oldObject } = attributes;
  if (IGNORED_SUBRESOURCES.has(subresource)) return;
  const pod = object as core.Pod;
  if (operation === 'UPDATE' && !changesContainers(pod, oldObject as core.Pod)) return;
  return evaluate(attributes, deps, { pod: checkedPod(pod as Template), isEnforced: true });
}

/** Of the fields that a pod update can change, only images and added ephemeral containers affect security. */
function changesContainers({ spec }: core.Pod, { spec: old }: core.Pod): boolean {
  const images = (containers: readonly core.Container[] = []) => containers.map(({ image = '' }) => image).join('\n');
  if (images(spec?.containers) !== images(old?.containers) || images(spec?.initContainers) !== images(old?.initContainers)) return true;
  return (spec?.ephemeralContainers ?? []).some(
    (container) => old?.ephemeralContainers?.find(({ name }) => name === container.name)?.image !== container.image,
  );
}

interface Evaluation {
  readonly pod: CheckedPod;
  /** Templates only produce warnings: pods created from them are rejected. */
  readonly isEnforced: boolean;
}

function evaluate(attributes: AdmissionAttributes, deps: Deps, evaluation: Evaluation): MaybePromise<void> {
  const exemption = exemptionOf(attributes, evaluation, deps);
  if (exemption !== undefined) return attributes.audit?.annotate(`${AUDIT_PREFIX}exempt`, exemption);
  const key = { namespace: '', name: attributes.namespace };
  return mapMaybePromise(readObject(deps, { group: '', resource: 'namespaces' }, key), (object) =>
    evaluateIn(attributes, object, { ...evaluation, defaults: deps.configuration.defaults }),
  );
}

/** The reason why the request is exempt, in upstream's words. */
function exemptionOf({ namespace, user }: AdmissionAttributes, { pod }: Evaluation, { configuration }: Deps): string | undefined {
  const { namespaces, usernames, runtimeClasses } = configuration.exemptions;
  if (namespaces.has(namespace)) return 'namespace';
  if (usernames.has(user.name)) return 'user';
  return runtimeClasses.has(pod.spec.runtimeClassName ?? '') ? 'runtimeClass' : undefined;
}

function evaluateIn(
  attributes: AdmissionAttributes,
  namespaceObject: KubeObject | undefined,
  { pod, isEnforced, defaults }: Evaluation & { readonly defaults: NamespacePolicy },
): void {
  const { namespace, warn, audit } = attributes;
  if (namespaceObject === undefined) throw StatusError.internalError(new Error(`failed to lookup namespace "${namespace}"`));
  const { policy, errors } = policyOf(namespaceObject.metadata.labels, defaults);
  if (errors.length > 0) audit?.annotate(`${AUDIT_PREFIX}error`, `Failed to parse policy: ${aggregateFieldErrors(errors)}`);
  if (isEnforced) audit?.annotate(`${AUDIT_PREFIX}enforce-policy`, standardText(policy.enforce));
  const audited = audit && broken(pod, policy.audit);
  if (audited !== undefined) audit?.annotate(`${AUDIT_PREFIX}audit-violations`, `would violate ${audited}`);
  const enforced = isEnforced ? broken(pod, policy.enforce) : undefined;
  if (enforced !== undefined) throw pluginForbiddenError(attributes, `violates ${enforced}`);
  const warned = broken(pod, policy.warn);
  if (warned !== undefined) warn(`would violate ${warned}`);
}

function broken(pod: CheckedPod, standard: Standard): string | undefined {
  const violations = violationsOf(pod, standard);
  return violations.length === 0 ? undefined : `PodSecurity "${standardText(standard)}": ${violationsText(violations)}`;
}

/** Validates the labels. A stricter level warns about running pods that violate it. */
async function checkNamespace(attributes: AdmissionAttributes, deps: Deps): Promise<void> {
  const { operation, object, oldObject, warn } = attributes;
  const { defaults, exemptions } = deps.configuration;
  const namespace = object as KubeObject;
  const { policy, errors } = policyOf(namespace.metadata.labels, defaults);
  const old = operation === 'UPDATE' ? policyOf((oldObject as KubeObject).metadata.labels, defaults) : undefined;
  const isUnchanged = old !== undefined && aggregateFieldErrors(errors) === aggregateFieldErrors(old.errors);
  if (errors.length > 0 && !isUnchanged) throw StatusError.invalid({ group: '', kind: 'Namespace' }, namespace.metadata.name, errors);
  if (old !== undefined && !isTightened(policy.enforce, old.policy.enforce)) return;
  if (exemptions.namespaces.has(namespace.metadata.name)) return warnIfIgnored(namespace, policy, attributes, defaults);
  if (old === undefined) return;
  for (const warning of await podWarnings(namespace.metadata.name, policy.enforce, deps)) warn(warning);
}

function isTightened(now: Standard, before: Standard): boolean {
  if (now.level === 'privileged') return false;
  return now.version === before.version ? isStricter(now.level, before.level) : true;
}

/** Warns about the labels of an exempt namespace. */
function warnIfIgnored({ metadata }: KubeObject, policy: NamespacePolicy, { warn }: AdmissionAttributes, defaults: NamespacePolicy): void {
  const strict = MODES.filter((mode) => policy[mode].level !== 'privileged');
  if (MODES.every((mode) => isEquivalent(policy[mode], defaults[mode])) || strict.length === 0) return;
  const isLabelled = (mode: string) => [mode, `${mode}-version`].some((label) => metadata.labels?.[AUDIT_PREFIX + label] !== undefined);
  const ignored = strict.filter(isLabelled).map((mode) => `${mode}=${standardText(policy[mode])}`);
  warn(`namespace "${metadata.name}" is exempt from Pod Security, and the policy (${ignored.join(', ')}) will be ignored`);
}

function isEquivalent(a: Standard, b: Standard): boolean {
  return a.level === b.level && (a.level === 'privileged' || a.version === b.version);
}

async function podWarnings(namespace: string, standard: Standard, deps: Deps): Promise<readonly string[]> {
  const all = (await readObjects(deps, { group: '', resource: 'pods' }, namespace)) as unknown as readonly core.Pod[];
  const { runtimeClasses } = deps.configuration.exemptions;
  const pods = onePerController(all.filter(({ spec }) => !runtimeClasses.has(spec?.runtimeClassName ?? '')));
  const deadline = deps.clock.now() + MAX_MS;
  const byReason = new Map<string, string[]>();
  let checked = 0;
  for (const pod of pods.slice(0, MAX_PODS)) {
    checked++;
    const reasons = reasonsText(violationsOf(checkedPod(pod as Template), standard));
    if (reasons !== '') byReason.set(reasons, [...(byReason.get(reasons) ?? []), pod.metadata.name ?? '']);
    if (deps.clock.now() > deadline) break;
  }
  const warnings: string[] = [];
  if (checked < pods.length) {
    warnings.push(`new PodSecurity enforce level only checked against the first ${checked} of ${pods.length} existing pods`);
  }
  if (byReason.size > 0) {
    warnings.push(`existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${standardText(standard)}"`);
  }
  return [...warnings, ...[...byReason].map(([reasons, names]) => `${whichPods(names)}: ${reasons}`).toSorted()];
}

function whichPods(names: readonly string[]): string {
  const first = names.toSorted()[0]!;
  const others = names.length - 1;
  if (others === 0) return first;
  return `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'})`;
}

/** Pods of one controller are usually equal: one of each is evaluated first. */
function onePerController(pods: readonly core.Pod[]): readonly core.Pod[] {
  const seen = new Set<string>();
  const others: core.Pod[] = [];
  const first = pods.filter((pod) => {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
    if (owner === undefined || !seen.has(owner)) {
      if (owner !== undefined) seen.add(owner);
      return true;
    }
    others.push(pod);
    return false;
  });
  return [...first, ...others];
}
