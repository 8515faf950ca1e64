import type { core } from '#api';
import { type Soon, whenKnown } from '#base';
import { changeOnceWith, type Naming, withOwnName } from '#machinery';
import { podSecretNames } from '../../authz/node/pod-references.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { TOKEN_VOLUME_NAMES } from '../plugin-order.ts';
import { type MountableSecrets, secretReferenceProblem } from './mountable-secrets.ts';
import { forbid, isAboutPods, type PluginDeps, readObject } from './plugin-deps.ts';

type Pod = core.Pod;
type PodSpec = core.PodSpec;
type ServiceAccount = core.ServiceAccount;

const MIRROR = 'kubernetes.io/config.mirror';
const ENFORCE = 'kubernetes.io/enforce-mountable-secrets';
const VOLUME_PREFIX = 'kube-api-access-';
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
/** An hour and seven seconds: a lifetime that tells tokens made by this plugin, whose use past an hour only warns. */
const TOKEN_SECONDS = 3607;
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
/** The default account of a new namespace is made by a controller, which may need a moment. */
const DEFAULT_ATTEMPTS = 10;

/** Every pod runs as a service account, and gets a token for it. */
export function serviceAccount(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'ServiceAccount',
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    admit: (attributes) => {
      if (!isAboutPods(attributes) || attributes.operation !== 'CREATE') return undefined;
      const pod = attributes.object as Pod;
      if (isMirror(pod)) return checkMirror(attributes, pod);
      const name = pod.spec?.serviceAccountName || 'default';
      return whenKnown(demandAccount(attributes, deps, name), (account) => {
        const changed = { ...pod, spec: withAccount(pod.spec!, account) };
        // Now as well as at the end, as upstream: a pod that is refused for this is refused before others look at it.
        checkReferences(attributes, changed, account);
        return changed;
      });
    },
    validate: (attributes) => {
      if (!isAboutPods(attributes, 'ephemeralcontainers')) return undefined;
      const isChecked = attributes.operation === 'CREATE' || attributes.subresource === 'ephemeralcontainers';
      return isChecked ? checkSecrets(attributes, deps) : undefined;
    },
  };
}

function demandAccount(attributes: AdmissionAttributes, deps: PluginDeps, name: string): Soon<ServiceAccount> {
  return whenKnown(readAccount(attributes, deps, name), (found) => found ?? awaitAccount(attributes, deps, name));
}

function readAccount({ namespace }: AdmissionAttributes, deps: PluginDeps, name: string): Soon<ServiceAccount | undefined> {
  return readObject(deps, { group: '', resource: 'serviceaccounts' }, { namespace, name }) as Soon<ServiceAccount | undefined>;
}

async function awaitAccount(attributes: AdmissionAttributes, deps: PluginDeps, name: string): Promise<ServiceAccount> {
  const attempts = name === 'default' ? DEFAULT_ATTEMPTS : 1;
  for (let attempt = 1; attempt < attempts; attempt++) {
    await deps.clock.sleep(100 + deps.random.int(100), attributes.signal);
    const found = await readAccount(attributes, deps, name);
    if (found !== undefined) return found;
  }
  throw forbid(attributes, `error looking up service account ${attributes.namespace}/${name}: serviceaccount "${name}" not found`);
}

/** Each pod has its own name for the volume with the token; but for that, what pods of one template get is the same. */
export function tokenVolumeNames({ random }: PluginDeps): AdmissionPlugin {
  return {
    name: TOKEN_VOLUME_NAMES,
    operations: ['CREATE'],
    resources: ['pods'],
    admit: ({ object, subresource }) => {
      const pod = object as Pod;
      if (subresource !== '' || pod.spec?.volumes?.at(-1) !== NAMELESS_VOLUME) return undefined;
      return { ...pod, spec: withOwnName(pod.spec, TOKEN_VOLUME, VOLUME_PREFIX + random.string(SUFFIX_ALPHABET, 5)) };
    },
  };
}

const TOKEN_VOLUME: Naming<PodSpec> = {
  placeholder: `${VOLUME_PREFIX}xxxxx`,
  rename: (spec, name) => ({
    ...spec,
    containers: spec.containers.map((container) => withMountOf(container, name)),
    ...(spec.initContainers && { initContainers: spec.initContainers.map((container) => withMountOf(container, name)) }),
    volumes: spec.volumes!.map((volume) => named(volume, name)),
  }),
};

function withMountOf(container: core.Container, name: string): core.Container {
  const { volumeMounts } = container;
  return volumeMounts ? { ...container, volumeMounts: volumeMounts.map((mount) => named(mount, name)) } : container;
}

/** By identity: pods may come with a volume of the placeholder's name. */
function named<T extends object>(part: T, name: string): T {
  return part === NAMELESS_VOLUME || part === NAMELESS_MOUNT ? { ...part, name } : part;
}

const withAccount = changeOnceWith((spec: PodSpec, account: ServiceAccount): PodSpec => {
  const { name } = account.metadata;
  const secrets = spec.imagePullSecrets?.length ? {} : pullSecrets(account);
  const owned = { ...spec, serviceAccountName: name, serviceAccount: name, ...secrets };
  const wantsToken = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
  return wantsToken ? withToken(owned) : owned;
});

function pullSecrets({ imagePullSecrets }: ServiceAccount) {
  return imagePullSecrets?.length ? { imagePullSecrets: imagePullSecrets.map(({ name }) => ({ name: name ?? '' })) } : {};
}

function withToken(spec: PodSpec): PodSpec {
  const present = spec.volumes?.find(({ name }) => name.startsWith(VOLUME_PREFIX))?.name;
  const mount = present === undefined ? NAMELESS_MOUNT : { ...NAMELESS_MOUNT, name: present };
  const containers = mounted(spec.containers ?? [], mount);
  const initContainers = spec.initContainers && mounted(spec.initContainers, mount);
  if (containers === (spec.containers ?? containers) && initContainers === spec.initContainers) return spec;
  const volumes = present === undefined ? [...(spec.volumes ?? []), NAMELESS_VOLUME] : spec.volumes!;
  return { ...spec, containers, ...(initContainers && { initContainers }), volumes };
}

/** Containers with the token mounted, but for those that have something at its place already. */
function mounted(containers: readonly core.Container[], mount: core.VolumeMount): readonly core.Container[] {
  const lacks = ({ volumeMounts }: core.Container) => !volumeMounts?.some(({ mountPath }) => mountPath === MOUNT_PATH);
  if (!containers.some(lacks)) return containers;
  return containers.map((container) =>
    lacks(container) ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), mount] } : container,
  );
}

/** One for all pods: it is the same in each. */
const TOKEN: core.ProjectedVolumeSource = {
  sources: [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
  ],
  defaultMode: 0o644,
};

const NAMELESS_VOLUME: core.Volume = { name: TOKEN_VOLUME.placeholder, projected: TOKEN };
const NAMELESS_MOUNT: core.VolumeMount = { name: TOKEN_VOLUME.placeholder, readOnly: true, mountPath: MOUNT_PATH };

function checkSecrets(attributes: AdmissionAttributes, deps: PluginDeps): Soon<void> {
  const pod = attributes.object as Pod;
  if (attributes.operation === 'CREATE' && isMirror(pod)) return checkMirror(attributes, pod);
  const name = pod.spec?.serviceAccountName ?? '';
  if (name === '') throw forbid(attributes, `no service account specified for pod ${attributes.namespace}/${pod.metadata.name}`);
  return whenKnown(demandAccount(attributes, deps, name), (account) => checkReferences(attributes, pod, account));
}

function checkReferences(attributes: AdmissionAttributes, pod: Pod, account: ServiceAccount): void {
  if (!/^(1|t|true)$/i.test(account.metadata.annotations?.[ENFORCE] ?? '')) return;
  const isEphemeral = attributes.subresource === 'ephemeralcontainers';
  const problem = secretReferenceProblem(pod, mountableSecrets(account), isEphemeral);
  // Upstream does not say that these are forbidden, so that they fail as an error of the server.
  if (problem !== undefined) throw isEphemeral ? new Error(problem) : forbid(attributes, problem);
}

function mountableSecrets(account: ServiceAccount): MountableSecrets {
  return {
    account: account.metadata.name,
    secrets: new Set(account.secrets?.map(({ name }) => name ?? '')),
    pullSecrets: new Set(account.imagePullSecrets?.map(({ name }) => name ?? '')),
  };
}

function isMirror({ metadata }: Pod): boolean {
  return metadata.annotations?.[MIRROR] !== undefined;
}

/** A mirror pod stands for a pod that a node runs by itself, with nothing of the API's. */
function checkMirror(attributes: AdmissionAttributes, pod: Pod): undefined {
  const { spec } = pod;
  if (spec?.serviceAccountName) throw forbid(attributes, 'a mirror pod may not reference service accounts');
  if (podSecretNames(pod).length > 0) throw forbid(attributes, 'a mirror pod may not reference secrets');
  const projects = spec?.volumes?.some(({ projected }) => projected?.sources?.some((source) => source.serviceAccountToken !== undefined));
  if (projects) throw forbid(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
}
