import { type core, resource } from '#api';
import { AsyncMutex } from '#base';
import type { Client } from '#client';
import type { ContainerAdditions, ContainerContext, PodContext, PodHook } from '../pods/hooks/pod-hook.ts';
import type { StateFile } from '../resources/state-file.ts';
import type { DeviceHealth } from './device-health.ts';
import type { DraPlugins } from './dra-plugins.ts';
import type { PreparedDevice } from './messages.ts';
import { driversOf, isReservedFor, type PodClaim, podClaims } from './pod-claims.ts';

/** A resource claim that is prepared on this node, or being prepared. */
export interface ClaimState {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly podUids: readonly string[];
  /** By driver; empty until it has responded. */
  readonly drivers: Readonly<Record<string, readonly PreparedDevice[]>>;
  readonly isPrepared: boolean;
}

export interface DraState {
  readonly claims: readonly ClaimState[];
}

export interface DraManagerDeps {
  readonly client: Pick<Client, 'of'>;
  readonly plugins: DraPlugins;
  readonly file: StateFile<DraState>;
}

/** Prepares the resource claims of pods before they start, and unprepares them when the last pod has ended. */
export class DraManager implements PodHook {
  readonly name = 'dynamic-resources';
  /** By `NAMESPACE/NAME`. */
  readonly #claims = new Map<string, ClaimState>();
  /** Serializes preparation and release of claims that pods share. */
  readonly #lock = new AsyncMutex();

  constructor(private readonly deps: DraManagerDeps) {}

  /** Restores the claims that an earlier kubelet prepared. */
  async open(): Promise<void> {
    for (const claim of (await this.deps.file.read())?.claims ?? []) this.#claims.set(keyOf(claim), claim);
  }

  async prepare({ pod, uid, events }: PodContext): Promise<void> {
    if ((pod.spec?.resourceClaims ?? []).length === 0 || this.#isReady(pod, uid)) return;
    using _turn = await this.#lock.acquire();
    try {
      await this.#prepareAll(pod, uid);
    } catch (error) {
      const message = `prepare dynamic resources: ${(error as Error).message}`;
      events.warning(undefined, 'FailedPrepareDynamicResources', `Failed to prepare dynamic resources: ${message}`);
      throw new Error(message, { cause: error });
    }
  }

  /** The CDI devices of the claims and requests that the container references. */
  async preStart({ pod, container }: ContainerContext): Promise<ContainerAdditions | undefined> {
    const ids = this.devicesOf(pod, container).flatMap(({ cdiDeviceIds }) => cdiDeviceIds);
    return ids.length === 0 ? undefined : { cdiDevices: [...new Set(ids)] };
  }

  async postStop({ uid }: PodContext): Promise<void> {
    await this.#release((podUid) => podUid === uid);
  }

  async cleanUpOrphans(liveUids: ReadonlySet<string>): Promise<void> {
    await this.#release((podUid) => !liveUids.has(podUid));
  }

  /** The container's devices from its pod's claims. */
  devicesOf(
    pod: core.Pod,
    container: core.Container,
  ): readonly (PreparedDevice & { readonly claim: ClaimState; readonly driver: string })[] {
    const uses = container.resources?.claims ?? [];
    if (uses.length === 0) return [];
    return podClaims(pod).flatMap(({ podClaimName, claimName }) => {
      const own = uses.filter(({ name }) => name === podClaimName);
      const claim = this.#claims.get(`${pod.metadata.namespace}/${claimName}`);
      if (own.length === 0 || claim === undefined) return [];
      const devices = Object.entries(claim.drivers).flatMap(([driver, all]) => all.map((device) => ({ ...device, claim, driver })));
      return devices.filter(({ requestNames }) => own.some(({ request = '' }) => isOfRequest(requestNames, request)));
    });
  }

  /** The health of a container's devices, claim by claim as it names them. */
  healthOf(pod: core.Pod, container: core.Container, health: Pick<DeviceHealth, 'of'>): readonly core.ResourceStatus[] {
    return (container.resources?.claims ?? []).flatMap((use) => {
      const devices = this.devicesOf(pod, { ...container, resources: { claims: [use] } });
      const resources = devices.map(({ driver, poolName: pool, deviceName: device, cdiDeviceIds: [cdiDevice] }) => {
        const { health: state, message } = health.of({ driver, pool, device });
        return { resourceID: cdiDevice ?? `${driver}/${pool}/${device}`, health: state, ...(message && { message }) };
      });
      return resources.length === 0 ? [] : [{ name: `claim:${use.name}${use.request ? `/${use.request}` : ''}`, resources }];
    });
  }

  /** The pods that use devices of a driver. */
  podsOf(driver: string): readonly string[] {
    return [...this.#claims.values()].filter(({ drivers }) => Object.hasOwn(drivers, driver)).flatMap(({ podUids }) => podUids);
  }

  #isReady(pod: core.Pod, uid: string): boolean {
    try {
      return podClaims(pod).every(({ claimName }) => {
        const claim = this.#claims.get(`${pod.metadata.namespace}/${claimName}`);
        return claim?.isPrepared === true && claim.podUids.includes(uid);
      });
    } catch {
      return false;
    }
  }

  async #prepareAll(pod: core.Pod, uid: string): Promise<void> {
    const claims: ClaimState[] = [];
    for (const podClaim of podClaims(pod)) claims.push(await this.#claimFor(pod, podClaim));
    // All drivers must be registered before the first one is called.
    for (const { drivers } of claims) for (const driver of Object.keys(drivers)) this.deps.plugins.get(driver);
    for (const claim of claims) this.#set({ ...claim, podUids: [...new Set([...claim.podUids, uid])] });
    // Saved before the drivers are called, so that a crash is followed by an unprepare.
    await this.#save();
    await this.#callDrivers(claims.filter(({ isPrepared }) => !isPrepared));
    await this.#save();
  }

  async #claimFor(pod: core.Pod, { claimName }: PodClaim): Promise<ClaimState> {
    const { namespace = '', name, uid } = pod.metadata;
    const claim = await this.deps.client
      .of(resource.ResourceClaim)
      .get({ namespace, name: claimName })
      .catch((error: unknown) => {
        throw new Error(`fetch ResourceClaim ${claimName}: ${(error as Error).message}`, { cause: error });
      });
    const { uid: claimUid = '' } = claim.metadata;
    if (!isReservedFor(claim, pod)) throw new Error(`pod ${name} (${uid}) is not allowed to use ResourceClaim ${claimName} (${claimUid})`);
    const existing = this.#claims.get(`${namespace}/${claimName}`);
    if (existing !== undefined && existing.uid !== claimUid)
      throw new Error(
        `old ResourceClaim with same name ${claimName} and different UID ${existing.uid} still exists (previous pod force-deleted?!)`,
      );
    const drivers = Object.fromEntries(driversOf(claim).map((driver) => [driver, []]));
    return existing ?? { namespace, name: claimName, uid: claimUid, podUids: [], drivers, isPrepared: false };
  }

  async #callDrivers(claims: readonly ClaimState[]): Promise<void> {
    for (const [driver, own] of byDriver(claims)) {
      const results = await this.deps.plugins
        .get(driver)
        .prepare(own.map(({ namespace, uid, name }) => ({ namespace, uid, name })))
        .catch((error: unknown) => {
          throw new Error(`NodePrepareResources: ${(error as Error).message}`, { cause: error });
        });
      for (const claim of own) {
        const result = results.get(claim.uid);
        if (result === undefined) throw new Error('NodePrepareResources skipped 1 ResourceClaims');
        if (result.error !== '') throw new Error(`NodePrepareResources failed for ResourceClaim ${claim.name}: ${result.error}`);
        const current = this.#claims.get(keyOf(claim)) ?? claim;
        this.#set({ ...current, drivers: { ...current.drivers, [driver]: result.devices } });
      }
    }
    for (const claim of claims) this.#set({ ...(this.#claims.get(keyOf(claim)) ?? claim), isPrepared: true });
  }

  async #release(isOver: (podUid: string) => boolean): Promise<void> {
    if (![...this.#claims.values()].some(({ podUids }) => podUids.some(isOver))) return;
    using _turn = await this.#lock.acquire();
    for (const claim of this.#claims.values()) {
      const podUids = claim.podUids.filter((uid) => !isOver(uid));
      if (podUids.length === claim.podUids.length) continue;
      if (podUids.length > 0) this.#set({ ...claim, podUids });
      else await this.#unprepare(claim);
      await this.#save();
    }
  }

  async #unprepare(claim: ClaimState): Promise<void> {
    const { namespace, uid, name } = claim;
    for (const driver of Object.keys(claim.drivers)) {
      const fail = (text: string) => new Error(`unprepare dynamic resources: ${text}`);
      const results = await this.#unprepareBy(driver, { namespace, uid, name }).catch((error: unknown) => {
        throw fail(`NodeUnprepareResources: ${(error as Error).message}`);
      });
      const result = results.get(uid);
      if (result === undefined) throw fail('NodeUnprepareResources skipped 1 ResourceClaims');
      if (result.error !== '') throw fail(`NodeUnprepareResources failed for ResourceClaim ${name}: ${result.error}`);
    }
    this.#claims.delete(keyOf(claim));
  }

  async #unprepareBy(driver: string, claim: { readonly namespace: string; readonly uid: string; readonly name: string }) {
    return this.deps.plugins.get(driver).unprepare([claim]);
  }

  #set(claim: ClaimState): void {
    this.#claims.set(keyOf(claim), claim);
  }

  #save(): Promise<void> {
    return this.deps.file.write({ claims: [...this.#claims.values()] });
  }
}

function keyOf({ namespace, name }: Pick<ClaimState, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

function byDriver(claims: readonly ClaimState[]): ReadonlyMap<string, readonly ClaimState[]> {
  const groups = new Map<string, ClaimState[]>();
  for (const claim of claims) {
    for (const driver of Object.keys(claim.drivers)) groups.set(driver, [...(groups.get(driver) ?? []), claim]);
  }
  return groups;
}

/** Matches a request or its subrequests, named `REQUEST/SUBREQUEST`. No request: the whole claim. */
function isOfRequest(requestNames: readonly string[], request: string): boolean {
  return request === '' || requestNames.length === 0 || requestNames.some((name) => name === request || name.startsWith(`${request}/`));
}
