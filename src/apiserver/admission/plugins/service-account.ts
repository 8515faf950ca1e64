import { core } from '#api';
import { type MaybePromise, mapMaybePromise } from '#base';
import { changeOnceWith, type NameSlot, withOwnName } from '#machinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { TOKEN_VOLUME_NAMES } from '../plugin-order.ts';
import { type MountableSecrets, secretReferenceProblem } from './mountable-secrets.ts';
import { isAboutPods, type PluginDeps, pluginForbiddenError, readObject } from './plugin-deps.ts';

type Pod = core.Pod;
type PodSpec = core.PodSpec;
type ServiceAccount = core.ServiceAccount;

const MIRROR = 'kubernetes.io/config.mirror';
const ENFORCE = 'kubernetes.io/enforce-mountable-secrets';
const VOLUME_PREFIX = 'kube-api-access-';
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
/** 3607 seconds marks tokens that this plugin requested: their use after one hour only warns. */
const TOKEN_SECONDS = 3607;
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
/** The default account of a new namespace is created by a controller, which may take a moment. */
const DEFAULT_ATTEMPTS = 10;

/** Sets the service account of pods, and mounts its token. */
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
      return mapMaybePromise(demandAccount(attributes, deps, name), (account) => {
        const changed = { ...pod, spec: withAccount(pod.spec!, account) };
        // Checked here and in `validate`, as upstream does: such pods are rejected before other plugins see them.
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

function demandAccount(attributes: AdmissionAttributes, deps: PluginDeps, name: string): MaybePromise<ServiceAccount> {
  return mapMaybePromise(readAccount(attributes, deps, name), (account) => account ?? awaitAccount(attributes, deps, name));
}

function readAccount({ namespace }: AdmissionAttributes, deps: PluginDeps, name: string): MaybePromise<ServiceAccount | undefined> {
  return readObject(deps, { group: '', resource: 'serviceaccounts' }, { namespace, name }) as MaybePromise<ServiceAccount | undefined>;
}

async function awaitAccount(attributes: AdmissionAttributes, deps: PluginDeps, name: string): Promise<ServiceAccount> {
  const attempts = name === 'default' ? DEFAULT_ATTEMPTS : 1;
  for (let attempt = 1; attempt < attempts; attempt++) {
    await deps.clock.sleep(100 + deps.random.int(100), attributes.signal);
    const account = await readAccount(attributes, deps, name);
    if (account !== undefined) return account;
  }
  throw pluginForbiddenError(
    attributes,
    `error looking up service account ${attributes.namespace}/${name}: serviceaccount "${name}" not found`,
  );
}

/** The name of the token volume is random per pod; everything else is equal for pods of one template. */
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

const TOKEN_VOLUME: NameSlot<PodSpec> = {
  placeholder: `${VOLUME_PREFIX}xxxxx`,
  rename: (spec, name) => ({
    ...spec,
    containers: spec.containers.map((container) => withMountOf(container, name)),
    ...(spec.initContainers && { initContainers: spec.initContainers.map((container) => withMountOf(container, name)) }),
    volumes: spec.volumes!.map((volume) => withName(volume, name)),
  }),
};

function withMountOf(container: core.Container, name: string): core.Container {
  const { volumeMounts } = container;
  return volumeMounts ? { ...container, volumeMounts: volumeMounts.map((mount) => withName(mount, name)) } : container;
}

/** Compared by identity: a pod may have its own volume with the placeholder's name. */
function withName<T extends object>(part: T, name: string): T {
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

/** Adds the token mount to containers that have nothing mounted at its path. */
function mounted(containers: readonly core.Container[], mount: core.VolumeMount): readonly core.Container[] {
  const lacks = ({ volumeMounts }: core.Container) => !volumeMounts?.some(({ mountPath }) => mountPath === MOUNT_PATH);
  if (!containers.some(lacks)) return containers;
  return containers.map((container) =>
    lacks(container) ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), mount] } : container,
  );
}

/** Shared by all pods. */
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

function checkSecrets(attributes: AdmissionAttributes, deps: PluginDeps): MaybePromise<void> {
  const pod = attributes.object as Pod;
  if (attributes.operation === 'CREATE' && isMirror(pod)) return checkMirror(attributes, pod);
  const name = pod.spec?.serviceAccountName ?? '';
  if (name === '')
    throw pluginForbiddenError(attributes, `no service account specified for pod ${attributes.namespace}/${pod.metadata.name}`);
  return mapMaybePromise(demandAccount(attributes, deps, name), (account) => checkReferences(attributes, pod, account));
}

function checkReferences(attributes: AdmissionAttributes, pod: Pod, account: ServiceAccount): void {
  if (!/^(1|t|true)$/i.test(account.metadata.annotations?.[ENFORCE] ?? '')) return;
  const isEphemeral = attributes.subresource === 'ephemeralcontainers';
  const problem = secretReferenceProblem(pod, mountableSecrets(account), isEphemeral);
  // Upstream returns 500 for these.
  if (problem !== undefined) throw isEphemeral ? new Error(problem) : pluginForbiddenError(attributes, problem);
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

/** A mirror pod must refer to no API objects. */
function checkMirror(attributes: AdmissionAttributes, pod: Pod): undefined {
  const { spec } = pod;
  if (spec?.serviceAccountName) throw pluginForbiddenError(attributes, 'a mirror pod may not reference service accounts');
  if (core.podSecretNames(pod).length > 0) throw pluginForbiddenError(attributes, 'a mirror pod may not reference secrets');
  const projects = spec?.volumes?.some(({ projected }) => projected?.sources?.some((source) => source.serviceAccountToken !== undefined));
  if (projects) throw pluginForbiddenError(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
}
