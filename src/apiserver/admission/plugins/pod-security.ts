import type { core, meta } from '#api';
import { lookupTable, type MaybePromise, mapMaybePromise } from '#base';
import { aggregateFieldErrors, StatusError } from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { forbid, type PluginDeps, readObject, readObjects } from './plugin-deps.ts';
import { reasonsText, type Standard, standardText, violationsOf, violationsText } from './pod-security/evaluate.ts';
import { isStricter, policyOf } from './pod-security/namespace-policy.ts';
import type { CheckedPod } from './pod-security/pod-check.ts';

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

/** Enforces the pod security standards in the namespace's labels. */
export function podSecurity(deps: PluginDeps): AdmissionPlugin {
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

function checkPod(attributes: AdmissionAttributes, deps: PluginDeps): MaybePromise<void> {
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

function evaluate(attributes: AdmissionAttributes, deps: PluginDeps, evaluation: Evaluation): MaybePromise<void> {
  const key = { namespace: '', name: attributes.namespace };
  return mapMaybePromise(readObject(deps, { group: '', resource: 'namespaces' }, key), (object) =>
    evaluateIn(attributes, object, evaluation),
  );
}

function evaluateIn(attributes: AdmissionAttributes, namespaceObject: KubeObject | undefined, { pod, isEnforced }: Evaluation): void {
  const { namespace, warn, audit } = attributes;
  if (namespaceObject === undefined) throw StatusError.internalError(new Error(`failed to lookup namespace "${namespace}"`));
  const { policy, errors } = policyOf(namespaceObject.metadata.labels);
  if (errors.length > 0) audit?.annotate(`${AUDIT_PREFIX}error`, `Failed to parse policy: ${aggregateFieldErrors(errors)}`);
  if (isEnforced) audit?.annotate(`${AUDIT_PREFIX}enforce-policy`, standardText(policy.enforce));
  const audited = audit && broken(pod, policy.audit);
  if (audited !== undefined) audit?.annotate(`${AUDIT_PREFIX}audit-violations`, `would violate ${audited}`);
  const enforced = isEnforced ? broken(pod, policy.enforce) : undefined;
  if (enforced !== undefined) throw forbid(attributes, `violates ${enforced}`);
  const warned = broken(pod, policy.warn);
  if (warned !== undefined) warn(`would violate ${warned}`);
}

function broken(pod: CheckedPod, standard: Standard): string | undefined {
  const violations = violationsOf(pod, standard);
  return violations.length === 0 ? undefined : `PodSecurity "${standardText(standard)}": ${violationsText(violations)}`;
}

/** Validates the labels. A stricter level warns about running pods that violate it. */
async function checkNamespace(attributes: AdmissionAttributes, deps: PluginDeps): Promise<void> {
  const { operation, object, oldObject, warn } = attributes;
  const namespace = object as KubeObject;
  const { policy, errors } = policyOf(namespace.metadata.labels);
  const old = operation === 'UPDATE' ? policyOf((oldObject as KubeObject).metadata.labels) : undefined;
  const isUnchanged = old !== undefined && aggregateFieldErrors(errors) === aggregateFieldErrors(old.errors);
  if (errors.length > 0 && !isUnchanged) throw StatusError.invalid({ group: '', kind: 'Namespace' }, namespace.metadata.name, errors);
  if (old === undefined || !isTightened(policy.enforce, old.policy.enforce)) return;
  for (const warning of await podWarnings(namespace.metadata.name, policy.enforce, deps)) warn(warning);
}

function isTightened(now: Standard, before: Standard): boolean {
  if (now.level === 'privileged') return false;
  return now.version === before.version ? isStricter(now.level, before.level) : true;
}

async function podWarnings(namespace: string, standard: Standard, deps: PluginDeps): Promise<readonly string[]> {
  const pods = onePerController((await readObjects(deps, { group: '', resource: 'pods' }, namespace)) as unknown as readonly core.Pod[]);
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
