import { apiregistration, core, flowcontrol, type Kind, networking, rbac, scheduling } from '#api';
import type { Clock, Logger } from '#base';
import type { Client, Draft, Identified, ResourceClient, WriteOptions } from '#client';
import { deepEqual, formatTime, isStatusReason } from '#machinery';
import type { RequestHeaderConfig } from '../authn/request-header.ts';
import { reconcileRbac } from '../authz/rbac/reconcile-rbac.ts';
import type { ResourceTable } from '../registry/generic/resource-table.ts';
import { DEFAULT_FLOW_SCHEMAS, DEFAULT_PRIORITY_LEVELS } from './flow-control-defaults.ts';
import { getIfExists } from './get-if-exists.ts';
import { publishServers } from './kubernetes-endpoints.ts';
import { kubernetesService, kubernetesServiceCidr, kubernetesServiceIp } from './kubernetes-service.ts';
import { builtInApiServices, isManagedOnStart, localAvailability } from './local-api-services.ts';
import { DEFAULT_RBAC_POLICY } from './rbac-policy.ts';
import { extensionAuthentication, legacyTokenTracking, mergedAuthentication } from './system-config-maps.ts';
import { SYSTEM_NAMESPACES } from './system-namespaces.ts';
import { SYSTEM_PRIORITY_CLASSES } from './system-priority-classes.ts';

export interface SystemObjectsOptions {
  readonly serviceCidrs: readonly string[];
  /** The address and port under which clients reach this server. */
  readonly advertise: { readonly address: string; readonly port: number };
  /** Whether several servers share the store: leases then announce each of them. */
  readonly sharesStore: boolean;
  /** PEM of the client CAs. */
  readonly clientAuthorities?: readonly string[];
  /** The front proxies that aggregated servers may trust. */
  readonly requestHeader?: RequestHeaderConfig;
}

export interface SystemObjectsDeps {
  /** Objects of unserved resources are skipped. */
  readonly table: Pick<ResourceTable, 'find' | 'storage' | 'versions'>;
  /** A privileged client. */
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
}

const FLOW_CONTROL: WriteOptions = { fieldManager: 'api-priority-and-fairness-config-producer-v1' };

/**
 * Creates the objects that every cluster has. Existing ones stay, except that RBAC objects are reconciled. Rejects if an object could not be
 * written, after trying all others.
 */
export async function ensureSystemObjects(options: SystemObjectsOptions, deps: SystemObjectsDeps): Promise<void> {
  const { client, clock, logger, table } = deps;
  const isServed = ({ group, version, resource }: Kind<unknown>) => table.find(group, version, resource) !== undefined;
  const ensure = async <T extends Identified>(kind: Kind<T>, objects: readonly object[], options: WriteOptions = {}) => {
    if (isServed(kind)) await createMissing(deps, kind, { objects: objects as readonly Draft<T>[], options });
  };
  // Each step waits only for what it needs: every write waits for the disk.
  const namespaces = ensureNamespaces(deps);
  const ground = all([namespaces, ensure(networking.ServiceCIDR, [kubernetesServiceCidr(options.serviceCidrs)])]);
  await all([
    ground.then(() => publishKubernetesService(options, deps)),
    namespaces.then(() => ensure(core.ConfigMap, [legacyTokenTracking(clock.now())])),
    namespaces.then(() => publishAuthorities(client, options)),
    namespaces.then(() => (isServed(rbac.ClusterRole) ? reconcileRbac(client, DEFAULT_RBAC_POLICY, logger) : undefined)),
    ensure(scheduling.PriorityClass, SYSTEM_PRIORITY_CLASSES),
    ensure(flowcontrol.PriorityLevelConfiguration, DEFAULT_PRIORITY_LEVELS, FLOW_CONTROL).then(() =>
      ensure(flowcontrol.FlowSchema, DEFAULT_FLOW_SCHEMAS, FLOW_CONTROL),
    ),
    ensureApiServices(deps),
  ]);
}

/** Waits for all steps, also if some fail. */
async function all(steps: readonly Promise<unknown>[]): Promise<void> {
  const failures = (await Promise.allSettled(steps)).flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  if (failures.length > 0) throw new AggregateError(failures, (failures[0] as Error).message);
}

/** Removes registrations of versions that are no longer served. */
async function ensureApiServices(deps: SystemObjectsDeps): Promise<void> {
  const { client, clock, table } = deps;
  const services = client.of(apiregistration.APIService);
  const isServed = ({ spec }: { readonly spec?: apiregistration.APIServiceSpec }) =>
    table.versions(spec?.group ?? '').includes(spec?.version ?? '');
  const served = builtInApiServices().filter(isServed);
  const objects = served.map((service) => withAvailability(service, clock) as Draft<apiregistration.APIService>);
  await createMissing(deps, apiregistration.APIService, { objects });
  const stale = (await services.list()).items.filter((service) => isManagedOnStart(service.metadata.labels) && !isServed(service));
  await all(stale.map(({ metadata }) => services.delete(metadata)));
}

/** The objects that are recreated if they are deleted while the server runs. */
export async function ensureRestoredObjects(options: SystemObjectsOptions, deps: SystemObjectsDeps): Promise<void> {
  await ensureNamespaces(deps);
  await publishKubernetesService(options, deps);
}

async function ensureNamespaces(deps: SystemObjectsDeps): Promise<void> {
  await createMissing(deps, core.Namespace, { objects: SYSTEM_NAMESPACES.map((name) => ({ metadata: { name } })) });
}

function withAvailability(service: object, clock: Clock): object {
  return { ...service, status: { conditions: [localAvailability(formatTime(clock.now()))] } };
}

/** Asks the cache first: at every start but the first, all of them exist, and a rejected create costs as much as one that succeeds. */
async function createMissing<T extends Identified>(
  { client, table }: SystemObjectsDeps,
  kind: Kind<T>,
  { objects, options }: { readonly objects: readonly Draft<T>[]; readonly options?: WriteOptions },
): Promise<void> {
  const storage = table.storage(kind.group, kind.version, kind.resource);
  await storage.cache.start();
  const isMissing = ({ metadata }: Draft<T>) => {
    const { namespace = '', name = '' } = metadata as { readonly namespace?: string; readonly name?: string };
    return storage.cache.get(storage.keyOf(namespace, name)) === undefined;
  };
  await all(objects.filter(isMissing).map((object) => createIfMissing(client.of(kind), object, options)));
}

async function createIfMissing<T extends Identified>(
  client: ResourceClient<T>,
  object: Draft<T>,
  options: WriteOptions = {},
): Promise<void> {
  try {
    await client.create(object, options);
  } catch (error) {
    if (!isStatusReason(error, 'AlreadyExists')) throw error;
  }
}

/** Servers on one store may trust different CAs: each adds its own. */
async function publishAuthorities(client: Client, { clientAuthorities = [], requestHeader }: SystemObjectsOptions): Promise<void> {
  const configMaps = client.of(core.ConfigMap);
  const desired = extensionAuthentication(clientAuthorities, requestHeader);
  const addTo = async (current: core.ConfigMap & Identified) => {
    const data = mergedAuthentication(current.data ?? {}, desired.data ?? {});
    if (!deepEqual(data, current.data ?? {})) await configMaps.update({ ...current, data });
  };
  const current = await getIfExists(configMaps, desired.metadata);
  if (current !== undefined) return addTo(current);
  try {
    await configMaps.create(desired);
  } catch (error) {
    if (!isStatusReason(error, 'AlreadyExists')) throw error;
    await addTo(await configMaps.get(desired.metadata));
  }
}

/** The `kubernetes` service and its endpoints. */
async function publishKubernetesService(
  { serviceCidrs, advertise, sharesStore }: SystemObjectsOptions,
  deps: SystemObjectsDeps,
): Promise<void> {
  const { address, port } = advertise;
  const clusterIP = kubernetesServiceIp(serviceCidrs[0]!);
  await ensureService(deps, kubernetesService({ clusterIP, port: 443, targetPort: port }) as Draft<core.Service & Identified>);
  if (!sharesStore) await publishServers(deps.client, { addresses: [address], port });
}

/** The retries while another server creates the service. */
const ATTEMPTS = 50;
const PAUSE_MS = 100;

/**
 * Reads first: creating the service again would fail because its own address is taken. A server that starts at the same time claims the
 * address before it writes the service, so this waits for it.
 */
async function ensureService({ client, clock }: SystemObjectsDeps, service: Draft<core.Service & Identified>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    if ((await getIfExists(client.of(core.Service), service.metadata ?? {})) !== undefined) return;
    try {
      return await createIfMissing(client.of(core.Service), service);
    } catch (error) {
      if (attempt === ATTEMPTS || !isStatusReason(error, 'Invalid')) throw error;
    }
    await clock.sleep(PAUSE_MS);
  }
}
