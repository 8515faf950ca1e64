import { apiregistration, core, flowcontrol, type Kind, networking, scheduling } from '#api';
import type { Clock, Logger } from '#base';
import type { Client, Draft, Identified, ResourceClient, WriteOptions } from '#client';
import { deepEqual, formatTime, isStatusReason } from '#machinery';
import { reconcileRbac } from '../authz/rbac/reconcile-rbac.ts';
import { DEFAULT_FLOW_SCHEMAS, DEFAULT_PRIORITY_LEVELS } from './bootstrap/flow-control-defaults.ts';
import { kubernetesService, kubernetesServiceCidr, kubernetesServiceIp } from './bootstrap/kubernetes-service.ts';
import { builtInApiServices, localAvailability } from './bootstrap/local-api-services.ts';
import { DEFAULT_RBAC_POLICY } from './bootstrap/rbac-policy.ts';
import { extensionAuthentication, legacyTokenTracking, trustedAuthorities } from './bootstrap/system-config-maps.ts';
import { SYSTEM_NAMESPACES } from './bootstrap/system-namespaces.ts';
import { SYSTEM_PRIORITY_CLASSES } from './bootstrap/system-priority-classes.ts';
import { publishServers } from './kubernetes-endpoints.ts';

export interface SystemObjectsOptions {
  readonly serviceCidrs: readonly string[];
  /** Under which address and port others reach this server. */
  readonly advertise: { readonly address: string; readonly port: number };
  /** Other servers may use the store too: then leases tell where they all are. */
  readonly sharesStore: boolean;
  /** PEM of the authorities whose certificates clients may show. */
  readonly clientAuthorities?: readonly string[];
}

export interface SystemObjectsDeps {
  /** May do everything. */
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
}

const FLOW_CONTROL: WriteOptions = { fieldManager: 'api-priority-and-fairness-config-producer-v1' };

/** Makes what every cluster has from its start. What is there already stays as it is, but for roles, which are brought up to date. */
export async function ensureSystemObjects(options: SystemObjectsOptions, deps: SystemObjectsDeps): Promise<void> {
  const { client, clock, logger } = deps;
  const ensure = <T extends Identified>(kind: Kind<T>, objects: readonly object[], options: WriteOptions = {}) =>
    Promise.all(objects.map((object) => createIfMissing(client.of(kind), object as Draft<T>, options)));
  // Each waits for what it needs only: a durable store takes its time for every step.
  const ground = Promise.all([
    ensure(
      core.Namespace,
      SYSTEM_NAMESPACES.map((name) => ({ metadata: { name } })),
    ),
    ensure(networking.ServiceCIDR, [kubernetesServiceCidr(options.serviceCidrs)]),
  ]);
  await Promise.all([
    ground.then(() => publishKubernetesService(options, deps)),
    ground.then(() => ensure(core.ConfigMap, [legacyTokenTracking(clock.now())])),
    ground.then(() => publishAuthorities(client, options.clientAuthorities ?? [])),
    ground.then(() => reconcileRbac(client, DEFAULT_RBAC_POLICY, logger)),
    ensure(scheduling.PriorityClass, SYSTEM_PRIORITY_CLASSES),
    ensure(flowcontrol.PriorityLevelConfiguration, DEFAULT_PRIORITY_LEVELS, FLOW_CONTROL).then(() =>
      ensure(flowcontrol.FlowSchema, DEFAULT_FLOW_SCHEMAS, FLOW_CONTROL),
    ),
    ensure(
      apiregistration.APIService,
      builtInApiServices().map((service) => withAvailability(service, clock)),
    ),
  ]);
}

function withAvailability(service: object, clock: Clock): object {
  return { ...service, status: { conditions: [localAvailability(formatTime(clock.now()))] } };
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

/** Servers that share a store may trust different authorities: each adds its own. */
async function publishAuthorities(client: Client, authorities: readonly string[]): Promise<void> {
  const configMaps = client.of(core.ConfigMap);
  const wanted = extensionAuthentication(authorities);
  try {
    await configMaps.create(wanted);
  } catch (error) {
    if (!isStatusReason(error, 'AlreadyExists')) throw error;
    const current = await configMaps.get(wanted.metadata);
    const { data } = extensionAuthentication([...trustedAuthorities(current), ...authorities]);
    if (!deepEqual(data, current.data ?? {})) await configMaps.update({ ...current, ...(data && { data }) });
  }
}

/** The service by which pods reach this server, and where it leads. */
async function publishKubernetesService(
  { serviceCidrs, advertise, sharesStore }: SystemObjectsOptions,
  deps: SystemObjectsDeps,
): Promise<void> {
  const { address, port } = advertise;
  const clusterIP = kubernetesServiceIp(serviceCidrs[0]!);
  await ensureService(deps, kubernetesService({ clusterIP, port: 443, targetPort: port }) as Draft<core.Service & Identified>);
  if (!sharesStore) await publishServers(deps.client, { addresses: [address], port });
}

/** How often, and how long apart, the service is looked for that another server is about to write. */
const ATTEMPTS = 50;
const PAUSE_MS = 100;

/**
 * Asks first: creating it again would find its address taken, by itself. A server that starts at the same moment takes the address before it
 * writes the service: then it is waited for.
 */
async function ensureService({ client, clock }: SystemObjectsDeps, service: Draft<core.Service & Identified>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    if (await hasService(client, service)) return;
    try {
      return await createIfMissing(client.of(core.Service), service);
    } catch (error) {
      if (attempt === ATTEMPTS || !isStatusReason(error, 'Invalid')) throw error;
    }
    await clock.sleep(PAUSE_MS);
  }
}

async function hasService(client: Client, service: Draft<core.Service & Identified>): Promise<boolean> {
  const { name, namespace } = service.metadata as { name: string; namespace: string };
  try {
    await client.of(core.Service).get({ name, namespace });
    return true;
  } catch (error) {
    if (!isStatusReason(error, 'NotFound')) throw error;
    return false;
  }
}
